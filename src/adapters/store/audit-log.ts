// Reads the audit, and reads and stores the notifications that follow from it. append-audit.ts writes.

import type { AuditEntry } from "../../audit/entry.ts";
import { ChannelId, Nonce, RunId, UserId } from "../../domain/ids.ts";
import type { PostedMessage } from "../../domain/posted-message.ts";
import type { Notification } from "../../ports/notification.ts";
import type { AuditEvidence, AuditLog, NotificationStore } from "../../ports/store.ts";
import { appendAudit, appendOnce, chainedEntry, keptEntry, LAST_SEQ } from "./append-audit.ts";
import { linkOf } from "./archive-bounds.ts";
import type { AuditKey } from "./audit-key.ts";
import { createProof } from "./check-audit.ts";
import { decidedBefore } from "./find-precedents.ts";
import { type Database, inBatches, type NotificationRow, read, type Trx, Undo, write } from "./database.ts";
import { type Doc, either, id, number, record, word } from "./document-shape.ts";
import { postedMessage } from "./run-document.ts";
import { parsedJson } from "./run-row.ts";
import { brokenNotification, type Findings } from "./seals.ts";

/** Most entries of one run that are handed out at once; no run has as many. */
const MOST_OF_A_RUN = 100_000;

type Evidence = Pick<AuditEvidence, "auditProof" | "auditRows" | "auditLink">;
type AuditAndNotifications = AuditLog & Evidence & NotificationStore;

export function createAuditLog(
  db: Database,
  key: AuditKey,
  findings: Pick<Findings, "report">,
): AuditAndNotifications {
  return {
    ...createReading(db),
    ...createRowReading(db),
    ...createNotifications(db, key, findings),
    provenEntry: createProof(db, key),
    auditOnce: (entry) => write(db, (trx) => appendOnce(trx, entry, key)),
    audit: async (entries) => void (await write(db, (trx) => appendAudit(trx, entries, key))),
  };
}

type Reading = Omit<AuditLog, "audit" | "auditOnce" | "provenEntry">;

function createRowReading(db: Database): Evidence {
  return {
    async auditRows(after, limit) {
      const rows = db.selectFrom("audit").selectAll().where("seq", ">", after).where("seq", "<=", LAST_SEQ);
      return (await read(() => rows.orderBy("seq").limit(limit).execute())).map(chainedEntry);
    },
    auditLink: (seq) => read(() => linkOf(db, seq)),
    async auditProof(seq) {
      const query = db.selectFrom("audit").select(["entry", "key", "signature"]);
      const row = await read(() => query.where("seq", "=", seq).executeTakeFirst());
      if (row === undefined) return null;
      const { entry: text, ...proof } = row;
      return { text, ...proof };
    },
  };
}

function createReading(db: Database): Reading {
  const entries = () => db.selectFrom("audit").select(["seq", "link", "entry"]).where("seq", "<=", LAST_SEQ);
  return {
    async auditAfter(seq, what, limit) {
      const query = entries().where("seq", ">", seq).where("what", "in", what).orderBy("seq").limit(limit);
      return (await read(() => query.execute())).map(keptEntry);
    },
    async auditEntry(seq) {
      const row = await read(() => entries().where("seq", "=", seq).executeTakeFirst());
      return row === undefined ? null : keptEntry(row);
    },
    async settledAfter(seq, run, approval) {
      const about = entries().where("run", "=", run).where("approval", "=", approval);
      const query = about.where("seq", ">", seq).where("what", "=", "settled").orderBy("seq");
      return (await read(() => query.limit(MOST_OF_A_RUN).execute())).map(keptEntry);
    },
    decidedBefore: async (asked, limit) =>
      (await read(() => decidedBefore(db, asked, limit).execute())).map(({ seq }) => seq),
    auditOfRun: async (id) => (await read(() => ofRun(db, id))).map(keptEntry),
    async auditHead() {
      const row = await read(() => entries().orderBy("seq", "desc").limit(1).executeTakeFirst());
      return row === undefined ? null : keptEntry(row);
    },
    async auditText(digest) {
      const query = db.selectFrom("audit_texts").select("text").where("digest", "=", digest);
      return (await read(() => query.executeTakeFirst()))?.text ?? null;
    },
  };
}

/** Entries from before the service gave the run an id are found by the run's key. */
function ofRun(db: Database, id: string) {
  const keys = db
    .selectFrom("audit")
    .select("run")
    .where("run_id", "=", RunId(id))
    .where("run", "is not", null);
  return db
    .selectFrom("audit")
    .select(["seq", "link", "entry"])
    .where((eb) =>
      eb.or([eb("run", "=", id as never), eb("run_id", "=", id as never), eb("run", "in", keys)]),
    )
    .where("seq", "<=", LAST_SEQ)
    .orderBy("seq")
    .limit(MOST_OF_A_RUN)
    .execute();
}

function createNotifications(
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
    async notifications(limit) {
      const rows = await read(() => toDo(db, limit).execute());
      return rows.flatMap((row) => fromNotificationRow(row, findings) ?? []);
    },
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
    dispute: (id, entry) => write(db, (trx) => dispute(trx, key, id, entry)),
  };
}

/** Most notifications of one person or channel, the newest first, among which those of one message are looked for. */
const LOOKED_THROUGH = 2_000;

async function notificationsIn(
  db: Database,
  findings: Pick<Findings, "report">,
  ...[to, ts]: Parameters<NotificationStore["notificationsIn"]>
): Promise<readonly Notification[]> {
  const query = db.selectFrom("notifications").selectAll().where("to_id", "=", to);
  const rows = await read(() => query.orderBy("made_at", "desc").limit(LOOKED_THROUGH).execute());
  return rows
    .flatMap((row) => fromNotificationRow(row, findings) ?? [])
    .filter(({ post }) => post.type === "up" && post.ts === ts)
    .toSorted((a, b) => a.entry - b.entry);
}

function toDo(db: Database, limit: number) {
  const all = db.selectFrom("notifications").selectAll().where("to_do", "=", 1);
  return all
    .orderBy((is) => is("kind", "=", "receipt"))
    .orderBy("made_at")
    .limit(limit);
}

async function dispute(
  trx: Trx,
  key: AuditKey,
  id: Notification["id"],
  entry: AuditEntry,
): Promise<"disputed" | Undo<"known">> {
  const marked = await trx
    .updateTable("notifications")
    .set({ disputed: 1 })
    .where("id", "=", id)
    .where("disputed", "=", 0)
    .executeTakeFirst();
  if (marked.numUpdatedRows === 0n) return new Undo("known");
  await appendAudit(trx, [entry], key);
  return "disputed";
}

// Notifications as rows, and back. Their rows are not sealed: what they tell is read from the audit.

const addressed: Doc<Omit<Notification, "post">> = record<Omit<Notification, "post">>({
  id: id(Nonce),
  kind: word({
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
  }),
  entry: number,
  to: either(id(UserId), id(ChannelId)),
  madeAt: number,
});

function toNotificationRow({ id, kind, entry, to, madeAt, post }: Notification): NotificationRow {
  return { id, kind, entry, to_id: to, made_at: madeAt, to_do: 1, disputed: 0, post: JSON.stringify(post) };
}

/** Null: nobody can tell what it is or to whom it goes. That is reported, and the others go on. */
function fromNotificationRow(
  row: NotificationRow,
  { report }: Pick<Findings, "report">,
): Notification | null {
  const { id, kind, entry, to_id: to, made_at: madeAt } = row;
  const facts = addressed.safeParse({ id, kind, entry, to, madeAt });
  const post = postOf(row);
  if (!facts.success || post === null) report(brokenNotification(row));
  return facts.success ? { ...facts.data, post: post ?? LOST } : null;
}

/** How far it came is not known: it counts as sent once, is looked for, and sent when it is not there. */
const LOST: PostedMessage = { type: "unsure", lookAt: 0, tries: 1 };

function postOf({ id, post }: NotificationRow): PostedMessage | null {
  try {
    return postedMessage.parse(parsedJson(`notification ${id}`, post));
  } catch {
    return null;
  }
}
