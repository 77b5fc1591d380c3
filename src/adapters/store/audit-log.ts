// Reads the audit. append-audit.ts writes it, and stored-notifications.ts stores what follows from it.

import { sql } from "kysely";
import { askedColumn } from "../../domain/audit/verify-chain.ts";
import { RunId, type RunKey } from "../../domain/ids.ts";
import type { AuditEntry } from "../../audit/entry.ts";
import type { NotificationStore } from "../../ports/notification.ts";
import type { AuditEvidence, AuditLog } from "../../ports/audit-store.ts";
import { LAST_SEQ } from "../../domain/audit/hash-chain.ts";
import { appendAudit, chainedEntry, keptEntry, newest, takeAuditLock } from "./append-audit.ts";
import { linkOf } from "./archive-bounds.ts";
import type { AuditKey } from "./audit-key.ts";
import { createProof, createReadableProof } from "./check-audit.ts";
import { type AuditRow, type Database, read, type Trx, Undo, write } from "./database.ts";
import type { Findings } from "./seals.ts";
import { createNotifications } from "./stored-notifications.ts";

/** The maximum number of entries of one run that are returned. No run has that many. */
const MAX_PER_RUN = 100_000;

type Evidence = Pick<AuditEvidence, "auditProof" | "auditRows" | "auditLink">;
type AuditAndNotifications = Omit<AuditLog, "settledAfter"> & Evidence & NotificationStore;

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

/** Appends the entry unless the same week or a later one is recorded. The lock lets only one of several writers add it. */
async function appendOnce(
  trx: Trx,
  entry: AuditEntry & { readonly until: number },
  key: AuditKey,
): Promise<"added" | Undo<"known">> {
  await takeAuditLock(trx);
  if ((await newestUntil(trx, entry, key)) >= entry.until) return new Undo("known");
  await appendAudit(trx, [entry], key);
  return "added";
}

/** The number of rows of one kind that are searched for one that this program wrote. */
const MAX_TRIED = 20;

/**
 * Skips rows that are not proven or cannot be read, and weeks that end later than `now`, so that neither a forged row nor a moment of a wrong
 * wall clock keeps a week from being recorded.
 */
async function newestUntil(trx: Trx, { what, at: now }: AuditEntry, key: AuditKey): Promise<number> {
  const prove = createReadableProof(trx, key);
  const rows = trx.selectFrom("audit").select("seq").where("what", "=", what).where("seq", "<=", LAST_SEQ);
  for (const { seq } of await rows.orderBy("seq", "desc").limit(MAX_TRIED).execute()) {
    const proven = await prove(seq);
    if (proven?.ok !== true) continue;
    const { until = 0 } = proven.kept.entry;
    if (until <= now) return until;
  }
  return 0;
}

type Reading = Omit<AuditLog, "audit" | "auditOnce" | "provenEntry" | "settledAfter">;

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
    async numbersAfter(seq, what, limit) {
      const rows = db.selectFrom("audit").select(["seq", "link", "what", "at"]).where("seq", "<=", LAST_SEQ);
      const query = rows.where("seq", ">", seq).where("what", "in", what).orderBy("seq").limit(limit);
      return (await read(() => query.execute())) as Awaited<ReturnType<AuditLog["numbersAfter"]>>;
    },
    async auditEntry(seq) {
      const row = await read(() => entries().where("seq", "=", seq).executeTakeFirst());
      return row === undefined ? null : keptEntry(row);
    },
    decidedBefore: async (asked, limit) =>
      (await read(() => decidedBefore(db, asked, limit).execute())).map(({ seq }) => seq),
    auditOfRun: async (id) => (await read(() => ofRun(db, id))).map(keptEntry),
    async auditHead() {
      const head = await read(() => newest(db));
      return head === null ? null : { seq: head.seq, link: head.link };
    },
    async auditText(digest) {
      const query = db.selectFrom("audit_texts").select("text").where("digest", "=", digest);
      return (await read(() => query.executeTakeFirst()))?.text ?? null;
    },
  };
}

/** Also finds, by the run's key, entries from before the service gave the run an id. */
async function ofRun(db: Database, id: string): Promise<readonly Pick<AuditRow, "seq" | "link" | "entry">[]> {
  const runs = db.selectFrom("audit").select("run").distinct().where("run_id", "=", RunId(id));
  const keys = (await runs.execute()).flatMap(({ run }) => (run === null ? [] : [run]));
  return entriesOfRuns(db, id, keys).execute();
}

/** Its conditions are plain values, because PostgreSQL uses no index for an `or` with a subquery. */
export function entriesOfRuns(db: Database, id: string, keys: readonly RunKey[]) {
  return db
    .selectFrom("audit")
    .select(["seq", "link", "entry"])
    .where((eb) => eb.or([eb("run", "in", [id as RunKey, ...keys]), eb("run_id", "=", RunId(id))]))
    .where("seq", "<=", LAST_SEQ)
    .orderBy("seq")
    .limit(MAX_PER_RUN);
}

/** Finds earlier decisions on the same request by an index, so the time does not grow with the length of the audit. */
export function decidedBefore(
  db: Database,
  { verdict, digest, since }: Parameters<AuditLog["decidedBefore"]>[0],
  limit: number,
) {
  return db
    .selectFrom("audit")
    .select("seq")
    .where("asked", "=", askedColumn(verdict, digest))
    .where("seq", "<=", LAST_SEQ)
    .where("at", ">=", since)
    .where((eb) => {
      const disputes = eb.selectFrom("audit as dispute").select("dispute.seq");
      const same = disputes
        .whereRef("dispute.run", "=", "audit.run")
        .whereRef("dispute.approval", "=", "audit.approval");
      // Written so that no engine scans all disputes: the few of one approval have an index.
      return eb.not(eb.exists(same.where(sql`dispute.what || ''`, "=", "disputed")));
    })
    .orderBy("seq", "desc")
    .limit(limit);
}
