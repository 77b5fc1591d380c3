// Reads and stores the notifications that follow from the audit.

import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { AuditEntry, KeptEntry } from "../../audit/entry.ts";
import { ChannelId, Nonce, UserId } from "../../domain/ids.ts";
import { isSameJson } from "../../domain/json.ts";
import type { PostedMessage } from "../../domain/posted-message.ts";
import type { Finding } from "../../ports/audit-store.ts";
import { ALARMS, type Notification, type NotificationStore, type Report } from "../../ports/notification.ts";
import { LAST_SEQ } from "../../domain/audit/hash-chain.ts";
import { appendAudit, takeAuditLock } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { createReadableProof } from "./check-audit.ts";
import { type Database, inBatches, type NotificationRow, read, type Trx, Undo, write } from "./database.ts";
import { type Doc, either, id, number, record, word } from "./document-shape.ts";
import { postedMessage } from "./run-document.ts";
import { parsedJson } from "./run-row.ts";
import { brokenNotification, type Findings } from "./seals.ts";

export function createNotifications(
  db: Database,
  key: AuditKey,
  findings: Pick<Findings, "report">,
): NotificationStore {
  return {
    async addNotifications(notifications) {
      if (notifications.length === 0) return;
      await write(db, async (trx) => {
        for (const batch of inBatches(notifications.map(toNotificationRow)))
          await trx
            .insertInto("notifications")
            .values(batch)
            .onConflict((conflict) => conflict.doNothing())
            .execute();
      });
    },
    newestNotified: (head) => newestNotified(db, head),
    notifications: (limit, isWanted) => firstWanted(db, findings, limit, isWanted),
    strangeNotifications: (limit) => read(() => strange(db, limit).execute()),
    async saveNotification({ id, post }, toDo) {
      const change = { post: JSON.stringify(post), to_do: toDo ? (1 as const) : (0 as const) };
      await write(db, async (trx) => {
        await trx.updateTable("notifications").set(change).where("id", "=", id).execute();
      });
    },
    async notification(id) {
      const query = db.selectFrom("notifications").selectAll().where("id", "=", id);
      const row = await read(() => query.executeTakeFirst());
      return row === undefined ? null : fromNotificationRow(row, findings);
    },
    notificationsIn: (to, ts) => notificationsIn(db, findings, to, ts),
    disputedAt: async (report) => (await firstDispute(db, key, report))?.at ?? null,
    dispute: (id, entry) => write(db, (trx) => dispute(trx, { key, findings }, id, entry)),
  };
}

async function newestNotified(db: Database, head: number): Promise<number> {
  const query = db.selectFrom("notifications").select("entry").where("kind", "!=", "head");
  const newest = query.where("entry", "<=", head).orderBy("entry", "desc").limit(1);
  return (await read(() => newest.executeTakeFirst()))?.entry ?? 0;
}

/** The number of newest notifications of one person or channel that are searched for those of one message. */
const MAX_SEARCHED = 2_000;

async function notificationsIn(
  db: Database,
  findings: Pick<Findings, "report">,
  ...[to, ts]: Parameters<NotificationStore["notificationsIn"]>
): Promise<readonly Notification[]> {
  const query = db.selectFrom("notifications").selectAll().where("to_id", "=", to);
  const rows = await read(() => query.orderBy("made_at", "desc").limit(MAX_SEARCHED).execute());
  return rows
    .flatMap((row) => fromNotificationRow(row, findings) ?? [])
    .filter(({ post }) => post.type === "up" && post.ts === ts)
    .toSorted((a, b) => a.entry - b.entry);
}

const waiting = (db: Database) => db.selectFrom("notifications").where("to_do", "=", TO_DO);

/** A literal, as in the index. If the value is bound, SQLite compiles the query again for every execution. */
const TO_DO = sql.lit<1>(1);

async function firstWanted(
  db: Database,
  findings: Pick<Findings, "report">,
  ...[limit, isWanted = () => true]: Parameters<NotificationStore["notifications"]>
): Promise<readonly Notification[]> {
  const wanted: Notification[] = [];
  for await (const row of rowsToDo(db)) {
    const notification = fromNotificationRow(row, findings);
    if (notification !== null && isWanted(notification)) wanted.push(notification);
    if (wanted.length >= limit) break;
  }
  return wanted;
}

/** How many rows are read before other work gets its turn. */
const READ_AT_ONCE = 500;

/** Yields rows of known kinds in the order of `IN_ORDER`. One query is enough if few wait, as in almost every round of the outbox. */
async function* rowsToDo(db: Database): AsyncGenerator<NotificationRow> {
  const oldest = waiting(db).selectAll().orderBy("made_at").orderBy("id");
  const first = await read(() => oldest.limit(READ_AT_ONCE).execute());
  if (first.length < READ_AT_ONCE)
    for (const kinds of IN_ORDER) yield* first.filter(({ kind }) => kinds.includes(kind));
  else for (const kinds of IN_ORDER) yield* pagesOf(db, kinds);
}

async function* pagesOf(db: Database, kinds: readonly string[]): AsyncGenerator<NotificationRow> {
  const all = waiting(db).selectAll().where("kind", "in", kinds).orderBy("made_at").orderBy("id");
  for (let query = all; ;) {
    const rows = await read(() => query.limit(READ_AT_ONCE).execute());
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < READ_AT_ONCE) break;
    query = all.where((is) => is(is.refTuple("made_at", "id"), ">", is.tuple(last.made_at, last.id)));
    await setImmediate();
  }
}

/** The bound leaves out rows without a possible entry number. SQLite sorts text after all numbers. */
function strange(db: Database, limit: number) {
  const all = waiting(db).select(["id", "entry"]).where("kind", "not in", KNOWN);
  return all.where("entry", "<=", LAST_SEQ).orderBy("made_at").limit(limit);
}

type Evidence = { readonly key: AuditKey; readonly findings: Pick<Findings, "report"> };

async function dispute(
  trx: Trx,
  { key, findings }: Evidence,
  id: Notification["id"],
  entry: AuditEntry,
): Promise<"disputed" | Undo<"known">> {
  const marks = trx.updateTable("notifications").set({ disputed: 1 }).where("id", "=", id);
  const marked = await marks.executeTakeFirst();
  if (marked.numUpdatedRows === 0n) return new Undo("known");
  await takeAuditLock(trx);
  const known = await firstDispute(trx, key, entry, (finding) => findings.report(finding));
  if (known !== null) return new Undo("known");
  await appendAudit(trx, [entry], key);
  return "disputed";
}

/** The maximum number of rows that are tried. An honest audit has one for each decision on the approval. */
const MAX_TRIED = 100;

/**
 * Asks the audit, because anyone with the database can set the mark of a notification. Only a proven entry of the same person counts, because
 * a second alarm is better than none. `onForged` is for a caller that holds the audit's lock: to others, an entry that is just being archived
 * looks forged.
 */
async function firstDispute(
  db: Database,
  key: AuditKey,
  report: Report,
  onForged?: (finding: Finding) => void,
): Promise<KeptEntry["entry"] | null> {
  const prove = createReadableProof(db, key);
  for (const { seq } of await read(() => disputesOf(db, report).execute())) {
    const proven = await prove(seq);
    if (proven?.ok === false) onForged?.(proven.finding);
    if (proven?.ok !== true) continue;
    const { entry } = proven.kept;
    const isSame = entry.what === "disputed" && entry.refers === report.refers;
    if (isSame && isSameJson(entry.by, report.by)) return entry;
  }
  return null;
}

/**
 * Finds the later disputes of decisions on the same approval. Written so that no engine scans all disputes: the few of one approval have an
 * index.
 */
export function disputesOf(db: Database, { run, approval, refers = 0 }: Report) {
  const rows = db.selectFrom("audit").select("seq").where("run", "=", run).where("approval", "=", approval);
  const later = rows.where("seq", ">", refers).where("seq", "<=", LAST_SEQ);
  return later
    .where(sql`what || ''`, "=", "disputed")
    .orderBy("seq")
    .limit(MAX_TRIED);
}

// Converts notifications to rows and back. The rows are not sealed, because the content is read from the audit.

const KINDS: { readonly [Kind in Notification["kind"]]: true } = {
  receipt: true,
  "receipt-at-once": true,
  dispute: true,
  head: true,
  tampering: true,
  redaction: true,
  freeze: true,
  answered: true,
  expired: true,
  "look-back": true,
};
const KNOWN = Object.keys(KINDS);
/** Alarms first, and receipts that may share a message last. */
const IN_ORDER: readonly (readonly string[])[] = [
  ALARMS,
  KNOWN.filter((kind) => kind !== "receipt" && !ALARMS.some((alarm) => alarm === kind)),
  ["receipt"],
];

const addressed: Doc<Omit<Notification, "post">> = record<Omit<Notification, "post">>({
  id: id(Nonce),
  kind: word(KINDS),
  entry: number,
  to: either(id(UserId), id(ChannelId)),
  madeAt: number,
});

function toNotificationRow({ id, kind, entry, to, madeAt, post }: Notification): NotificationRow {
  return { id, kind, entry, to_id: to, made_at: madeAt, to_do: 1, disputed: 0, post: JSON.stringify(post) };
}

/**
 * Returns null, and reports it, if the row does not say what it is or who gets it. A kind that this release does not know is not reported: a
 * newer release may have added it, in another replica.
 */
function fromNotificationRow(
  row: NotificationRow,
  { report }: Pick<Findings, "report">,
): Notification | null {
  const { id, kind, entry, to_id: to, made_at: madeAt } = row;
  if (!KNOWN.includes(kind)) return null;
  const facts = addressed.safeParse({ id, kind, entry, to, madeAt });
  const post = postOf(row);
  if (!facts.success || post === null) report(brokenNotification(row));
  return facts.success ? { ...facts.data, post: post ?? LOST } : null;
}

/** For a notification whose progress is unknown. It counts as sent once: we look for it, and send it if it is not there. */
const LOST: PostedMessage = { type: "unsure", lookAt: 0, tries: 1 };

function postOf({ id, post }: NotificationRow): PostedMessage | null {
  try {
    return postedMessage.parse(parsedJson(`notification ${id}`, post));
  } catch {
    return null;
  }
}
