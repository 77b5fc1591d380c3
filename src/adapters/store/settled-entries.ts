// Finds what the audit says about the end of a decision. Columns are no evidence: a search by them misses an entry in whose row someone
// changed them. So every entry after the decision is proven, and read by its signed text. A process proves each entry once.

import type { AuditEntry } from "../../audit/entry.ts";
import { type AuditMark, type ChainedEntry, createKeyOrder } from "../../domain/audit/hash-chain.ts";
import { type AuditFault, parsedEntry, rowFault } from "../../domain/audit/verify-chain.ts";
import type { AuditLog, Finding, SettledAfter, SettledEntry } from "../../ports/store.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import { announcedKeys, findingAt, slices } from "./check-audit.ts";
import { type Database, read } from "./database.ts";

type Settled = SettledEntry & { readonly refers: number };

/** Entries that follow one another and are proven. `settled`: the "settled" ones after `first`. */
type Stretch = {
  readonly type: "proven";
  readonly first: AuditMark;
  readonly last: AuditMark;
  readonly settled: readonly Settled[];
};
type Fault = { readonly type: "fault"; readonly finding: Finding };

/** A process that knows more "settled" entries forgets them, and reads again what it needs. */
const MAX_SETTLED = 100_000;

export type SettledEntries = Pick<AuditLog, "settledAfter"> & {
  /** Remembers what this process has written, at these places. Someone may cut it off the end of the audit. */
  readonly note: (entries: readonly AuditEntry[], marks: readonly AuditMark[]) => void;
};

export function createSettledEntries(db: Database, key: Pick<AuditKey, "publicKey">): SettledEntries {
  let known: Stretch | null = null;
  let lastLook: Promise<unknown> = Promise.resolve();
  const written = new Map<number, SettledEntry>();

  const upTo = (after: AuditMark, end: AuditMark | null) => readStretch(db, key, after, end);

  async function look(decided: AuditMark): Promise<Stretch | Fault> {
    const start = known ?? nothingAfter(decided);
    const earlier = decided.seq < start.first.seq ? await upTo(decided, start.first) : null;
    if (earlier?.type === "fault") return earlier;
    const later = await upTo(start.last, null);
    if (later.type === "proven") return joined(earlier === null ? start : joined(earlier, start), later);
    // A fault before the decision says nothing about it.
    return start.last.seq < decided.seq ? upTo(decided, null) : later;
  }

  async function settledAfter(decided: AuditMark): Promise<SettledAfter> {
    const found = await look(decided);
    if (found.type === "fault") {
      known = null;
      return { ok: false, finding: found.finding };
    }
    known = found.settled.length > MAX_SETTLED ? null : found;
    const own = written.get(decided.seq);
    const stored = found.settled.filter(({ refers }) => refers === decided.seq);
    const isGone = own !== undefined && !stored.some(({ seq }) => seq === own.seq);
    return { ok: true, entries: isGone ? [...stored, own] : stored };
  }

  return {
    note(entries, marks) {
      for (const [at, { what, refers, outcome }] of entries.entries())
        if (what === "settled" && refers !== undefined)
          written.set(refers, { seq: marks[at]?.seq ?? 0, outcome });
      for (const [oldest] of written) if (written.size > MAX_SETTLED) written.delete(oldest);
    },
    // One look at a time, so that the next one finds what the last one has read.
    settledAfter(decided) {
      const result = lastLook.then(() => settledAfter(decided));
      lastLook = result.catch(() => undefined);
      return result;
    },
  };
}

const nothingAfter = (mark: AuditMark): Stretch => ({
  type: "proven",
  first: mark,
  last: mark,
  settled: [],
});

const joined = (one: Stretch, next: Stretch): Stretch => ({
  type: "proven",
  first: one.first,
  last: next.last,
  settled: next.settled.length === 0 ? one.settled : [...one.settled, ...next.settled],
});

/** Proves the entries from `first`, which the caller has proven, to `end`, or to the newest one. */
async function readStretch(
  db: Database,
  { publicKey }: Pick<AuditKey, "publicKey">,
  first: AuditMark,
  end: AuditMark | null,
): Promise<Stretch | Fault> {
  const signature = auditSignatures([publicKey, ...(await read(() => announcedKeys(db)))]);
  const next = createNextFault(first, { hash: digestOf, signature });
  const settled: Settled[] = [];
  let last: AuditMark | null = null;
  for await (const row of slices(db, first.seq - 1)) {
    if (end !== null && row.seq > end.seq) break;
    const fault = next(row, last);
    if (fault !== null) return { type: "fault", finding: await findingAt(db, fault, row.seq) };
    if (last !== null) settled.push(...settledIn(row));
    last = row;
  }
  const isWhole = last !== null && (end === null || (last.seq === end.seq && last.link === end.link));
  if (last !== null && isWhole) return { type: "proven", first, last, settled };
  return { type: "fault", finding: await findingAt(db, "cut-short", end?.seq ?? first.seq) };
}

/** Returns a check of the next row. It also finds that the first row, which is known, is missing or another one by now. */
function createNextFault(first: AuditMark, tools: Parameters<typeof rowFault>[2]) {
  const keys = createKeyOrder();
  return (row: ChainedEntry, previous: AuditMark | null): AuditFault | null => {
    const isKnown = row.seq === first.seq && row.link === first.link;
    if (previous === null && !isKnown) return row.seq === first.seq ? "rewritten" : "gap";
    if (previous !== null && row.seq !== previous.seq + 1) return "gap";
    const fault = previous === null ? null : rowFault(row, previous.link, tools);
    return fault ?? (keys.next(row, parsedEntry(row.text) ?? {}) ? null : "key-order");
  };
}

function settledIn({ seq, text }: ChainedEntry): Settled[] {
  const { what, refers, outcome } = parsedEntry(text) ?? {};
  if (what !== "settled" || typeof refers !== "number" || typeof outcome !== "string") return [];
  return [{ seq, refers, outcome }];
}
