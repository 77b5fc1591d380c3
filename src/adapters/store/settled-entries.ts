// Finds what the audit says about the end of a decision. Columns are no evidence: a search by them misses an entry in whose row someone
// changed them. So every entry after the decision is read by its signed text, and checked on the way. A process reads each entry once.

import type { AuditEntry } from "../../audit/entry.ts";
import { type AuditPlace, type ChainedEntry, createKeyOrder } from "../../domain/audit/hash-chain.ts";
import { type AuditFault, BEGINNING, parsedEntry, rowFault } from "../../domain/audit/verify-chain.ts";
import type { AuditLog, Finding, SettledAfter, SettledEntry } from "../../ports/audit-store.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import { announcedKeys, findingAt, slices } from "./check-audit.ts";
import { type Database, read } from "./database.ts";

/** A process that knows the ends of more decisions than this forgets them, and reads again what it needs. */
const MAX_ENDS = 100_000;
/** The most damage that is reported at once. The next check of the whole audit names all of it. */
const MAX_DAMAGE = 200;

export type SettledEntries = Pick<AuditLog, "settledAfter"> & {
  /** Remembers the ends of decisions that this process has written, at these places. Someone may cut it off the end of the audit. */
  readonly note: (entries: readonly AuditEntry[], places: readonly AuditPlace[]) => void;
};

export function createSettledEntries(db: Database, key: Pick<AuditKey, "publicKey">): SettledEntries {
  const ends = createEnds();
  /** The entries after `first`, up to `last`, were read. */
  let known: { readonly first: AuditPlace; readonly last: AuditPlace } | null = null;
  /** Where numbers were missing. Someone may remove a row that made a gap, and the program then writes entries into it. */
  const gaps: Gap[] = [];
  let lastLook: Promise<unknown> = Promise.resolve();

  function readAllAgain(): void {
    known = null;
    gaps.length = 0;
    ends.forgetLinks();
  }

  async function settledAfter(decided: AuditPlace): Promise<SettledAfter> {
    const damage: Finding[] = [];
    const readOn = (after: AuditPlace, end?: number) =>
      readEntries({ db, key, ends, damage, gaps }, after, end);
    if (ends.size() > MAX_ENDS) {
      ends.clear();
      readAllAgain();
    }
    // If the last entry is another one by now, or a gap has entries, someone has changed the audit since.
    if (known !== null && (!(await isThere(db, known.last)) || (await hasEntries(db, gaps)))) readAllAgain();
    ends.noteDecision(decided);
    const start = known ?? { first: decided, last: decided };
    if (decided.seq < start.first.seq) await readOn(decided, start.first.seq);
    const first = decided.seq < start.first.seq ? decided : start.first;
    known = { first, last: await readOn(start.last) };
    return { entries: ends.of(decided), damage };
  }

  return {
    note: (entries, places) => noteWritten(ends, entries, places),
    // One look at a time, so that the next one finds what the last one has read.
    settledAfter(decided) {
      const result = lastLook.then(() => settledAfter(decided));
      lastLook = result.catch(() => undefined);
      return result;
    },
  };
}

/** `decision`: the link of the decision, or null if this process has not read it. */
type End = SettledEntry & { readonly decision: string | null };

/**
 * What is known about the end of each decision. If a standby takes over that lacks a decision, another one gets its number. So an end counts
 * for the decision with the same link, unless that link is unknown.
 */
function createEnds() {
  const byDecision = new Map<number, End[]>();
  const links = new Map<number, string>();
  return {
    size: () => Math.max(byDecision.size, links.size),
    clear: () => byDecision.clear(),
    /** Must be called when other decisions may have got their numbers. */
    forgetLinks: () => links.clear(),
    noteDecision: ({ seq, link }: AuditPlace): void => void links.set(seq, link),
    of: ({ seq, link }: AuditPlace): readonly SettledEntry[] =>
      (byDecision.get(seq) ?? []).filter(({ decision }) => decision === null || decision === link),
    add(seq: number, entry: SettledEntry): void {
      const end = { ...entry, decision: links.get(seq) ?? null };
      const others = (byDecision.get(seq) ?? []).filter((each) => !isSameEnd(each, end));
      byDecision.set(
        seq,
        [...others, end].sort((one, other) => one.seq - other.seq),
      );
    },
  };
}

function noteWritten(
  ends: ReturnType<typeof createEnds>,
  entries: readonly AuditEntry[],
  places: readonly AuditPlace[],
): void {
  for (const [at, { what, refers, outcome }] of entries.entries()) {
    const place = places[at] ?? BEGINNING;
    if (isDecision(what)) ends.noteDecision(place);
    if (what === "settled" && refers !== undefined)
      ends.add(refers, { seq: place.seq, outcome, isIntact: true });
  }
}

const isSameEnd = (one: End, other: End): boolean =>
  one.seq === other.seq &&
  one.outcome === other.outcome &&
  (one.decision === other.decision || one.decision === null || other.decision === null);

const isDecision = (what: unknown): boolean => what === "decided" || what === "voted";

async function isThere(db: Database, { seq, link }: AuditPlace): Promise<boolean> {
  const row = await read(() =>
    db.selectFrom("audit").select("link").where("seq", "=", seq).executeTakeFirst(),
  );
  return row?.link === link;
}

type Gap = { readonly after: number; readonly before: number };

/** More gaps than this are not remembered one by one: then all is read again at each look. */
const MAX_GAPS = 100;

async function hasEntries(db: Database, gaps: readonly Gap[]): Promise<boolean> {
  if (gaps.length > MAX_GAPS) return true;
  for (const { after, before } of gaps) {
    const inside = db.selectFrom("audit").select("seq").where("seq", ">", after).where("seq", "<", before);
    if ((await read(() => inside.limit(1).executeTakeFirst())) !== undefined) return true;
  }
  return false;
}

type Reading = {
  readonly db: Database;
  readonly key: Pick<AuditKey, "publicKey">;
  readonly ends: ReturnType<typeof createEnds>;
  readonly damage: Finding[];
  readonly gaps: Gap[];
};

/**
 * Reads the entries after `after`, which is proven, up to the number `end`, or to the newest one. Goes on behind damage, because an intact
 * entry behind it counts. Resolves to the last one.
 */
async function readEntries(
  { db, key, ends, damage, gaps }: Reading,
  after: AuditPlace,
  end = Infinity,
): Promise<AuditPlace> {
  const signature = auditSignatures([key.publicKey, ...(await read(() => announcedKeys(db)))]);
  const faultOf = createFaultOfNext({ hash: digestOf, signature });
  let last: AuditPlace = after;
  for await (const row of slices(db, after.seq)) {
    if (row.seq > end) break;
    const fault = faultOf(row, last);
    if (fault !== null && damage.length < MAX_DAMAGE) damage.push(await findingAt(db, fault, row.seq));
    if (fault === "gap") gaps.push({ after: last.seq, before: row.seq });
    noteRow(ends, row, fault);
    last = row;
  }
  return last;
}

/** Faults that are found only after the link and the signature have proven the text. */
const TEXT_INTACT: ReadonlySet<AuditFault> = new Set(["columns", "key-order"]);

function createFaultOfNext(tools: Parameters<typeof rowFault>[2]) {
  const keys = createKeyOrder();
  return (row: ChainedEntry, previous: AuditPlace): AuditFault | null => {
    if (row.seq !== previous.seq + 1) return "gap";
    const fault = rowFault(row, previous.link, tools);
    return fault ?? (keys.next(row, parsedEntry(row.text) ?? {}) ? null : "key-order");
  };
}

function noteRow(ends: Reading["ends"], { seq, link, text }: ChainedEntry, fault: AuditFault | null): void {
  const { what, refers, outcome } = parsedEntry(text) ?? {};
  const isIntact = fault === null || TEXT_INTACT.has(fault);
  if (isIntact && isDecision(what)) ends.noteDecision({ seq, link });
  if (what === "settled" && typeof refers === "number" && typeof outcome === "string")
    ends.add(refers, { seq, outcome, isIntact });
}
