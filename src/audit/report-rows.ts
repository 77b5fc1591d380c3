// The rows of the control report, and how they are counted.

import type { KeptEntry } from "./entry.ts";

export type ReportRow = {
  readonly measure: string;
  readonly value: string;
  /** What was counted. */
  readonly counted: string;
  /** The numbers of the entries behind the value, the lowest first. */
  readonly entries: readonly number[];
};

export type ReportSection = { readonly title: string; readonly rows: readonly ReportRow[] };

export const numbersOf = (entries: readonly KeptEntry[]): number[] => entries.map(({ seq }) => seq);

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

/** The smallest value that is not below this part of the values (nearest rank). `sorted`: the lowest first. */
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
