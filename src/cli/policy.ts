// `npm run policy`: checks a policy, explains it, and explains which rule applies to a run.

import { explain } from "./policy/explain.ts";
import { findingLine, lintPolicy, loadPolicy } from "../adapters/policy-file/policy-holder.ts";
import { policySchema } from "../adapters/policy-file/policy-shape.ts";
import { idsNamedIn, type Policy, type Rule, groupsAndChannelsOf } from "../domain/policy/policy.ts";
import { type Environment, givenValue, readProxies } from "../config.ts";
import { PortError } from "../ports.ts";
import { createLog, slackLogger } from "../log.ts";
import { openSlack } from "../outbound.ts";
import { type Call, createClients } from "../adapters/slack/clients.ts";
import { slackChannel, slackGroup, slackMembers, slackUser } from "../adapters/slack/answers.ts";

const USAGE = `Usage:
  npm run policy -- lint FILE     is the policy right? With SLACK_BOT_TOKEN set, Slack is asked about its ids too
  npm run policy -- explain FILE  the policy in sentences
  npm run policy -- explain RUN [FILE]
                                  which rule the run's approvals stand under, by POLICY_FILE or FILE
  npm run policy -- schema        the JSON Schema of a policy file`;

/** A larger group is taken to have enough people. */
const ASKED_AT_MOST = 100;

const [command, ...given] = process.argv.slice(2);
process.exitCode = await run();

async function run(): Promise<number> {
  const [file, other] = given;
  if (command === "explain" && file !== undefined) {
    const { well, lines } = await explain(file, other, process.env);
    for (const each of lines) (well ? console.log : console.error)(each);
    return well ? 0 : 2;
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

// Does Slack know the people, user groups and channels that a policy names?

/** One line for each problem; none without a token. */
async function checkIds(policy: Policy, env: Environment): Promise<string[]> {
  const token = givenValue(env, "SLACK_BOT_TOKEN");
  if (token === null) return [];
  const log = createLog({ level: "silent", pretty: false });
  const proxies = readProxies(env);
  if (!proxies.ok) return proxies.error.map(({ variable, wrong }) => `${variable} ${wrong}`);
  const apiUrl = givenValue(env, "SLACK_API_URL");
  const { quick } = createClients(token, apiUrl, slackLogger(log), openSlack(proxies.value));
  const ids = [...new Set(idsNamedIn(policy))];
  const says = await Promise.all(ids.map((id) => doubt(quick, id)));
  const lacks = await Promise.all(policy.rules.map((rule) => lackOf(quick, rule)));
  return [...says, ...lacks].filter((each) => each !== null);
}

/** Null: enough people can satisfy the rule, or another line already says that Slack does not know an id. */
async function lackOf(call: Call, { name, approvers, needs }: Rule): Promise<string | null> {
  if (approvers === "anyone") return null;
  try {
    const sets = await Promise.all(groupsAndChannelsOf(approvers).map((set) => membersOf(call, set)));
    const people = [...new Set([...approvers.users, ...sets.flat()])];
    if (people.length > ASKED_AT_MOST) return null;
    const doubts = await Promise.all(people.map((user) => asked(call, user)));
    const able = doubts.filter((each) => each === null).length;
    return able >= needs ? null : `"${name}" can't be satisfied: it needs ${needs}, and ${able} can approve`;
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

async function membersOf(call: Call, set: string): Promise<readonly string[]> {
  return set.startsWith("S")
    ? slackGroup(await call("usergroups.users.list", { usergroup: set }))
    : slackMembers(await call("conversations.members", { channel: set, limit: 200 })).ids;
}

async function doubt(call: Call, id: string): Promise<string | null> {
  try {
    return await asked(call, id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return `Slack says of ${id}: ${error.code}`;
  }
}

async function asked(call: Call, id: string): Promise<string | null> {
  if (id.startsWith("S")) {
    await call("usergroups.users.list", { usergroup: id });
    return null;
  }
  if (/^[CG]/.test(id)) {
    slackChannel(await call("conversations.info", { channel: id }));
    return null;
  }
  const { deleted, isBot, isGuest } = slackUser(await call("users.info", { user: id }));
  if (deleted) return `${id} is deactivated and can't decide or start anything`;
  return isBot || isGuest ? `${id} is a ${isBot ? "bot" : "guest"} and can't decide or start anything` : null;
}
