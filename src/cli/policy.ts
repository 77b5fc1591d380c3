// `npm run policy`: checks a policy, explains it, explains which rule applies to a run, and replays past requests under it.

import { answerHelp, exitOnSignals, failOnLostOutput } from "../program-options.ts";
import { existsSync } from "node:fs";
import { findingLine, lintPolicy } from "../adapters/policy-file/policy-holder.ts";
import { policySchema } from "../adapters/policy-file/policy-shape.ts";
import { explainFaults, readProxies, readSlackAccess } from "../config.ts";
import { checkIds } from "./slack/slack-people.ts";

const USAGE = `Usage:
  npm run policy -- lint FILE...
      Checks each policy. With SLACK_BOT_TOKEN set, it also asks Slack about the ids in it.
  npm run policy -- explain FILE
      Prints the policy in sentences.
  npm run policy -- explain RUN [FILE]
      Says which rule applies to each approval of the run, under FILE or else POLICY_FILE.
  npm run policy -- replay FILE [--since 30d] [--public-key KEY] [--archive FILE]
      Says what the requests of the last days, as recorded in the audit, would have needed under FILE.
  npm run policy -- schema
      Prints the JSON Schema of a policy file.

Exit code 0: success. 1: something in the policy is probably a mistake, or the audit was tampered with. 2: the command could not be
carried out.`;

const [command, ...args] = process.argv.slice(2);
answerHelp(USAGE);
exitOnSignals();
failOnLostOutput();
process.exitCode = await run();

/** Only the commands that read the database load the code for it. */
async function run(): Promise<number> {
  const [file, policyFile] = args;
  const proxies = readProxies(process.env);
  if (!proxies.ok) {
    console.error(explainFaults(proxies.error));
    return 2;
  }
  const fault = commandLineFault();
  if (fault !== null) {
    console.error(`${fault}.\n\n${USAGE}`);
    return 2;
  }
  if (command === "explain" && file !== undefined) {
    const { explain } = await import("./policy/explain.ts");
    const { well, lines } = await explain(file, policyFile, process.env);
    for (const line of lines) (well ? console.log : console.error)(line);
    return well ? 0 : 2;
  }
  if (command === "replay") {
    const { replayPolicy } = await import("./policy/replay.ts");
    const { code, lines } = await replayPolicy(args, process.env, Date.now());
    for (const line of lines) (code === 0 ? console.log : console.error)(line);
    return code;
  }
  if (command === "lint") return lintAll(args);
  console.log(JSON.stringify(policySchema(), null, 2));
  return 0;
}

/** Returns what is wrong with the command line, or null. `replay` checks its own. */
function commandLineFault(): string | null {
  const [file] = args;
  switch (command) {
    case "lint":
      return file === undefined ? "lint needs a policy file" : null;
    case "explain":
      if (file === undefined) return "explain needs a policy file or the id of a run";
      if (args.length === 2 && existsSync(file)) return "explain takes the run first: explain RUN FILE";
      return args.length > 2 ? `explain does not take the argument "${args.slice(2).join(" ")}"` : null;
    case "schema":
      return file === undefined ? null : `schema does not take the argument "${args.join(" ")}"`;
    case "replay":
      return null;
    case undefined:
      return "No command given";
    default:
      return `There is no command "${command}". The commands are lint, explain, replay and schema`;
  }
}

/** Returns the code of the worst file. Without usable settings for Slack, everything but the ids is checked. */
async function lintAll(files: readonly string[]): Promise<number> {
  const slack = readSlackAccess(process.env);
  if (!slack.ok) console.error(`${explainFaults(slack.error)}\nSo Slack was not asked about the ids.`);
  let worst = slack.ok ? 0 : 2;
  for (const each of files) worst = Math.max(worst, await lint(each, slack.ok));
  return worst;
}

/** Returns 0 if the policy is fine, 1 if something in it is probably a mistake, and 2 if it cannot be used. */
async function lint(file: string, asksSlack: boolean): Promise<number> {
  const linted = await lintPolicy(file);
  if (!linted.ok) {
    for (const fault of linted.error) console.log(findingLine(file, fault));
    return 2;
  }
  const { policy, doubts } = linted.value;
  const ids = asksSlack ? await checkIds(policy, process.env) : [];
  const lines = [
    ...doubts.map((doubt) => findingLine(file, doubt)),
    ...ids.map((says) => `${file}: ${says}`),
  ];
  for (const line of lines) console.log(line);
  const { version, rules } = policy;
  if (lines.length === 0)
    console.log(`${file}: version ${version ?? ""}, rules: ${rules.length}. No problems found.`);
  return lines.length === 0 ? 0 : 1;
}
