// Describes the audit of a run in words, for the shell and for the evidence files in Slack. Hidden characters in the texts of people and of
// the service are made visible. Reasons and ids are kept on one line, and each line of a longer text is marked, so that no text looks like
// an entry.

import { headWords } from "../domain/audit/hash-chain.ts";
import { oneLine } from "../domain/text/excerpt.ts";
import { visible } from "../domain/text/text.ts";
import type { UserId } from "../domain/ids.ts";
import { resultWords, VOTE_WAITS } from "./result-words.ts";
import { type AuditEntry, type KeptEntry, type Moments, READ_IN_FULL, type VoteFacts } from "./entry.ts";

/** Reasons and ids are shown in full up to this length. The entry itself contains them whole. */
const WORDS_CHARS = 4_000;
const DIGEST_CHARS = 12;

export function momentWords(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : "(no moment)";
}

/** The current names of people in Slack, by their ids. People choose their names, so only the ids identify them. */
export type Names = ReadonlyMap<string, string>;

const NO_NAMES: Names = new Map();
const NAME_CHARS = 60;

/** Returns the ids of all people that these entries name. */
export function peopleIn(entries: readonly KeptEntry[]): readonly UserId[] {
  const people = entries.flatMap(({ entry: { by, requester, other, votes = [] } }) => [
    by,
    requester,
    other,
    ...votes.map((vote) => vote.by),
  ]);
  return [...new Set(people.flatMap((each) => each?.user ?? []))];
}

/**
 * Returns one entry on one line and its moments, if there are any, on a second line. `showsKey`: other entries of the story are about another
 * record.
 */
export function entryStory(
  { seq, link, entry }: KeptEntry,
  names: Names = NO_NAMES,
  showsKey = false,
): string {
  const { at, by, other, approval, reason, digest, policy, refers, moments, votes = [], sentReason } = entry;
  const who = by === null ? "Countersign" : personWords(by, names);
  const parts = [
    `${headWords({ seq, link })} · ${momentWords(at)} · ${didWords(entry, who)}`,
    showsKey && entry.run !== null ? `key ${oneLine(entry.run, WORDS_CHARS)}` : null,
    other === undefined ? null : `${otherRole(entry)} ${personWords(other, names)}`,
    approval === null ? null : `approval ${oneLine(approval, WORDS_CHARS)}`,
    digest === null ? null : `${contentName(entry)} ${oneLine(digest, DIGEST_CHARS)}`,
    policy === null ? null : policyWords(policy),
    refers === undefined ? null : `about entry ${refers}`,
    reason === null || reason === "" ? null : `reason: ${oneLine(reason, WORDS_CHARS)}`,
    ...votes.map((vote) => voteWords(vote, names)),
    sentReason === undefined ? null : `sent to the service: ${oneLine(sentReason, WORDS_CHARS)}`,
  ];
  const line = parts.filter((part) => part !== null).join(" · ");
  const times = moments === undefined ? "" : timesWords(moments);
  return times === "" ? line : `${line}\n    ${times}`;
}

/** The role of the second person of an entry. */
const otherRole = ({ what }: TextlessEntry): string => (what === "claimed" ? "instead of" : "to");

/** Puts the id first, and the name in quotation marks. The name itself contains none: see `nameWords`. */
function personWords({ team, user }: NonNullable<AuditEntry["by"]>, names: Names): string {
  const name = nameWords(names.get(user));
  return name === null ? `${team}:${user}` : `${team}:${user} "${name}"`;
}

/** Returns the name in one short line without quotation marks, because people choose their names. */
export function nameWords(name: string | undefined): string | null {
  return name === undefined ? null : oneLine(name, NAME_CHARS).replaceAll('"', "'");
}

function voteWords({ by, reason, at }: VoteFacts, names: Names): string {
  const said =
    reason === null || reason === "" ? "without a reason" : `reason: ${oneLine(reason, WORDS_CHARS)}`;
  return `approved before by ${by === null ? "Countersign" : personWords(by, names)} at ${momentWords(at)}, ${said}`;
}

/** The kinds of entries that are not about a run, but matter for one. */
export const AROUND_A_RUN = ["policy-loaded", "redacted", "restored"] as const;

/** Names the kind of text that the digest of an entry covers. */
function contentName({ what, approval }: Pick<AuditEntry, "what" | "approval">): string {
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
    case "redacted":
      return "text";
    case "asked":
      return "question";
    case "answered":
      return "answer";
    default:
      return approval === null ? "task" : "request";
  }
}

type TextlessEntry = Omit<AuditEntry, "text">;

/** The kinds that say what became of a decision, which its person made only once. */
type OfDecision = "sent" | "settled";

/** Says what the person of an entry, or Countersign, did. */
const DID: Readonly<Record<Exclude<AuditEntry["what"], OfDecision>, (entry: TextlessEntry) => string>> = {
  opened: (entry) =>
    entry.outcome === READ_IN_FULL
      ? "read the request in full, as its rule requires"
      : `opened the form${verbOf(entry)}`,
  voted: () => "approved, as one of several people",
  decided: ({ verdict }) => (verdict === "approve" ? "approved" : "denied"),
  refused: (entry) =>
    `was refused at the ${entry.step ?? "attempt"}${verbOf(entry)}: ${shortened(entry.refusal ?? entry.outcome)}`,
  closed: ({ outcome }) => `closed it undecided: ${shortened(outcome)}`,
  reopened: ({ outcome }) => `opened it again, after it had closed: ${shortened(outcome)}`,
  reminded: ({ outcome, mentioned = [] }) => `sent a reminder: ${shortened(outcome)}${idsWords(mentioned)}`,
  escalated: ({ outcome, stageMs = 0, mentioned = [] }) =>
    `escalated the request after ${Math.round(stageMs / 1_000)} s: ${shortened(outcome)}${idsWords(mentioned)}`,
  coalesced: ({ times = 0, since = 0, outcome }) =>
    `saw ${times === 1 ? "1 event without an entry of its own" : `${times} events without an entry of their own`} since ${momentWords(since)}. Approvals closed undecided, opened again or had too few approvers, and one approval may count several times: ${shortened(outcome)}`,
  claimed: () => "looks at it",
  "claim-ended": () => "no longer looks at it",
  snoozed: ({ outcome }) => `wants no reminder: ${shortened(outcome)}`,
  "handed-over": () => "handed it over",
  asked: () => "asked the requester a question",
  answered: () => "answered a question",
  extended: ({ outcome }) => `extended the deadline: ${shortened(outcome)}`,
  disputed: () => 'says "This was not me"',
  "dispute-closed": () => "closed the dispute",
  stopped: () => "stopped the run: nothing it asks for is approved until the stop is lifted",
  "stop-lifted": () => "lifted the stop: its requests can be decided again",
  frozen: ({ channel }) =>
    `froze ${channel === null ? "everything" : "the channel"}: no run starts and no approval is sent`,
  "freeze-lifted": ({ channel }) =>
    `lifted the freeze ${channel === null ? "of everything" : "of the channel"}`,
  started: ({ savedTask }) =>
    savedTask === undefined ? "asked for the run" : `asked for the run, with the saved task "${savedTask}"`,
  "start-confirmed": () => "learned the id of the started run from the service",
  "start-unconfirmed": ({ runId, by, outcome }) =>
    by !== null
      ? `answered for the start that may have started a run: ${shortened(outcome)}`
      : runId === null
        ? "got no answer to the start: a run may have started"
        : "learned that the started run was already followed for another person",
  watched: () => "started watching the run",
  "task-told": () => "learned the task of the run from the service",
  unwatched: () => "stopped watching the run",
  "audit-read": ({ run, runId }) =>
    run === null && runId === null
      ? "received who decided in a week"
      : "asked for the audit of the run; it is about to be sent",
  "too-few-approvers": ({ outcome }) => `counted too few people who can approve it: ${shortened(outcome)}`,
  "week-ended": ({ outcome }) => `looked back at a week: ${shortened(outcome)}`,
  redacted: ({ outcome }) => `erased the text, ${shortened(outcome)}`,
  archived: ({ outcome }) => `moved the oldest entries into a file: ${shortened(outcome)}`,
  "program-started": ({ outcome }) => `started: ${shortened(outcome)}`,
  restored: ({ since = 0 }) =>
    `was restored from the back-up of ${momentWords(since)}: what was recorded after that is not in this audit`,
  "policy-loaded": ({ outcome }) => `put a policy into force: ${shortened(outcome)}`,
  "key-changed": ({ outcome }) => `hands over to another key: ${shortened(outcome)}`,
  "key-accepted": () => "signs with the new key",
  "tampering-found": ({ outcome }) =>
    `found that the database was changed outside Countersign: ${shortened(outcome)}`,
  "tampering-acknowledged": () => "acknowledged the findings; approvals are sent again",
};

const idsWords = (ids: readonly string[]): string =>
  ids.length === 0 ? ", no one by name" : `, ${oneLine(ids.join(", "), WORDS_CHARS)}`;

/** A newer version of this program may have written other kinds. */
function didWords(entry: TextlessEntry, who: string): string {
  const { what, outcome } = entry;
  if (what === "sent") return `${who}'s decision is about to be sent`;
  if (what === "settled" && outcome === VOTE_WAITS)
    return `${who}'s approval still counts, and others must approve`;
  if (what === "settled")
    return `${who}'s decision ${resultWords(outcome) ?? `has the result: ${shortened(outcome)}`}`;
  return `${who} ${Object.hasOwn(DID, what) ? DID[what](entry) : shortened(what)}`;
}

const shortened = (text: string): string => oneLine(text, WORDS_CHARS);

function verbOf({ verdict }: TextlessEntry): string {
  return verdict === null ? "" : verdict === "approve" ? " to approve" : " to deny";
}

function policyWords({ version, rule }: NonNullable<AuditEntry["policy"]>): string {
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
 * Resolves to all entries of a run, the policies that they name, the erasures of its texts, and each text once. `around`: the entries of
 * the kinds `AROUND_A_RUN`, oldest first.
 */
export async function runStory(
  entries: readonly KeptEntry[],
  textOf: (digest: string) => Promise<string | null>,
  around: readonly KeptEntry[],
  names: Names = NO_NAMES,
): Promise<string> {
  const named = [...policiesNamed(entries, around), ...entries];
  const shown = [...named, ...erasuresOf(named, around)].toSorted((a, b) => a.seq - b.seq);
  const isOfSeveral = new Set(entries.flatMap(({ entry }) => entry.run ?? [])).size > 1;
  const stories = shown.map((kept) => entryStory(kept, names, isOfSeveral));
  const lines = [...runHeading(entries, names), ...stories];
  const texts = new Map(
    named.flatMap(({ entry }) => [
      ...(entry.digest === null ? [] : [[entry.digest, contentName(entry)] as const]),
      ...(entry.context === undefined ? [] : [[entry.context, "the run's own fields"] as const]),
    ]),
  );
  for (const [digest, name] of texts) {
    const text = await textOf(digest);
    if (text !== null) lines.push("", `${name} ${digest}:`, quoted(text));
  }
  return lines.join("\n");
}

const quoted = (text: string): string =>
  visible(text)
    .split("\n")
    .map((line) => `    | ${line}`)
    .join("\n");

function erasuresOf(entries: readonly KeptEntry[], around: readonly KeptEntry[]): KeptEntry[] {
  const digests = new Set(entries.flatMap(({ entry }) => [entry.digest, entry.context ?? null]));
  return around.filter(({ entry }) => entry.what === "redacted" && digests.has(entry.digest));
}

/** Returns, for each policy version that the entries name, the entry that put it into force. */
function policiesNamed(entries: readonly KeptEntry[], around: readonly KeptEntry[]): KeptEntry[] {
  const firstUse = new Map<string, number>();
  for (const { seq, entry } of entries) {
    const version = entry.policy?.version;
    if (version !== undefined && !firstUse.has(version)) firstUse.set(version, seq);
  }
  return [...firstUse].flatMap(
    ([version, use]) =>
      around.findLast(
        ({ seq, entry }) =>
          entry.what === "policy-loaded" && seq < use && entry.digest?.startsWith(version) === true,
      ) ?? [],
  );
}

const NAMES_OF_NOW =
  "Names in quotation marks are what Slack calls people now. They are no part of the entries.";

/** Returns a line for each record of the run. A run that was watched again has another one, perhaps with another channel and requester. */
function runHeading(entries: readonly KeptEntry[], names: Names): string[] {
  const id = entries.find(({ entry }) => entry.runId !== null)?.entry.runId ?? null;
  const run = id === null ? "Run without a service id" : `Run ${oneLine(id, WORDS_CHARS)}`;
  const records = entries.flatMap(({ entry: { run: key, channel, requester } }) => {
    if (requester === null) return [];
    const place = `key ${oneLine(key ?? "(none)", WORDS_CHARS)} · channel ${channel ?? "(none)"}`;
    return `${run} · ${place} · requester ${personWords(requester, names)}`;
  });
  if (records.length === 0) return [];
  return [...new Set(records), ...(names.size === 0 ? [] : [NAMES_OF_NOW]), ""];
}
