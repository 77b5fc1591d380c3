// The embedded engine: node:sqlite behind Kysely's own SQLite dialect, with the lock and the watch on its file. No other file knows
// the driver.

import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  statSync,
} from "node:fs";
import { dirname, resolve } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { Kysely, sql, type SqliteDatabase, SqliteDialect, type SqliteStatement } from "kysely";
import { PortError } from "../../ports.ts";
import type { Engine } from "./schema.ts";
import { isBusy } from "./faults.ts";
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
  timeOf: (given) => sql<number>`cast(${given} as bigint)`,
  lockSchema: null,
  tables: "select name from sqlite_schema where type = 'table'",
};

/** Marks a file as ours ("CSgn"), so that we never touch another program's database. */
const APPLICATION_ID = 0x43_53_67_6e;
/** How long to wait until another process releases the database (ms): at a restart the old process may still be stopping. */
const LOCK_WAIT_MS = 1_000;
/** How long to wait for another program that writes to the file (ms). The wait stops the event loop. */
const BUSY_MS = 200;
/** How many prepared statements we keep. There are about forty queries; lists of varying length add more. */
const MAX_STATEMENTS = 200;

/** Throws if the file cannot be used, or another process uses it. */
export function openSqlite(path: string): Database {
  const file = path === ":memory:" ? path : resolve(path);
  if (file === ":memory:") return opened(file, NO_LOCK);
  createFile(file);
  const lock = takeLock(file, LOCK_WAIT_MS);
  try {
    return opened(file, lock);
  } catch (error) {
    lock.release();
    throw error;
  }
}

const NO_LOCK: ProcessLock = { release: () => undefined };

function opened(file: string, lock: ProcessLock): Database {
  const raw = new DatabaseSync(file, { timeout: BUSY_MS });
  try {
    prepareFile(raw);
    if (file !== ":memory:") closeToOthers(file);
    const sameFile = file === ":memory:" ? () => undefined : watchFile(file);
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapted(raw, { lock, sameFile }) }) });
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Opens a copy that no other process uses. It locks, creates and migrates nothing. Throws if the file is not ours. */
export function openCopy(file: string): Database {
  const raw = new DatabaseSync(file);
  try {
    if (!isOurs(raw)) throw new Error("it is the database of another program");
    return new Kysely<Tables>({ dialect: new SqliteDialect({ database: adapted(raw) }) });
  } catch (error) {
    raw.close();
    throw error;
  }
}

const isOurs = (raw: DatabaseSync): boolean =>
  raw.prepare("pragma application_id").get()?.["application_id"] === APPLICATION_ID;

/** SQLite gives its side files (-wal, -shm) the mode of the database file. */
function createFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (!existsSync(file)) closeSync(openSync(file, "a", 0o600));
}

function closeToOthers(file: string): void {
  for (const each of [file, `${file}-wal`, `${file}-shm`]) if (existsSync(each)) chmodSync(each, 0o600);
}

/**
 * The exclusive lock keeps out a second process. We take it here; it lasts until the process ends, in whatever way, and makes a
 * shared-memory file (-shm) unnecessary. FULL flushes every commit; macOS needs fullfsync for a real flush.
 */
function prepareFile(raw: DatabaseSync): void {
  const empty = raw.prepare("select 1 from sqlite_schema").get() === undefined;
  if (!isOurs(raw) && !empty) throw new Error("it is the database of another program");
  raw.exec("pragma journal_mode = wal; pragma synchronous = full; pragma fullfsync = on");
  raw.exec("pragma foreign_keys = on; pragma trusted_schema = off");
  raw.exec(`begin immediate; pragma application_id = ${APPLICATION_ID}; commit`);
}

type Guards = { readonly lock: ProcessLock; readonly sameFile: SameFile };
const UNGUARDED: Guards = { lock: NO_LOCK, sameFile: () => undefined };

function adapted(raw: DatabaseSync, { lock, sameFile }: Guards = UNGUARDED): SqliteDatabase {
  const ready = new Map<string, SqliteStatement>();
  return {
    close: () => {
      raw.close();
      lock.release();
    },
    prepare(sql) {
      const known = ready.get(sql);
      if (known !== undefined) return known;
      if (ready.size >= MAX_STATEMENTS) ready.clear();
      const statement = guarded(adaptedStatement(raw, sql), sql, { raw, sameFile });
      ready.set(sql, statement);
      return statement;
    },
  };
}

type Guarding = { readonly raw: DatabaseSync; readonly sameFile: SameFile };

/**
 * Checked before and after a commit, so that we acknowledge nothing that went into a deleted file. After a full disk SQLite has rolled
 * back by itself. A second rollback would fail and hide the first error.
 */
function guarded(statement: SqliteStatement, sql: string, { raw, sameFile }: Guarding): SqliteStatement {
  if (/^rollback$/i.test(sql))
    return { ...statement, run: (parameters) => (raw.isTransaction ? statement.run(parameters) : NOTHING) };
  const [begins, commits] = [/^begin\b/i.test(sql), /^commit\b/i.test(sql)];
  if (!begins && !commits) return statement;
  const run: SqliteStatement["run"] = (parameters) => {
    sameFile("no");
    const done = statement.run(parameters);
    if (commits) sameFile("maybe");
    return done;
  };
  return { ...statement, run };
}

const NOTHING = { changes: 0, lastInsertRowid: 0 };

function adaptedStatement(raw: DatabaseSync, sql: string): SqliteStatement {
  const statement = raw.prepare(sql);
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}

// One process per database. The lock is SQLite's own, on an empty file beside the database, so that the database itself can be
// read and backed up while the bot runs. The system takes the lock back when the process ends, however it ends.

/** Call `release` once. */
type ProcessLock = { readonly release: () => void };

export const lockFile = (database: string): string => `${database}.lock`;

/** Makes the file. Waits at most `waitMs`. Throws SQLite's error, "busy" when another process has the lock. */
function takeLock(database: string, waitMs: number): ProcessLock {
  const file = lockFile(database);
  // SQLite opens a file that it may not write to for reading only, and "exclusive" then keeps no other reader out.
  if (existsSync(file)) accessSync(file, constants.W_OK);
  const raw = new DatabaseSync(file, { timeout: waitMs });
  try {
    // Nothing is ever written here, so a journal on disk would only be one more file.
    raw.exec("pragma journal_mode = memory; begin exclusive");
    chmodSync(file, 0o600);
    return { release: () => raw.close() };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/**
 * For a reader, who makes no file. Null: a bot is using the database. Without a lock file no bot has ever used it; one that
 * starts for the first time at this moment is not noticed.
 */
export function lockIfFree(database: string): ProcessLock | null {
  if (!existsSync(lockFile(database))) return { release: () => undefined };
  try {
    return takeLock(database, 0);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

// Checks that the database file is still the one at its path. The system keeps a deleted or replaced file until we close it, so writes
// would succeed and then be lost. Each transaction therefore checks that the next start will find the file that it writes to.

/** Throws a PortError if the path leads to another file. `applied` says whether the work under way may have been stored. */
type SameFile = (applied: "no" | "maybe") => void;

function watchFile(file: string): SameFile {
  const opened = [file, lockFile(file)].map((path) => ({ path, id: idOf(path) }));
  let log: string | null = null;
  return (applied) => {
    // SQLite creates the log with the first write, and keeps it while the database is open.
    log ??= idOf(`${file}-wal`);
    const isLogOurs = log === null || idOf(`${file}-wal`) === log;
    if (isLogOurs && opened.every(({ path, id }) => idOf(path) === id)) return;
    throw new PortError("the database failed: its file was deleted or replaced while Countersign runs", {
      applied,
      retry: "later",
      code: "store_gone",
    });
  };
}

function idOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}
