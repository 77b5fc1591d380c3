// The audit of a run in words: for the shell, and for the evidence that is handed out in Slack. Everything that people or the
// service wrote is made visible and kept on its line.

import { headWords } from "../core/audit-chain.ts";
import { oneLine, visible } from "../core/text.ts";
import type { AuditEntry, KeptEntry, Moments, VoteFacts } from "./audit-entry.ts";

/** Reasons and ids are told in full up to this length; the entry itself has them whole. */
const WORDS_CHARS = 4_000;
const DIGEST_CHARS = 12;

export function momentWords(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : "(no moment)";
}

/** One entry on one line, and its moments on a second where there are any. */
export function entryStory({ seq, link, entry }: KeptEntry): string {
  const { at, by, approval, reason, digest, policy, refers, moments, votes = [], sentReason } = entry;
  const who = by === null ? "Countersign" : personWords(by);
  const parts = [
    `${headWords({ seq, link })} · ${momentWords(at)} · ${who} ${didWords(entry)}`,
    approval === null ? null : `approval ${oneLine(approval, WORDS_CHARS)}`,
    digest === null ? null : `${contentName(entry)} ${oneLine(digest, DIGEST_CHARS)}`,
    policy === null ? null : policyWords(policy),
    refers === undefined ? null : `about entry ${refers}`,
    reason === null || reason === "" ? null : `reason: ${oneLine(reason, WORDS_CHARS)}`,
    ...votes.map(voteWords),
    sentReason === undefined ? null : `sent to the service: ${oneLine(sentReason, WORDS_CHARS)}`,
  ];
  const line = parts.filter((part) => part !== null).join(" · ");
  const times = moments === undefined ? "" : timesWords(moments);
  return times === "" ? line : `${line}\n    ${times}`;
}

const personWords = ({ team, user }: NonNullable<AuditEntry["by"]>): string => `${team}:${user}`;

function voteWords({ by, reason, at }: VoteFacts): string {
  const said =
    reason === null || reason === "" ? "without a reason" : `reason: ${oneLine(reason, WORDS_CHARS)}`;
  return `approved before by ${by === null ? "Countersign" : personWords(by)} at ${momentWords(at)}, ${said}`;
}

/** What the digest of an entry was taken of. */
export function contentName({ what, approval }: Pick<AuditEntry, "what" | "approval">): string {
  switch (what) {
    case "started":
    case "watched":
    case "unwatched":
    case "task-told":
      return "task";
    case "program-started":
      return "configuration";
    case "policy-loaded":
      return "policy";
    default:
      return approval === null ? "task" : "request";
  }
}

function didWords({ what, outcome, verdict, refusal, step }: Omit<AuditEntry, "text">): string {
  const verb = verdict === null ? "" : verdict === "approve" ? " to approve" : " to deny";
  switch (what) {
    case "opened":
      return `opened the form${verb}`;
    case "voted":
      return "approved, as one of several";
    case "decided":
      return verdict === "approve" ? "approved" : "denied";
    case "refused":
      return `was refused at the ${step ?? "attempt"}${verb}: ${oneLine(refusal ?? outcome, WORDS_CHARS)}`;
    case "sent":
      return `decided; it is about to be sent`;
    case "settled":
      return `decided; what came of it: ${oneLine(outcome, WORDS_CHARS)}`;
    case "closed":
      return `closed it undecided: ${oneLine(outcome, WORDS_CHARS)}`;
    case "disputed":
      return "says «This was not me»";
    case "started":
      return "asked for the run";
    case "watched":
      return "had the run watched";
    case "task-told":
      return "learned the task of the run from the service";
    case "unwatched":
      return "let the run go";
    case "audit-read":
      return "was given the audit of the run";
    case "program-started":
      return `started: ${oneLine(outcome, WORDS_CHARS)}`;
    case "policy-loaded":
      return `put a policy into force: ${oneLine(outcome, WORDS_CHARS)}`;
    case "key-changed":
      return `signs with another key: ${oneLine(outcome, WORDS_CHARS)}`;
  }
  // Of a newer program.
  return oneLine(String(what), WORDS_CHARS);
}

export function policyWords({ version, rule }: NonNullable<AuditEntry["policy"]>): string {
  return `policy ${oneLine(version, WORDS_CHARS)}, rule ${oneLine(rule, WORDS_CHARS)}`;
}

const MOMENTS = ["asked", "shown", "clicked", "submitted", "sent", "confirmed"] as const;

function timesWords(moments: Moments): string {
  return MOMENTS.flatMap((name) => {
    const at = moments[name];
    return at === undefined ? [] : [`${name} ${momentWords(at)}`];
  }).join(" · ");
}

/**
 * All entries of a run, the policies that they name, and each text once. `loaded`: the entries that tell of a policy, oldest first.
 */
export async function runStory(
  entries: readonly KeptEntry[],
  textOf: (digest: string) => Promise<string | null>,
  loaded: readonly KeptEntry[],
): Promise<string> {
  const told = [...policiesNamed(entries, loaded), ...entries].toSorted((a, b) => a.seq - b.seq);
  const lines = [...runHeading(entries), ...told.map(entryStory)];
  const names = new Map(
    told.flatMap(({ entry }) => (entry.digest === null ? [] : [[entry.digest, contentName(entry)]])),
  );
  for (const [digest, name] of names) {
    const text = await textOf(digest);
    if (text !== null) lines.push("", `${name} ${digest}:`, visible(text));
  }
  return lines.join("\n");
}

/** For each version that the entries name, where it came into force before its first use. */
function policiesNamed(entries: readonly KeptEntry[], loaded: readonly KeptEntry[]): KeptEntry[] {
  const firstUse = new Map<string, number>();
  for (const { seq, entry } of entries) {
    const version = entry.policy?.version;
    if (version !== undefined && !firstUse.has(version)) firstUse.set(version, seq);
  }
  return [...firstUse].flatMap(
    ([version, use]) =>
      loaded.findLast(({ seq, entry }) => seq < use && entry.digest?.startsWith(version) === true) ?? [],
  );
}

/** What the entries have in common: the run, where it belongs and who asked for it. */
function runHeading(entries: readonly KeptEntry[]): string[] {
  const found = entries.find(({ entry }) => entry.requester !== null)?.entry;
  if (found === undefined) return [];
  const id = entries.find(({ entry }) => entry.runId !== null)?.entry.runId ?? null;
  const parts = [
    id === null ? "Run without an id of the service" : `Run ${oneLine(id, WORDS_CHARS)}`,
    `key ${oneLine(found.run ?? "(none)", WORDS_CHARS)}`,
    `channel ${found.channel ?? "(none)"}`,
    `asked for by ${found.requester === null ? "nobody" : personWords(found.requester)}`,
  ];
  return [parts.join(" · "), ""];
}
