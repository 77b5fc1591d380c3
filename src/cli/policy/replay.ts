// `npm run policy -- replay FILE`: says what past requests would have needed under another policy, in lines for the terminal.

import { parseArgs } from "node:util";
import { findingLine, loadPolicy } from "../../adapters/policy-file/policy-holder.ts";
import { readPolicy } from "../../adapters/policy-file/read-policy.ts";
import { gatherRequests, type PastPolicy, type PastRequest } from "../../audit/past-requests.ts";
import { differenceOf, replay, type Replayed, type WhyNotJudged } from "../../audit/policy-replay.ts";
import { explainFaults, readAuditConfig } from "../../config.ts";
import { BUILT_IN, type Policy } from "../../domain/policy/policy.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import {
  type AuditFile,
  auditVerdict,
  openAuditFile,
  publicKeysFor,
  verdictWords,
} from "../audit/inspect.ts";
import { entryOf } from "../../adapters/store/audit-file.ts";
import { withArchives } from "../audit/archive.ts";
import { dayOf } from "../audit/command-line.ts";
import type { Explained } from "./explain.ts";
import { slackPeople } from "../slack/slack-people.ts";

type Environment = { readonly [name: string]: string | undefined };
/** The exit code is 0 for success, 1 if the audit was tampered with, and 2 if the replay failed. */
type Answer = Omit<Explained, "well"> & { readonly code: 0 | 1 | 2 };

/** `now` is wall time. */
export async function replayPolicy(args: readonly string[], env: Environment, now: number): Promise<Answer> {
  const options = readCommandLine(args, now);
  if (typeof options === "string") return failure(options);
  const loaded = await loadPolicy(options.file);
  if (!loaded.ok) return failure(...loaded.error.map((fault) => findingLine(options.file, fault)));
  const config = readAuditConfig(env);
  if (!config.ok) return failure(explainFaults(config.error));
  try {
    const keys = publicKeysFor(config.value, options.publicKeys);
    return await withVerifiedAudit(
      config.value.database,
      keys,
      (audit) => replayRequests(audit, loaded.value, options, env),
      options,
    );
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

async function withVerifiedAudit(
  database: string,
  keys: readonly string[],
  lines: (audit: AuditFile) => Promise<readonly string[]>,
  { archives }: Options,
): Promise<Answer> {
  const stored = await openAuditFile(database);
  let { close } = stored;
  try {
    const audit = await withArchives(stored, archives, keys);
    ({ close } = audit);
    const verdict = await auditVerdict(audit, keys, []);
    if (!verdict.ok) return { code: 1, lines: [verdictWords(verdict, 0), "Nothing was replayed."] };
    return { code: 0, lines: await lines(audit) };
  } finally {
    await close();
  }
}

const failure = (...lines: readonly string[]): Answer => ({ code: 2, lines });

type Options = {
  readonly file: string;
  readonly from: number;
  readonly publicKeys: readonly string[];
  /** Archive files of the audit. */
  readonly archives: readonly string[];
};

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

function readCommandLine(args: readonly string[], now: number): Options | string {
  try {
    const options = {
      since: { type: "string" },
      "public-key": { type: "string", multiple: true },
      archive: { type: "string", multiple: true },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) return "replay needs the name of one policy file.";
    const { since = "30d" } = values;
    const [, count, unit = ""] = /^(\d{1,5})([dh])$/.exec(since) ?? [];
    const from = count === undefined ? dayOf(since) : now - Number(count) * (UNITS[unit] ?? 0);
    if (from === null)
      return "--since must be days (30d), hours (12h), a day (2026-11-30) or a moment (2026-11-30T12:00:00Z).";
    return { file, from, publicKeys: values["public-key"] ?? [], archives: values.archive ?? [] };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function replayRequests(
  audit: AuditFile,
  policy: Policy,
  { from, file }: Options,
  env: Environment,
): Promise<readonly string[]> {
  const gathered = gatherRequests(from);
  for await (const row of audit.rows()) gathered.add(entryOf(row));
  const people = await slackPeople(env);
  const tools = { textOf: audit.textOf, policyOf: policiesIn(audit), people };
  const results: Replayed[] = [];
  for (const request of gathered.all()) results.push(await replay(request, policy, tools));
  const since = new Date(from).toISOString();
  return [
    `Policy version ${policy.version ?? ""} (${file}), replayed over the requests in the audit since ${since}.`,
    ...summaryLines(results),
    ...doubtLines(results, gathered.counted(), people.isKnown),
    ...archivedLines((await audit.base()).seq),
    ...runLines(results),
  ];
}

/** Reads each policy once. */
function policiesIn(audit: AuditFile): (past: PastPolicy) => Promise<Policy | null> {
  const known = new Map<string, Policy | null>();
  return async (past) => {
    if (past === null || past === "built-in") return past === null ? null : BUILT_IN;
    const found = known.get(past.digest);
    if (found !== undefined) return found;
    const text = await audit.textOf(past.digest);
    const read = text === null ? null : readPolicy(text, past.digest.slice(0, 12));
    const policy = read?.ok === true ? read.value : null;
    known.set(past.digest, policy);
    return policy;
  };
}

type Judged = Extract<Replayed, { judged: true }>;

const isJudged = (replayed: Replayed): replayed is Judged => replayed.judged;

function summaryLines(results: readonly Replayed[]): string[] {
  const judged = results.filter(isJudged);
  const count = (test: (request: Judged) => boolean): number => judged.filter(test).length;
  const approved = judged.filter(({ request }) => request.sent?.verdict === "approve");
  const short = approved.filter(({ lacks }) => lacks.length > 0);
  const needsMore = ({ before, after }: Judged): boolean => before !== null && after.needs > before.needs;
  const otherRule = count((request) => differenceOf(request).otherRule);
  const tooFew = count(({ approvable }) => approvable === "too-few");
  const stricter = count((request) => differenceOf(request).stricter.length > 0);
  const laxer = count((request) => differenceOf(request).laxer.length > 0);
  return [
    `Of ${requests(judged.length)}, ${otherRule} would fall under another rule; ` +
      `${count(needsMore)} would need more people, ${tooFew} would have too few approvers.`,
    `${stricter} would be harder to approve, ${laxer} easier.`,
    `Of ${requests(approved.length)} that ${approved.length === 1 ? "was" : "were"} approved and sent, ${short.length} would not have had enough valid approvals under this policy.`,
  ];
}

const requests = (count: number): string => (count === 1 ? "1 request" : `${count} requests`);

const NOT_JUDGED: Readonly<Record<WhyNotJudged, string>> = {
  "no-text": "the audit does not have their text (erased, or only counted)",
  "no-task": "the task of their run is erased, and the policy depends on it",
  "no-group":
    "Slack did not say whether their requester is in a group that a rule names (it is asked only with SLACK_BOT_TOKEN)",
  volatile: "the policy depends on a field that was volatile, so the audit does not have it",
};

/** Returns what the replay cannot know. */
function doubtLines(results: readonly Replayed[], counted: number, withSlack: boolean): string[] {
  const judged = results.filter(isJudged);
  const unjudged = Object.entries(NOT_JUDGED).map(([why, says]) => {
    const found = results.filter((replayed) => !replayed.judged && replayed.why === why).length;
    return [found, `${requests(found)}: not judged, because ${says}.`] as const;
  });
  const unknown = judged.filter(({ approvable, isSure }) => approvable === "unknown" || !isSure).length;
  const cause = withSlack ? "Slack did not say" : "without SLACK_BOT_TOKEN it is unknown";
  const noRule = judged.filter(({ before }) => before === null).length;
  const all: readonly (readonly [number, string])[] = [
    ...unjudged,
    [unknown, `${requests(unknown)}: ${cause} who is in the groups and channels of their rule.`],
    [
      noRule,
      `${requests(noRule)}: the policy of that time, or a fact that it depends on, is unknown, so at most the names of the rules were compared.`,
    ],
    [
      counted,
      `${counted === 1 ? "1 event has no entry of its" : `${counted} events have no entry of their`} own: approvals closed undecided, opened again or had too few approvers, and one may count several times.`,
    ],
  ];
  const lines = all.flatMap(([found, says]) => (found > 0 ? [says] : []));
  return [
    ...lines,
    "Group members are those of today. People of a stage count if the request reached its time back then. Typed words, opened windows and who saw the channel are not judged.",
    "A request that is still waiting may have no audit entry yet. To check one, use explain RUN.",
  ];
}

const archivedLines = (last: number): string[] =>
  last === 0
    ? []
    : [`Entries 1 to ${last} of the audit are archived. To replay them too, add --archive FILE.`];

/** Returns the requests that differ, by run. */
function runLines(results: readonly Replayed[]): string[] {
  const changed = results.flatMap((replayed) => {
    const says = changeOf(replayed);
    return says === null ? [] : [{ request: replayed.request, says }];
  });
  const runs = Map.groupBy(changed, ({ request }) => request.run);
  return [...runs.values()].flatMap((changes) => {
    const [first] = changes;
    if (first === undefined) return [];
    return ["", runName(first.request), ...changes.map(({ says }) => `  ${says}`)];
  });
}

const runName = ({ run, runId, channel, requester }: PastRequest): string =>
  `${runId === null ? run : oneLine(runId, 120)} in ${channel}, requested by ${requester}`;

/** Returns null if nothing differs. */
function changeOf(replayed: Replayed): string | null {
  const id = oneLine(replayed.request.approval, 120);
  if (!replayed.judged) return `${id}: not judged`;
  const { before, after, action, approvable, lacks } = replayed;
  const { otherRule, stricter, laxer } = differenceOf(replayed);
  const changes = [
    otherRule ? `${replayed.request.rule ?? before?.name ?? ""} → ${after.name}` : after.name,
    ...(stricter.length === 0 ? [] : [`harder: ${stricter.join(", ")}`]),
    ...(laxer.length === 0 ? [] : [`easier: ${laxer.join(", ")}`]),
    ...(before !== null && before.needs !== after.needs ? [`${before.needs} → ${after.needs} people`] : []),
    ...(approvable === "too-few" ? ["too few people could approve it"] : []),
    ...(lacks.length === 0 ? [] : [`its approval would not be enough: ${lacks.join(", ")}`]),
  ];
  if (!otherRule && changes.length === 1) return null;
  return `${id} (${oneLine(action ?? "no action", 80)}): ${changes.join("; ")}`;
}
