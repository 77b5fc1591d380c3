// The embedded engine: node:sqlite behind Kysely's SQLite dialect, with a lock on the database and a check of its file. Apart from the
// lock, the back-up and the copies, no other file uses the driver.

import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import {
  Kysely,
  type LimitNode,
  sql,
  type SqliteDatabase,
  SqliteDialect,
  SqliteQueryCompiler,
  type SqliteStatement,
  ValueNode,
} from "kysely";
import { PortError } from "../../ports.ts";
import { type Engine, FOREIGN, WrongDatabase } from "./schema.ts";
import { reasonOf } from "./faults.ts";
import { isMissing } from "./refuse-unreadable.ts";
import { lockFile, NO_LOCK, type ProcessLock, takeLock } from "./process-lock.ts";
import type { Database, Tables } from "./database.ts";

const refuses = (table: string, change: "update" | "delete", unless = ""): string =>
  `create trigger ${table}_refuses_${change} before ${change} on ${table} ${unless} begin select raise(abort, '${table} is append-only'); end`;

const UNLESS_REDACTED = `when not exists (
  select 1 from audit where what = 'redacted' and json_extract(entry, '$.digest') = old.digest)`;

export const SQLITE: Engine = {
  appendOnly: (table) => [refuses(table, "update"), refuses(table, "delete")],
  textsAppendOnly: [refuses("audit_texts", "update"), refuses("audit_texts", "delete", UNLESS_REDACTED)],
  removing: {
    begin: ["drop trigger audit_refuses_delete", "drop trigger audit_texts_refuses_delete"],
    end: [refuses("audit", "delete"), refuses("audit_texts", "delete", UNLESS_REDACTED)],
  },
  timeOf: (now) => sql<number>`cast(${now} as bigint)`,
  lockSchema: null,
  tables: "select name from sqlite_schema where type = 'table'",
};

/** Marks a file as ours ("CSgn"), so that we never touch another program's database. */
const APPLICATION_ID = 0x43_53_67_6e;
/** How long to wait for another process to release the database (ms). At a restart the old process may still be stopping. */
const LOCK_WAIT_MS = 1_000;
/** How long to wait for another program that writes to the file (ms). The wait blocks the event loop. */
const BUSY_MS = 200;
/** The number of prepared statements that we keep. There are about forty queries; lists and limits that vary add more. */
const MAX_STATEMENTS = 200;

/**
 * Opens the database, and creates the file if necessary. `onEmpty` can throw if there is no file or no table in it; then nothing is written
 * to it. Throws if the file cannot be used, or if another process uses it.
 */
export function openSqlite(path: string, onEmpty: () => void = () => undefined): Database {
  const file = path === ":memory:" ? path : resolve(path);
  if (file === ":memory:") return openFile(file, NO_LOCK);
  // SQLite deletes the write-ahead log of a file of 0 bytes, so this comes before it opens the file.
  if (isMissing(file)) onEmpty();
  createFile(file);
  const lock = takeLock(file, LOCK_WAIT_MS);
  try {
    return openFile(file, lock, onEmpty);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openFile(file: string, lock: ProcessLock, onEmpty: () => void = () => undefined): Database {
  const raw = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    if (isEmpty(raw)) onEmpty();
    prepareFile(raw);
    if (file !== ":memory:") closeToOthers(file);
    const checkSameFile = file === ":memory:" ? () => undefined : watchFile(file);
    const database = adaptDriver(raw, { lock, checkSameFile });
    return new Kysely<Tables>({ dialect: new LiteralLimitDialect({ database }) });
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Opens a copy that no other process uses. Locks, creates and migrates nothing. Throws if another program has written the file. */
export function openCopy(file: string): Database {
  const raw = new DatabaseSync(file);
  try {
    if (!isOurs(raw) && !isEmpty(raw)) throw new WrongDatabase(FOREIGN);
    return new Kysely<Tables>({ dialect: new LiteralLimitDialect({ database: adaptDriver(raw) }) });
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Writes limits into the text of each query. If a limit is bound, SQLite compiles the query again for every execution. */
class LiteralLimitDialect extends SqliteDialect {
  override createQueryCompiler(): SqliteQueryCompiler {
    return new LiteralLimitCompiler();
  }
}

class LiteralLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const value = ValueNode.is(node.limit) ? node.limit.value : null;
    if (Number.isSafeInteger(value)) this.append(`limit ${String(value)}`);
    else super.visitLimit(node);
  }
}

/** Rewrites the whole file, so that no free page keeps removed bytes. Resolves to why this failed, or to null. */
export async function rewriteFile(db: Database): Promise<string | null> {
  try {
    await sql`vacuum`.execute(db);
    return null;
  } catch (error) {
    return reasonOf(error);
  }
}

const isOurs = (raw: DatabaseSync): boolean =>
  raw.prepare("pragma application_id").get()?.["application_id"] === APPLICATION_ID;

const isEmpty = (raw: DatabaseSync): boolean =>
  raw.prepare("select 1 from sqlite_schema").get() === undefined;

/** Creates the file for its owner only. SQLite gives its side files (-wal, -shm) the same mode. */
function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
}

function closeToOthers(file: string): void {
  for (const path of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(path)) chmodSync(path, 0o600);
}

/** Claims an empty file for Countersign. `synchronous = full` flushes every commit; macOS needs `fullfsync` for a real flush. */
function prepareFile(raw: DatabaseSync): void {
  if (!isOurs(raw) && !isEmpty(raw)) throw new WrongDatabase(FOREIGN);
  raw.exec("pragma journal_mode = wal; pragma synchronous = full; pragma fullfsync = on");
  raw.exec("pragma foreign_keys = on; pragma trusted_schema = off");
  raw.exec(`begin immediate; pragma application_id = ${APPLICATION_ID}; commit`);
}

type Guards = { readonly lock: ProcessLock; readonly checkSameFile: CheckSameFile };
const UNGUARDED: Guards = { lock: NO_LOCK, checkSameFile: () => undefined };

function adaptDriver(raw: DatabaseSync, { lock, checkSameFile }: Guards = UNGUARDED): SqliteDatabase {
  const prepared = new Map<string, SqliteStatement>();
  return {
    close: () => {
      raw.close();
      lock.release();
    },
    prepare(sql) {
      const known = prepared.get(sql);
      if (known !== undefined) return known;
      if (prepared.size >= MAX_STATEMENTS) prepared.clear();
      const statement = guardStatement(adaptStatement(raw, sql), sql, { raw, checkSameFile });
      prepared.set(sql, statement);
      return statement;
    },
  };
}

type StatementGuards = { readonly raw: DatabaseSync; readonly checkSameFile: CheckSameFile };

/**
 * Checks the file before and after a commit, so that we acknowledge nothing that went into a deleted file. After a full disk SQLite has
 * already rolled back by itself. A second rollback would fail and hide the first error.
 */
function guardStatement(
  statement: SqliteStatement,
  sql: string,
  { raw, checkSameFile }: StatementGuards,
): SqliteStatement {
  if (/^rollback$/i.test(sql))
    return { ...statement, run: (parameters) => (raw.isTransaction ? statement.run(parameters) : NOTHING) };
  const isBegin = /^begin\b/i.test(sql);
  const isCommit = /^commit\b/i.test(sql);
  if (!isBegin && !isCommit) return statement;
  const run: SqliteStatement["run"] = (parameters) => {
    checkSameFile("no");
    const result = statement.run(parameters);
    if (isCommit) checkSameFile("maybe");
    return result;
  };
  return { ...statement, run };
}

const NOTHING = { changes: 0, lastInsertRowid: 0 };

function adaptStatement(raw: DatabaseSync, sql: string): SqliteStatement {
  const statement = raw.prepare(sql);
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => rowsOf(statement, sql, values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}

/**
 * Reads a number beyond 2^53 as the nearest number in JavaScript. The driver would refuse the whole row. We never write such a number, so the
 * check of the row reports it. Only a `select` is tried without this first, because a statement that writes must not run twice.
 */
function rowsOf(statement: StatementSync, sql: string, values: SQLInputValue[]): unknown[] {
  if (/^\s*select\b/i.test(sql))
    try {
      return statement.all(...values);
    } catch (error) {
      if (!isTooLarge(error)) throw error;
    }
  statement.setReadBigInts(true);
  try {
    return statement.all(...values).map(withNumbers);
  } finally {
    statement.setReadBigInts(false);
  }
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";

const withNumbers = (row: object): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]),
  );

// Checks that the path still leads to the database file that we opened. The system keeps a deleted or replaced file until we close it, so
// writes would succeed and then be lost. Each transaction therefore checks that the next start will find the file that it writes to.

/** What is open is the only copy, and the system deletes it when the process ends. */
export const FILE_GONE = "its file was deleted or replaced while Countersign was running";
/** The database is in place. */
export const LOCK_GONE =
  "its lock file was deleted or replaced while Countersign was running; restart Countersign";

/** Throws a PortError if the path leads to another file. `applied` says whether the current work may have been stored. */
type CheckSameFile = (applied: "no" | "maybe") => void;

function watchFile(file: string): CheckSameFile {
  const [id, lockId] = [idOf(file), idOf(lockFile(file))];
  let logId: string | null = null;
  return (applied) => {
    // SQLite creates the log with the first write, and keeps it while the database is open.
    logId ??= idOf(`${file}-wal`);
    const isLogOurs = logId === null || idOf(`${file}-wal`) === logId;
    const isFileOurs = isLogOurs && idOf(file) === id;
    if (isFileOurs && idOf(lockFile(file)) === lockId) return;
    const words = isFileOurs ? LOCK_GONE : FILE_GONE;
    throw new PortError(`the database failed: ${words}`, { applied, retry: "later", code: "store_gone" });
  };
}

function idOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}
