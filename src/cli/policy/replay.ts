// `npm run policy -- replay FILE`: what the requests of the last days would have needed under another policy. Lines for the terminal.

import { parseArgs } from "node:util";
import { actionIn } from "../../adapters/agents/pending-approvals.ts";
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
/** 0: done. 1: the audit was tampered with. 2: it could not be done. */
type Answer = Omit<Explained, "well"> & { readonly code: 0 | 1 | 2 };

/** `now`: wall time. */
export async function replayPolicy(args: readonly string[], env: Environment, now: number): Promise<Answer> {
  const asked = readAsked(args, now);
  if (typeof asked === "string") return no(asked);
  const loaded = await loadPolicy(asked.file);
  if (!loaded.ok) return no(...loaded.error.map((each) => findingLine(asked.file, each)));
  const config = readAuditConfig(env);
  if (!config.ok) return no(explainFaults(config.error));
  try {
    const keys = publicKeysFor(config.value, asked.publicKeys);
    return await readOut(
      config.value.database,
      keys,
      (audit) => replayed(audit, loaded.value, asked, env),
      asked,
    );
  } catch (error) {
    return no(error instanceof Error ? error.message : String(error));
  }
}

async function readOut(
  database: string,
  keys: readonly string[],
  lines: (audit: AuditFile) => Promise<readonly string[]>,
  { archives }: Asked,
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

const no = (...lines: readonly string[]): Answer => ({ code: 2, lines });

type Asked = {
  readonly file: string;
  readonly from: number;
  readonly publicKeys: readonly string[];
  /** Files of the audit's archive. */
  readonly archives: readonly string[];
};

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000 };

function readAsked(args: readonly string[], now: number): Asked | string {
  try {
    const options = {
      since: { type: "string" },
      "public-key": { type: "string", multiple: true },
      archive: { type: "string", multiple: true },
    } as const;
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) return "replay takes one policy file";
    const { since = "30d" } = values;
    const [, count, unit = ""] = /^(\d{1,5})([dh])$/.exec(since) ?? [];
    const from = count === undefined ? dayOf(since) : now - Number(count) * (UNITS[unit] ?? 0);
    if (from === null) return "--since takes days (30d), hours (12h), a day (2026-11-30) or a moment";
    return { file, from, publicKeys: values["public-key"] ?? [], archives: values.archive ?? [] };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

async function replayed(
  audit: AuditFile,
  policy: Policy,
  { from, file }: Asked,
  env: Environment,
): Promise<readonly string[]> {
  const gathered = gatherRequests(from);
  for await (const row of audit.rows()) gathered.add(entryOf(row));
  const people = await slackPeople(env);
  const tools = { textOf: audit.textOf, policyOf: policiesIn(audit), actionIn, people };
  const results: Replayed[] = [];
  for (const request of gathered.all()) results.push(await replay(request, policy, tools));
  const since = new Date(from).toISOString();
  return [
    `Policy ${policy.version ?? ""} (${file}), replayed over the requests that the audit names since ${since}.`,
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

const isJudged = (each: Replayed): each is Judged => each.judged;

function summaryLines(results: readonly Replayed[]): string[] {
  const judged = results.filter(isJudged);
  const count = (is: (each: Judged) => boolean): number => judged.filter(is).length;
  const approved = judged.filter(({ request }) => request.sent?.verdict === "approve");
  const short = approved.filter(({ lacks }) => lacks.length > 0);
  const more = ({ before, after }: Judged): boolean => before !== null && after.needs > before.needs;
  const laxer = (each: Judged): boolean => differenceOf(each).laxer.length > 0;
  return [
    `Of ${requests(judged.length)}, ${count((each) => differenceOf(each).otherRule)} stand under another rule; ` +
      `${count(more)} would want more people, ${count(({ approvable }) => approvable === "too-few")} would have too few approvers.`,
    `${count((each) => differenceOf(each).stricter.length > 0)} would be harder to approve, ${count(laxer)} easier.`,
    `Of ${approved.length} that were approved and sent, ${short.length} had not enough for this policy.`,
  ];
}

const requests = (count: number): string => (count === 1 ? "1 request" : `${count} requests`);

const NOT_JUDGED: Readonly<Record<WhyNotJudged, string>> = {
  "no-text": "the audit does not have their text (erased, or only counted)",
  "no-task": "the task of their run is erased, and the policy asks for it",
  volatile: "the policy asks for a field that was volatile, so the audit does not have it",
};

/** What the replay cannot know. */
function doubtLines(results: readonly Replayed[], counted: number, withSlack: boolean): string[] {
  const judged = results.filter(isJudged);
  const unjudged = Object.entries(NOT_JUDGED).map(([why, says]) => {
    const found = results.filter((each) => !each.judged && each.why === why).length;
    return [found, `${requests(found)}: not judged, because ${says}.`] as const;
  });
  const unknown = judged.filter(({ approvable, isSure }) => approvable === "unknown" || !isSure).length;
  const ask = withSlack ? "Slack did not say" : "without SLACK_BOT_TOKEN it is unknown";
  const noRule = judged.filter(({ before }) => before === null).length;
  const all: readonly (readonly [number, string])[] = [
    ...unjudged,
    [unknown, `${requests(unknown)}: ${ask} who is in the groups and channels of their rule.`],
    [noRule, `${requests(noRule)}: the policy of that time is not in the audit, so nothing is compared.`],
    [
      counted,
      `${counted} further approvals closed undecided or had too few approvers; the audit has only their number.`,
    ],
  ];
  const lines = all.flatMap(([found, says]) => (found > 0 ? [says] : []));
  return [
    ...lines,
    "Groups are taken as they are today. Typed words, opened windows and who saw the channel are not judged.",
    "Requests that wait untouched have no entry yet: explain RUN judges those.",
  ];
}

const archivedLines = (last: number): string[] =>
  last === 0
    ? []
    : [`Entries 1 to ${last} of the audit are archived. With --archive FILE they are replayed, too.`];

/** The requests that differ, by run. */
function runLines(results: readonly Replayed[]): string[] {
  const changed = results.flatMap((each) => {
    const says = changeOf(each);
    return says === null ? [] : [{ request: each.request, says }];
  });
  const runs = Map.groupBy(changed, ({ request }) => request.run);
  return [...runs.values()].flatMap((each) => {
    const [first] = each;
    if (first === undefined) return [];
    return ["", runName(first.request), ...each.map(({ says }) => `  ${says}`)];
  });
}

const runName = ({ run, runId, channel, requester }: PastRequest): string =>
  `${runId === null ? run : oneLine(runId, 120)} in ${channel}, asked for by ${requester}`;

/** Null: nothing about it differs. */
function changeOf(each: Replayed): string | null {
  const id = oneLine(each.request.approval, 120);
  if (!each.judged) return `${id}: not judged`;
  const { before, after, action, approvable, lacks } = each;
  const { otherRule, stricter, laxer } = differenceOf(each);
  const ways = [
    otherRule ? `${each.request.rule ?? before?.name ?? ""} → ${after.name}` : after.name,
    ...(stricter.length === 0 ? [] : [`harder: ${stricter.join(", ")}`]),
    ...(laxer.length === 0 ? [] : [`easier: ${laxer.join(", ")}`]),
    ...(before !== null && before.needs !== after.needs ? [`${before.needs} → ${after.needs} people`] : []),
    ...(approvable === "too-few" ? ["too few people could approve it"] : []),
    ...(lacks.length === 0 ? [] : [`its approval would not be enough: ${lacks.join(", ")}`]),
  ];
  if (!otherRule && ways.length === 1) return null;
  return `${id} (${oneLine(action ?? "no action", 80)}): ${ways.join("; ")}`;
}
