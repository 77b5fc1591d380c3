// `npm run policy`: checks a policy, explains it, and explains which rule applies to a run.

import { answerHelp } from "../program-options.ts";
import { findingLine, lintPolicy, loadPolicy } from "../adapters/policy-file/policy-holder.ts";
import { policySchema } from "../adapters/policy-file/policy-shape.ts";
import { explainFaults, readProxies } from "../config.ts";
import { checkIds } from "./slack/slack-people.ts";

const USAGE = `Usage:
  npm run policy -- lint FILE     is the policy right? With SLACK_BOT_TOKEN set, Slack is asked about its ids too
  npm run policy -- explain FILE  the policy in sentences
  npm run policy -- explain RUN [FILE]
                                  which rule the run's approvals stand under, by POLICY_FILE or FILE
  npm run policy -- replay FILE [--since 30d]
                                  what the requests of the last days, as the audit has them, would need under FILE
  npm run policy -- schema        the JSON Schema of a policy file

Exit code 0: well. 1: something in the policy is probably a mistake, or the audit was tampered with. 2: it could not be done.`;

const [command, ...given] = process.argv.slice(2);
answerHelp(USAGE);
process.exitCode = await run();

/** What reads the database is loaded only by the commands that do. */
async function run(): Promise<number> {
  const [file, other] = given;
  const proxies = readProxies(process.env);
  if (!proxies.ok) {
    console.error(explainFaults(proxies.error));
    return 2;
  }
  if (command === "explain" && file !== undefined) {
    const { explain } = await import("./policy/explain.ts");
    const { well, lines } = await explain(file, other, process.env);
    for (const each of lines) (well ? console.log : console.error)(each);
    return well ? 0 : 2;
  }
  if (command === "replay") {
    const { replayPolicy } = await import("./policy/replay.ts");
    const { code, lines } = await replayPolicy(given, process.env, Date.now());
    for (const each of lines) (code === 0 ? console.log : console.error)(each);
    return code;
  }
  if (command === "lint" && file !== undefined) return lint(file);
  if (command === "schema") {
    console.log(JSON.stringify(policySchema(), null, 2));
    return 0;
  }
  console.error(USAGE);
  return 2;
}

/** 0: fine. 1: something is probably a mistake. 2: unusable. */
async function lint(file: string): Promise<number> {
  const loaded = await loadPolicy(file);
  if (!loaded.ok) {
    for (const each of loaded.error) console.log(findingLine(file, each));
    return 2;
  }
  const doubts = await lintPolicy(file);
  const ids = await checkIds(loaded.value, process.env);
  const lines = [...doubts.map((each) => findingLine(file, each)), ...ids.map((says) => `${file}: ${says}`)];
  for (const each of lines) console.log(each);
  const { version, rules } = loaded.value;
  if (lines.length === 0)
    console.log(`${file}: version ${version ?? ""}, rules: ${rules.length}. Nothing is wrong with it.`);
  return lines.length === 0 ? 0 : 1;
}
