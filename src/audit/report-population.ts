// The sections of the control report about the approvals of a period, and about their outcomes.

import { CLOSED_CAUSES } from "../domain/approval.ts";
import { type FinalOutcome, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { KeptEntry } from "./entry.ts";

/** The newest entry of each approval. */
export function newestOfEach(all: readonly KeptEntry[]): KeptEntry[] {
  const about = ofKind(all, "opened", "voted", "decided", "sent", "settled", "closed", "reopened");
  const newest = new Map<string, KeptEntry>();
  for (const kept of about) {
    const key = JSON.stringify([kept.entry.run, kept.entry.approval]);
    if (!isOvertaken(kept, newest.get(key))) newest.set(key, kept);
  }
  return [...newest.values()];
}

/** A form counts from the moment of its click. Its entry is written after Slack's look-ups, and others may have decided in between. */
const isOvertaken = ({ entry }: KeptEntry, before: KeptEntry | undefined): boolean =>
  entry.what === "opened" && before !== undefined && before.entry.at >= entry.at;

export function population(all: readonly KeptEntry[], archived: number): ReportSection {
  const asked = newestOfEach(all);
  const coalesced = ofKind(all, "coalesced");
  const edge = [all.at(0), all.at(-1)].flatMap((each) => (each === undefined ? [] : [each.seq]));
  const [first = 0, last = first] = edge;
  return {
    title: "Population",
    rows: [
      {
        measure: "Entries",
        value: String(all.length),
        counted:
          all.length === 0
            ? "none in the period"
            : `all entries whose moment lies in the period, ${first} to ${last}`,
        entries: [],
      },
      countRow(
        "Approvals",
        asked,
        "approvals that were opened, voted on, decided, sent, settled, closed or reopened in the period, each once, by its newest entry. One that waits untouched has none, and one whose end is only counted may have none, or only an older one",
      ),
      {
        measure: "Events without an entry of their own",
        value: String(onlyCounted(all)),
        counted:
          "an approval closed undecided, opened again, or had too few people who could approve it, beyond the limit for entries that no person caused; one approval may count several times",
        entries: numbersOf(coalesced),
      },
      countRow("Runs asked for", ofKind(all, "started"), "started: a person asked for a run"),
      ...(archived === 0 ? [] : [notRead(archived)]),
      countRow("Runs watched", ofKind(all, "watched"), "watched: a run that was started elsewhere"),
    ],
  };
}

/** Returns the number of events without an entry of their own. */
export const onlyCounted = (all: readonly KeptEntry[]): number =>
  ofKind(all, "coalesced").reduce((sum, { entry }) => sum + (entry.times ?? 0), 0);

const notRead = (archived: number): ReportRow => ({
  measure: "Archived entries, not counted",
  value: String(archived),
  counted: `entries 1 to ${archived} are archived; give --archive FILE if some lie in the period`,
  entries: [],
});

export const PERSON = "by a person";

/**
 * If a decision never left, the approval closes with the entry that voids the decision, and has no further one. A decision that is void for
 * another cause opens the approval again.
 */
function isClosed({ entry: { what, outcome } }: KeptEntry): boolean {
  if (what === "closed") return true;
  return what === "settled" && Object.keys(CLOSED_CAUSES).some((cause) => outcome === voidOutcome(cause));
}

export function outcomes(all: readonly KeptEntry[]): ReportSection {
  const asked = newestOfEach(all);
  const settled = (outcome: FinalOutcome): KeptEntry[] =>
    ofKind(asked, "settled").filter(({ entry }) => entry.outcome === outcome);
  const [elsewhere, unknown, closed] = [settled("elsewhere"), settled("unconfirmed"), asked.filter(isClosed)];
  const ended = new Set([...settled("confirmed"), ...elsewhere, ...unknown, ...closed]);
  const byPeople = settled("confirmed").filter(({ entry }) => entry.by !== null);
  const alone = settled("confirmed").filter(({ entry }) => entry.by === null);
  const approved = byPeople.filter(({ entry }) => entry.verdict === "approve");
  const denied = byPeople.filter(({ entry }) => entry.verdict === "deny");
  const open = asked.filter((each) => !ended.has(each));
  return {
    title: "What became of the approvals",
    rows: [
      countRow("Approved", approved, `the service confirmed an approval ${PERSON}`),
      countRow("Denied", denied, `the service confirmed a denial ${PERSON}`),
      countRow("Denied by the policy or a stop", alone, "the service confirmed a denial that no person gave"),
      shareRow(approved, denied),
      countRow(
        "Ended elsewhere",
        elsewhere,
        "at the service, the request had been decided or had ended before",
      ),
      countRow("Result unknown", unknown, "the decision was sent, and the service never confirmed it"),
      countRow(
        "Closed undecided",
        closed,
        "withdrawn, unreadable, expired or changed in the database, or their run ended or is no longer watched, before a decision took effect",
      ),
      countRow(
        "Open at the end of the period",
        open,
        "waiting, being sent, refused by the service, or opened again",
      ),
    ],
  };
}

function shareRow(approved: readonly KeptEntry[], denied: readonly KeptEntry[]): ReportRow {
  const all = approved.length + denied.length;
  const value = all === 0 ? "none" : `${((100 * approved.length) / all).toFixed(1)}%`;
  const counted = `approved / (approved + denied), confirmed and ${PERSON}: ${approved.length} / ${all}`;
  return { measure: "Share approved", value, counted, entries: [] };
}

// The rows of the control report, and how they are counted.

export type ReportRow = {
  readonly measure: string;
  readonly value: string;
  /** A description of what was counted. */
  readonly counted: string;
  /** The numbers of the entries behind the value, lowest first. */
  readonly entries: readonly number[];
};

export type ReportSection = { readonly title: string; readonly rows: readonly ReportRow[] };

const numbersOf = (entries: readonly KeptEntry[]): number[] => entries.map(({ seq }) => seq);

export function countRow(measure: string, entries: readonly KeptEntry[], counted: string): ReportRow {
  return { measure, value: String(entries.length), counted, entries: numbersOf(entries) };
}

export const ofKind = (all: readonly KeptEntry[], ...kinds: readonly string[]): KeptEntry[] =>
  all.filter(({ entry }) => kinds.includes(entry.what));

type Ends = readonly [begin: number | undefined, end: number | undefined];

export function spread(
  name: string,
  entries: readonly KeptEntry[],
  ends: (entry: KeptEntry["entry"]) => Ends,
  what: string,
): ReportRow[] {
  const known = entries.flatMap((kept) => {
    const [begin, end] = ends(kept.entry);
    return begin === undefined || end === undefined ? [] : [{ kept, ms: end - begin }];
  });
  const sorted = known.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const without = entries.length - known.length;
  const counted = `${what}; ${known.length} entries${without === 0 ? "" : `, ${without} without these moments left out`}`;
  const numbers = known.map(({ kept }) => kept.seq);
  return [
    { measure: `${name}, median`, value: secondsWords(quantile(sorted, 0.5)), counted, entries: numbers },
    { measure: `${name}, 90th percentile`, value: secondsWords(quantile(sorted, 0.9)), counted, entries: [] },
  ];
}

/** Returns the smallest value that is not below this part of the values (nearest rank). `sorted`: lowest first. */
export function quantile(sorted: readonly number[], part: number): number | null {
  return sorted[Math.max(Math.ceil(part * sorted.length) - 1, 0)] ?? null;
}

const secondsWords = (ms: number | null): string => (ms === null ? "none" : `${(ms / 1_000).toFixed(1)} s`);

export function grouped(
  entries: readonly KeptEntry[],
  keyOf: (entry: KeptEntry["entry"]) => string,
): (readonly [string, KeptEntry[]])[] {
  const groups = Map.groupBy(entries, ({ entry }) => keyOf(entry));
  return [...groups].toSorted(([a, one], [b, other]) => other.length - one.length || (a < b ? -1 : 1));
}

/**
 * Returns the rules of a policy that no applied rule names. If several rules apply to a request, the name of the applied rule joins theirs
 * with "and". The name of a rule may itself contain "and".
 */
export function unusedRules(rules: readonly string[], applied: readonly string[]): readonly string[] {
  const joined = applied.filter((name) => !rules.includes(name));
  return rules.filter(
    (name) =>
      !applied.includes(name) && !joined.some((each) => ` and ${each} and `.includes(` and ${name} and `)),
  );
}
