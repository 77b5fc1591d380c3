// Finds where the audit in the database begins (at its first entry, or after the archived ones), and how much of it can be archived.

import { SINK_CURSORS, type SinkCursor, sinkCursorsIn } from "../../audit/sink-cursors.ts";
import { type AuditPlace, LAST_SEQ } from "../../domain/audit/hash-chain.ts";
import { archivedPlace, BEGINNING, parsedEntry } from "../../domain/audit/verify-chain.ts";
import type { Json } from "../../domain/json.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { ALARMS, NOTIFICATIONS_CURSOR } from "../../ports/notification.ts";
import type { AuditRow, Database, Trx } from "./database.ts";
import { DISPUTES, FREEZES, openEntries } from "./open-entries.ts";
import { parsedJson } from "./run-row.ts";

type AuditBase = {
  /** The last archived entry. */
  readonly mark: AuditPlace;
  /** The number of the "archived" entry. Null if nothing was archived. */
  readonly saidBy: number | null;
};

/** Reads the newest "archived" entry. A caller that relies on the result must prove that entry, or verify the chain. */
export async function auditBase(db: Pick<Database, "selectFrom">): Promise<AuditBase> {
  const entries = db.selectFrom("audit").select(["seq", "entry"]).where("what", "=", "archived");
  const row = await entries.where("seq", "<=", LAST_SEQ).orderBy("seq", "desc").executeTakeFirst();
  const mark = row === undefined ? null : archivedPlace(parsedEntry(row.entry) ?? {});
  return row === undefined || mark === null ? { mark: BEGINNING, saidBy: null } : { mark, saidBy: row.seq };
}

/** Resolves to the link of a stored entry or of the last archived entry, or to null if there is no such entry. */
export async function linkOf(db: Pick<Database, "selectFrom">, seq: number): Promise<string | null> {
  if (seq === BEGINNING.seq) return BEGINNING.link;
  const query = db.selectFrom("audit").select("link").where("seq", "=", seq);
  const here = (await query.executeTakeFirst())?.link;
  if (here !== undefined) return here;
  const { mark } = await auditBase(db);
  return mark.seq === seq ? mark.link : null;
}

// Finds the last entry that can be archived. An entry must stay in the database while something there still depends on it.

export type ArchiveLimit = {
  readonly lastArchivable: number;
  /** Why the next entry must stay, for the operator. Null if only the requested moment keeps it. */
  readonly because: string | null;
};

type Reader = Pick<Database | Trx, "selectFrom" | "fn">;
/** The first entry that must stay for one reason. Null if there is none. */
type Kept = { readonly firstKept: number | null; readonly because: string | null };

/** `before`: archive only entries before this moment (ms). `withoutSink`: also those that AUDIT_SINK has not taken. */
export type ArchiveOptions = { readonly before: number; readonly withoutSink: boolean };

export async function archiveLimit(
  db: Reader,
  { before, withoutSink }: ArchiveOptions,
): Promise<ArchiveLimit> {
  const disputes = await openEntries(db, DISPUTES);
  const kept: readonly Kept[] = [
    await first(db, before),
    {
      firstKept: await newestPolicy(db),
      because: "the policy in force follows from it: restart Countersign, or load the policy again",
    },
    await firstOfStoredRun(db, disputes),
    {
      firstKept: await firstFinding(db),
      because: "it is about tampering, and acknowledged findings must stay on record",
    },
    {
      firstKept: (await openEntries(db, FREEZES))[0]?.seq ?? null,
      because: "a freeze in force follows from it",
    },
    firstDisputed(disputes),
    await firstUnsent(db),
    { firstKept: await firstWithoutNotifications(db), because: "notifications are still to be made from it" },
    withoutSink ? NOTHING : await notSentYet(db),
  ];
  const known = kept.flatMap(({ firstKept, because }) =>
    firstKept === null ? [] : [{ lastArchivable: firstKept - 1, because }],
  );
  const [lowest] = known.toSorted((a, b) => a.lastArchivable - b.lastArchivable);
  return wholeDecisions(db, lowest ?? { lastArchivable: 0, because: null });
}

const NOTHING: Kept = { firstKept: null, because: null };
/** Resolves to the cursors of all sinks that were ever set and not given up. The one that is furthest behind comes first. */
export async function sinkCursors(db: Reader): Promise<readonly SinkCursor[]> {
  return sinkCursorsIn(await document(db, SINK_CURSORS)).toSorted((a, b) => a.seq - b.seq);
}

const SINK_CHARS = 200;

/** The name is not signed, so anyone may have changed it. */
export const sinkWords = ({ to }: SinkCursor): string => `AUDIT_SINK (${oneLine(to, SINK_CHARS)})`;

async function notSentYet(db: Reader): Promise<Kept> {
  const [last] = await sinkCursors(db);
  if (last === undefined) return NOTHING;
  const because = `${sinkWords(last)} has not taken it yet. Start Countersign with this sink until it has, or add --without-sink to give that copy up`;
  return { firstKept: last.seq + 1, because };
}

/** Clocks of several machines differ by less than this (ms). */
const SKEW_MS = 24 * 60 * 60_000;

/** Entries leave only in their order, so one with a time of the future keeps all later ones. Only the operator can say that they may go too. */
async function first(db: Reader, before: number): Promise<Kept> {
  const found = db.selectFrom("audit").select(["seq", "at"]).where("at", ">=", before).orderBy("seq");
  const row = await found.limit(1).executeTakeFirst();
  if (row === undefined) return { firstKept: await newestOf(db, null), because: null };
  const { seq, at } = row;
  const later = db.selectFrom("audit").select("seq").where("seq", ">", seq);
  const earlier = later.where("at", "<", Math.min(before, at - SKEW_MS)).limit(1);
  const isAhead = (await earlier.executeTakeFirst()) !== undefined;
  return { firstKept: seq, because: isAhead ? aheadWords(at) : null };
}

const aheadWords = (at: number): string =>
  `its time is ${new Date(at).toISOString()}, although later entries are from before --before, so the clock was wrong when it was written. Entries are archived only in their order. To archive this one and all later ones that may go, name a moment after that time with --before`;

/** Resolves to the newest entry of this kind, or of all. */
async function newestOf(db: Reader, what: string | null): Promise<number | null> {
  const all = db.selectFrom("audit").select("seq");
  const these = what === null ? all : all.where("what", "=", what);
  return (await these.orderBy("seq", "desc").limit(1).executeTakeFirst())?.seq ?? null;
}

const newestPolicy = (db: Reader): Promise<number | null> => newestOf(db, "policy-loaded");

type Dispute = Pick<AuditRow, "seq" | "run" | "run_id">;

async function firstOfStoredRun(db: Reader, disputes: readonly Dispute[]): Promise<Kept> {
  const keys = db.selectFrom("runs").select("key");
  const entries = db.selectFrom("audit").select(["seq", "run"]).where("run", "in", keys);
  const heads = db.selectFrom("runs").select(["audit_seq as seq", "key as run"]);
  const both = [
    await entries.orderBy("seq").limit(1).executeTakeFirst(),
    await heads.where("audit_seq", "is not", null).orderBy("audit_seq").limit(1).executeTakeFirst(),
  ];
  const known = both.flatMap((row) => (typeof row?.seq === "number" ? [{ seq: row.seq, run: row.run }] : []));
  const [lowest] = known.toSorted((a, b) => a.seq - b.seq);
  if (lowest === undefined) return NOTHING;
  const dispute = disputes.find(({ run }) => run === lowest.run);
  const because =
    dispute === undefined
      ? "its run is still stored (finished runs are kept for KEEP_FINISHED_DAYS)"
      : `its run is still stored, and stays while it has an open dispute. ${closeWords(dispute)}. The run is deleted within an hour of that, but not before it has been finished for KEEP_FINISHED_DAYS`;
  return { firstKept: lowest.seq, because };
}

function firstDisputed([first]: readonly Dispute[]): Kept {
  if (first === undefined) return NOTHING;
  return { firstKept: first.seq, because: `it opens a dispute that is not closed. ${closeWords(first)}` };
}

const closeWords = ({ run_id: id }: Dispute): string =>
  `Start Countersign, and close it in Slack with /agent audit close ${oneLine(id ?? "<run id>", NAMED_CHARS)} <what you found>`;

async function firstFinding(db: Reader): Promise<number | null> {
  const kinds = ["tampering-found", "tampering-acknowledged"];
  const entries = db.selectFrom("audit").select("seq").where("what", "in", kinds);
  return (await entries.orderBy("seq").limit(1).executeTakeFirst())?.seq ?? null;
}

/** The most notifications that are named. */
const MAX_NAMED = 10;
const NAMED_CHARS = 60;

/** The table is not signed, so anyone may have changed what it says. */
async function firstUnsent(db: Reader): Promise<Kept> {
  const all = db.selectFrom("notifications").select(["entry", "kind", "to_id"]).where("to_do", "=", 1);
  const rows = await all.orderBy("entry").orderBy("to_id").limit(MAX_NAMED).execute();
  const [first] = rows;
  if (first === undefined) return NOTHING;
  const unsent = rows.filter(({ entry }) => entry === first.entry);
  const named = unsent.map(({ kind, to_id }) => oneLine(`${kind} to ${to_id}`, NAMED_CHARS)).join(", ");
  const isAlarm = unsent.some(({ kind }) => ALARMS.some((alarm) => alarm === kind));
  const because = `a notification about it is still to be sent: ${named}. Start Countersign, and wait until it is sent${isAlarm ? REFUSED_ALARM : ""}`;
  return { firstKept: first.entry, because };
}

const REFUSED_ALARM =
  ". If Slack refuses it (the log says why) and that is for good, change ADMINS or AUDIT_CHANNEL so that they no longer name its recipient, restart, and wait for the next try: it is given up within an hour or, after fewer than 20 refusals, within 1 h 40 min";

/** Resolves to the first entry from which notifications are still to be made, or to null if none ever were. */
async function firstWithoutNotifications(db: Reader): Promise<number | null> {
  const seq = await document(db, NOTIFICATIONS_CURSOR);
  return typeof seq === "number" ? seq + 1 : null;
}

async function document(db: Reader, name: string): Promise<Json> {
  const row = await db.selectFrom("documents").select("doc").where("name", "=", name).executeTakeFirst();
  return row === undefined ? null : parsedJson(name, row.doc);
}

const DECISION = ["voted", "decided", "sent", "settled", "closed"];

/**
 * Lowers the limit so that the entries of a decision stay together, because they prove each other. The decisions that end last come first:
 * each of them stays behind the limit as a whole when the limit is lowered further, so one look at each is enough.
 */
async function wholeDecisions(db: Reader, limit: ArchiveLimit): Promise<ArchiveLimit> {
  const [lowest, highest] = [db.fn.min("seq"), db.fn.max("seq")];
  const decisions = await db
    .selectFrom("audit")
    .select([lowest.as("first"), highest.as("last")])
    .where("what", "in", DECISION)
    .groupBy(["run", "approval"])
    .having(lowest, "<=", limit.lastArchivable)
    .orderBy("last", "desc")
    .execute();
  let { lastArchivable, because } = limit;
  for (const { first, last } of decisions) {
    if (last <= lastArchivable) break;
    if (first > lastArchivable) continue;
    lastArchivable = first - 1;
    because = "the decision that it belongs to ends later";
  }
  return { lastArchivable, because };
}
