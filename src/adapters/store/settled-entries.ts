// Finds what the audit says about the end of a decision. Columns are no evidence: a search by them misses an entry in whose row someone
// changed them. So every entry after the decision is read by its signed text, and checked on the way. A process reads each entry once.

import type { AuditEntry } from "../../audit/entry.ts";
import { type AuditMark, type ChainedEntry, createKeyOrder } from "../../domain/audit/hash-chain.ts";
import { type AuditFault, parsedEntry, rowFault } from "../../domain/audit/verify-chain.ts";
import type { AuditLog, Finding, SettledAfter, SettledEntry } from "../../ports/store.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import { announcedKeys, findingAt, slices } from "./check-audit.ts";
import { type Database, read } from "./database.ts";

/** A process that knows the ends of more decisions forgets them, and reads again what it needs. */
const MAX_ENDS = 100_000;
/** More damage is not reported at once. The next check of the whole audit names all of it. */
const MAX_DAMAGE = 200;

export type SettledEntries = Pick<AuditLog, "settledAfter"> & {
  /** Remembers what this process has written, at these places. Someone may cut it off the end of the audit. */
  readonly note: (entries: readonly AuditEntry[], marks: readonly AuditMark[]) => void;
};

export function createSettledEntries(db: Database, key: Pick<AuditKey, "publicKey">): SettledEntries {
  const ends = createEnds();
  /** The entries after `first`, up to `last`, were read. */
  let known: { readonly first: AuditMark; readonly last: AuditMark } | null = null;
  let lastLook: Promise<unknown> = Promise.resolve();

  async function settledAfter(decided: AuditMark): Promise<SettledAfter> {
    const damage: Finding[] = [];
    const readOn = (after: AuditMark, end?: number) => readEntries({ db, key, ends, damage }, after, end);
    if (ends.size() > MAX_ENDS) {
      ends.clear();
      known = null;
    }
    // If the last entry is another one by now, someone has changed the audit since, so all is read again.
    if (known !== null && !(await isThere(db, known.last))) known = null;
    const start = known ?? { first: decided, last: decided };
    if (decided.seq < start.first.seq) await readOn(decided, start.first.seq);
    const first = decided.seq < start.first.seq ? decided : start.first;
    known = { first, last: await readOn(start.last) };
    return { entries: ends.of(decided.seq), damage };
  }

  return {
    note(entries, marks) {
      for (const [at, { what, refers, outcome }] of entries.entries())
        if (what === "settled" && refers !== undefined)
          ends.add(refers, { seq: marks[at]?.seq ?? 0, outcome });
    },
    // One look at a time, so that the next one finds what the last one has read.
    settledAfter(decided) {
      const result = lastLook.then(() => settledAfter(decided));
      lastLook = result.catch(() => undefined);
      return result;
    },
  };
}

/** What is known about the end of each decision, by the number of its entry. */
function createEnds() {
  const byDecision = new Map<number, SettledEntry[]>();
  return {
    size: () => byDecision.size,
    clear: () => byDecision.clear(),
    of: (decision: number): readonly SettledEntry[] => byDecision.get(decision) ?? [],
    add(decision: number, end: SettledEntry): void {
      const known = byDecision.get(decision) ?? [];
      if (known.some(({ seq, outcome }) => seq === end.seq && outcome === end.outcome)) return;
      byDecision.set(
        decision,
        [...known, end].sort((one, other) => one.seq - other.seq),
      );
    },
  };
}

async function isThere(db: Database, { seq, link }: AuditMark): Promise<boolean> {
  const row = await read(() =>
    db.selectFrom("audit").select("link").where("seq", "=", seq).executeTakeFirst(),
  );
  return row?.link === link;
}

type Reading = {
  readonly db: Database;
  readonly key: Pick<AuditKey, "publicKey">;
  readonly ends: ReturnType<typeof createEnds>;
  readonly damage: Finding[];
};

/**
 * Reads the entries after `after`, which is proven, up to the number `end`, or to the newest one. Goes on behind damage, because an intact
 * entry behind it counts. Resolves to the last one.
 */
async function readEntries(
  { db, key, ends, damage }: Reading,
  after: AuditMark,
  end = Infinity,
): Promise<AuditMark> {
  const signature = auditSignatures([key.publicKey, ...(await read(() => announcedKeys(db)))]);
  const faultOf = createFaultOfNext({ hash: digestOf, signature });
  let last: AuditMark = after;
  for await (const row of slices(db, after.seq)) {
    if (row.seq > end) break;
    const fault = faultOf(row, last);
    if (fault !== null && damage.length < MAX_DAMAGE) damage.push(await findingAt(db, fault, row.seq));
    // A damaged entry counts as well: if it lies, an approval is not sent.
    noteEnd(ends, row);
    last = row;
  }
  return last;
}

function createFaultOfNext(tools: Parameters<typeof rowFault>[2]) {
  const keys = createKeyOrder();
  return (row: ChainedEntry, previous: AuditMark): AuditFault | null => {
    if (row.seq !== previous.seq + 1) return "gap";
    const fault = rowFault(row, previous.link, tools);
    return fault ?? (keys.next(row, parsedEntry(row.text) ?? {}) ? null : "key-order");
  };
}

function noteEnd(ends: Reading["ends"], { seq, text }: ChainedEntry): void {
  const { what, refers, outcome } = parsedEntry(text) ?? {};
  if (what === "settled" && typeof refers === "number" && typeof outcome === "string")
    ends.add(refers, { seq, outcome });
}
