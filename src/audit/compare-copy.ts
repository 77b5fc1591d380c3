// Compares the audit with a copy that AUDIT_SINK has taken, and finds entries that are missing, changed or cut off on either side.

import { type AuditPlace, type ChainedEntry, signedText } from "../domain/audit/hash-chain.ts";
import { canonicalJson, isRecord, type Json } from "../domain/json.ts";
import { type Mapping, mappingOf, ocsfEvent } from "./ocsf.ts";

export type CopyTools = {
  /** SHA-256 of the UTF-8 text, in hex. */
  readonly hash: (text: string) => string;
  readonly signature: (key: string, text: string, signature: string) => "good" | "bad" | "unknown-key";
};

export type CopyComparison = {
  /** The number of entries that both have. */
  readonly same: number;
  /** The numbers, lowest first, for which the copy's line is signed, so the entry in the database is not the one that was sent. */
  readonly rewritten: readonly number[];
  /** The numbers for which the copy's line is not as it was sent. */
  readonly altered: readonly number[];
  /** The numbers for which the copy has several lines that differ from each other. */
  readonly contradicted: readonly number[];
  readonly missingInCopy: readonly Range[];
  readonly missingInDatabase: readonly Range[];
  /** When the first entry was written of which the copy's line differs or is only in the copy (ms). Null if there is none. */
  readonly firstLineAt: number | null;
  /** The newest entries, which the copy does not have: they are cut off, or not sent yet. */
  readonly notYet: Range | null;
  /** The entries before the beginning of the copy. */
  readonly before: Range | null;
  /** The lines that are not an entry of this audit, such as half a line after a crash, or log lines on standard output. */
  readonly otherLines: number;
};

type Range = { readonly from: number; readonly to: number };

export type CopyReader = {
  /** Takes one line of the copy. */
  add(line: string): void;
  /** Compares once all lines are added. `base`: the entry before the first row. Older lines are left out. */
  compare(rows: AsyncIterable<ChainedEntry>, base: AuditPlace): Promise<CopyComparison>;
};

/** The part of a line that is kept, so that a copy of a million entries fits in memory: prefixes of digests, and whether it is signed. */
type Kept = string;
const KEPT_DIGITS = 32;

export function readCopy(tools: CopyTools): CopyReader {
  // After an upgrade, an entry may have been sent twice, by two versions of the mapping.
  const lines = new Map<Mapping, Map<number, Kept>>();
  const contradicted = new Set<number>();
  // The earliest of each number: lines that a restore lost are older than those that got their numbers again.
  const times = new Map<number, number>();
  let otherLines = 0;
  return {
    add(line) {
      const read = line.trim() === "" ? null : readLine(line, tools);
      if (read === null) {
        otherLines += line.trim() === "" ? 0 : 1;
        return;
      }
      const alike = lines.get(read.mapping) ?? new Map<number, Kept>();
      lines.set(read.mapping, alike);
      times.set(read.seq, Math.min(read.at, times.get(read.seq) ?? Infinity));
      const known = alike.get(read.seq);
      if (known !== undefined && known !== read.kept) contradicted.add(read.seq);
      if (known === undefined || read.signed) alike.set(read.seq, read.kept);
    },
    async compare(rows, base) {
      const found = { rewritten: [] as number[], altered: [] as number[], absent: [] as number[], same: 0 };
      const all = new Set([...lines.values()].flatMap((alike) => [...alike.keys()]));
      const unseen = new Set([...all].filter((seq) => seq > base.seq || seq < 1));
      let before = base.link;
      for await (const row of rows) {
        unseen.delete(row.seq);
        record(found, row.seq, judgementsOf(lines, row, before, tools));
        before = row.link;
      }
      const numbers = all.size === 0 ? [] : edges(all);
      const result = { ...resultOf(found, [...unseen], numbers), contradicted: [...contradicted].sort(low) };
      return { ...result, firstLineAt: times.get(firstLine(result)) ?? null, otherLines };
    },
  };
}

const low = (a: number, b: number): number => a - b;

type Lines = Pick<CopyComparison, "rewritten" | "altered" | "contradicted" | "missingInDatabase">;

const firstLine = ({ rewritten, altered, contradicted, missingInDatabase: [missing] }: Lines): number =>
  Math.min(...[rewritten[0], altered[0], contradicted[0], missing?.from].map((seq) => seq ?? Infinity));

type ReadLine = {
  readonly seq: number;
  /** Infinity if the line does not say it. */
  readonly at: number;
  readonly mapping: Mapping;
  readonly kept: Kept;
  readonly signed: boolean;
};

/** Returns null if the line is not an entry of an audit. */
function readLine(line: string, tools: CopyTools): ReadLine | null {
  const event = parsed(line);
  const { unmapped: facts, time } = event ?? {};
  if (event === null || facts === undefined || !isRecord(facts)) return null;
  const { seq, hash, key, signature } = facts;
  if (typeof seq !== "number" || !Number.isSafeInteger(seq) || typeof hash !== "string") return null;
  const signed =
    typeof key === "string" &&
    typeof signature === "string" &&
    tools.signature(key, signedText({ seq, link: hash }), signature) === "good";
  return {
    seq,
    at: typeof time === "number" ? time : Infinity,
    mapping: mappingOf(event),
    kept: keptOf(event, hash, tools) + (signed ? SIGNED : ""),
    signed,
  };
}

const SIGNED = "+";

function parsed(line: string): { readonly [field: string]: Json } | null {
  try {
    const event = JSON.parse(line) as Json;
    return isRecord(event) ? event : null;
  } catch {
    return null;
  }
}

function keptOf(event: Json, link: string, { hash }: CopyTools): Kept {
  return link.slice(0, KEPT_DIGITS) + hash(canonicalJson(event)).slice(0, KEPT_DIGITS);
}

type Found = { rewritten: number[]; altered: number[]; absent: number[]; same: number };

/** One for each version of the mapping in which the copy has the entry. */
function judgementsOf(
  lines: ReadonlyMap<Mapping, ReadonlyMap<number, Kept>>,
  row: ChainedEntry,
  previous: string,
  tools: CopyTools,
): readonly Judgement[] {
  return [...lines].flatMap(([mapping, alike]) => {
    const kept = alike.get(row.seq);
    if (kept === undefined) return [];
    return [judgementOf(kept, keptOf(ocsfEvent(row, previous, mapping), row.link, tools))];
  });
}

type Judgement = "rewritten" | "altered" | "same";

function judgementOf(kept: Kept, expected: Kept): Judgement {
  if (kept === expected + SIGNED) return "same";
  const isRewritten = kept.endsWith(SIGNED) && !kept.startsWith(expected.slice(0, KEPT_DIGITS));
  return isRewritten ? "rewritten" : "altered";
}

function record(found: Found, seq: number, judgements: readonly Judgement[]): void {
  if (judgements.length === 0) found.absent.push(seq);
  else if (judgements.includes("rewritten")) found.rewritten.push(seq);
  else if (judgements.includes("altered")) found.altered.push(seq);
  else found.same += 1;
}

function resultOf({ rewritten, altered, absent, same }: Found, unseen: readonly number[], edge: number[]) {
  const [first = Infinity, last = -Infinity] = edge;
  const older = rangesOf(absent.filter((seq) => seq < first));
  const newer = rangesOf(absent.filter((seq) => seq > last && seq > first));
  return {
    same,
    rewritten,
    altered,
    missingInCopy: rangesOf(absent.filter((seq) => seq > first && seq < last)),
    missingInDatabase: rangesOf(unseen.toSorted(low)),
    notYet: edge.length === 0 ? (older[0] ?? null) : (newer[0] ?? null),
    before: edge.length === 0 ? null : (older[0] ?? null),
  };
}

function edges(numbers: Iterable<number>): number[] {
  let [first, last] = [Infinity, -Infinity];
  for (const seq of numbers) [first, last] = [Math.min(first, seq), Math.max(last, seq)];
  return [first, last];
}

/** `numbers`: the lowest first. */
function rangesOf(numbers: readonly number[]): Range[] {
  const ranges: { from: number; to: number }[] = [];
  for (const seq of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === seq - 1) last.to = seq;
    else ranges.push({ from: seq, to: seq });
  }
  return ranges;
}
