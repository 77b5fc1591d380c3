// Copies the database while the bot keeps running. SQLite's own backup reads one consistent state. The copy gets its name only after it was
// checked and flushed to the disk, so a file with that name is a complete backup.

import { chmodSync, closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { parsedEntry } from "../../domain/audit/verify-chain.ts";
import { BACKUP_MARK, EARLIER_MARK } from "../../ports/store.ts";
import { auditIn, type AuditFile } from "./audit-file.ts";
import { isNoEntry, uncopied, unusable } from "./faults.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";
import { refuseEmpty, schemaVersion, WrongDatabase } from "./schema.ts";
import { openCopy, SQLITE } from "./sqlite.ts";
import { syncFolderOf } from "./sync-folder.ts";
import { ALL_PAGES } from "./examine-database.ts";
import type { Database } from "./database.ts";

export type BackedUp = {
  readonly schema: number;
  readonly runs: { readonly all: number; readonly unfinished: number };
  readonly bytes: number;
};

/**
 * Copies the database to the new file `file` at the wall time `at` (ms), without a lock that a bot takes. `check` examines the audit of the
 * copy. If it rejects, or anything else fails, no file is left. Rejects with one line for the operator; the cause is the original error.
 */
export async function backUp(
  database: string,
  file: string,
  { at, check }: { readonly at: number; readonly check: (audit: AuditFile) => Promise<void> },
): Promise<BackedUp> {
  const partial = `${file}.partial`;
  reserve(file, partial);
  const discard = (): void => {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) rmSync(partial + suffix, { force: true });
  };
  process.once("exit", discard);
  try {
    await copyPages(database, partial);
    const found = await examine(partial, at, check);
    flush(partial);
    refuseExisting(file);
    renameSync(partial, file);
    syncFolderOf(file);
    return found;
  } catch (error) {
    if (error instanceof WrongDatabase) throw unusable(database, error);
    throw error instanceof NotRead ? unusable(database, error.cause) : uncopied(file, error);
  } finally {
    discard();
    process.off("exit", discard);
  }
}

/** The database itself cannot be read or is damaged. `cause` says why. */
class NotRead extends Error {}

function refuseExisting(file: string): void {
  if (existsSync(file)) throw new Error("there is already a file of this name; name another file");
}

function reserve(file: string, partial: string): void {
  try {
    refuseExisting(file);
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    if (isNoEntry(error)) throw uncopied(file, new Error("its folder does not exist"));
    throw uncopied(file, isThere(error) ? new Error(alreadyBegun(partial)) : error);
  }
}

const isThere = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "EEXIST";

const alreadyBegun = (partial: string): string =>
  `${partial} exists: another backup is writing it now, or one was interrupted. If none is running, remove that file`;

/** With the write-ahead log, readers and writers do not block each other. */
async function copyPages(database: string, partial: string): Promise<void> {
  const raw = openSource(database);
  try {
    await backup(raw, partial, { rate: ALL_PAGES });
  } finally {
    raw.close();
  }
}

function openSource(database: string): DatabaseSync {
  try {
    refuseUnreadable(database);
    // A read-only connection would leave SQLite's side files (-wal, -shm) beside a database that no bot uses.
    const raw = new DatabaseSync(database);
    raw.exec("pragma query_only = on");
    raw.prepare("select 1 from sqlite_schema").get();
    return raw;
  } catch (error) {
    throw new NotRead("", { cause: error });
  }
}

async function examine(
  partial: string,
  at: number,
  check: (audit: AuditFile) => Promise<void>,
): Promise<BackedUp> {
  chmodSync(partial, 0o600);
  const db = openCopy(partial);
  try {
    // One file, without a write-ahead log.
    await sql`pragma journal_mode = delete`.execute(db);
    await refuseDamaged(db);
    await refuseEmpty(db, SQLITE);
    await putMark(db, at);
    await check(auditIn({ db, engine: SQLITE, close: () => Promise.resolve() }));
    const counted = sql<{ total: number; unfinished: number }>`
      select count(*) as total, coalesce(sum(1 - finished), 0) as unfinished from runs`;
    const { total = 0, unfinished = 0 } = (await counted.execute(db)).rows[0] ?? {};
    const schema = await schemaVersion(db, SQLITE);
    return { schema, runs: { all: total, unfinished }, bytes: statSync(partial).size };
  } finally {
    await db.destroy();
  }
}

const damaged = (how: string): Error =>
  new NotRead("", {
    cause: new Error(`it is damaged (${how}), so nothing was copied; restore an earlier copy`),
  });

async function refuseDamaged(db: Database): Promise<void> {
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check(1)`.execute(db);
  if (rows[0]?.integrity_check !== "ok") throw damaged("its pages are not consistent");
  const { rows: strays } = await sql`pragma foreign_key_check`.execute(db);
  if (strays.length > 0) throw damaged("rows refer to rows that are gone");
}

/**
 * Marks the copy as made at `at`. A copy of a copy that was never started keeps the mark that it has, because its content is as old. If the
 * work of an earlier restore is unfinished, that restore's mark is kept too.
 */
async function putMark(db: Database, at: number): Promise<void> {
  const earlier = await timeIn(db, BACKUP_MARK);
  if (earlier === null) return putTimes(db, at, null);
  const before = await timeIn(db, EARLIER_MARK);
  if (!(await isRestoreRecorded(db, earlier))) return putTimes(db, Math.min(earlier, at), before);
  return putTimes(db, at, Math.min(earlier, before ?? earlier));
}

async function timeIn(db: Database, name: string): Promise<number | null> {
  const row = await db.selectFrom("documents").select("doc").where("name", "=", name).executeTakeFirst();
  const time = Number.parseFloat(row?.doc ?? "");
  return Number.isFinite(time) ? time : null;
}

async function putTimes(db: Database, mark: number, earlier: number | null): Promise<void> {
  for (const [name, time] of [
    [BACKUP_MARK, mark],
    [EARLIER_MARK, earlier],
  ] as const) {
    const doc = JSON.stringify(time);
    const added = db.insertInto("documents").values({ name, doc });
    await added.onConflict((conflict) => conflict.column("name").doUpdateSet({ doc })).execute();
  }
}

/** Tests whether the first start on the copy of this time has begun its work. */
async function isRestoreRecorded(db: Database, copiedAt: number): Promise<boolean> {
  const rows = await db.selectFrom("audit").select("entry").where("what", "=", "restored").execute();
  return rows.some(({ entry }) => parsedEntry(entry)?.["since"] === copiedAt);
}

function flush(path: string): void {
  const opened = openSync(path, "r+");
  try {
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
