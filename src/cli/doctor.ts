// `npm run doctor`: is this set-up right? Prints one line for each requirement, and what to do where it is not met.

import { type Config, explainFaults, readConfig } from "../config.ts";
import { createLog } from "../log.ts";
import {
  checkDatabase,
  checkGateway,
  checkService,
  checkSlack,
  type Finding,
  good,
} from "./doctor/checks.ts";

/** The exit code of `npm start` for a faulty configuration. */
const BAD_CONFIG = 2;
const COLUMN = 22;

const read = readConfig(process.env);
if (read.ok) {
  const findings = await examine(read.value);
  for (const finding of findings) console.log(line(finding));
  const wrong = findings.filter(({ ok }) => !ok).length;
  console.log(wrong === 0 ? "\nAll is well: npm start." : `\n${wrong} of ${findings.length} are wrong.`);
  process.exitCode = wrong === 0 ? 0 : 1;
} else {
  console.log(explainFaults(read.error));
  process.exitCode = BAD_CONFIG;
}

async function examine(config: Config): Promise<Finding[]> {
  // The findings say everything; the logs of the packages below would only distract.
  const log = createLog({ level: "silent", pretty: false });
  const findings = await Promise.all([
    checkSlack(config, log),
    checkDatabase(config),
    checkService(config),
    checkGateway(config),
  ]);
  return [good("Configuration", "can be read"), ...findings.flat()];
}

function line({ what, ok, says, todo }: Finding): string {
  const seen = `${ok ? "ok   " : "WRONG"}  ${what.padEnd(COLUMN)} ${says}`;
  return todo === "" ? seen : `${seen}\n       ${" ".repeat(COLUMN)} → ${todo}`;
}
