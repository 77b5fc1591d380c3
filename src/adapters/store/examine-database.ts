// Examines what a start would find in the database, without changing it: creates no file beside it and migrates no schema. It reads the
// content from a copy in the temporary folder, and finds the process that has the database open.

import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { newest } from "./append-audit.ts";
import type { Database } from "./database.ts";
import { type Engine, schemaState, schemaVersion } from "./schema.ts";
import { isFree, lockFile, lockIfFree } from "./process-lock.ts";
import { isMissing, refuseUnreadable } from "./refuse-unreadable.ts";
import { openCopy, SQLITE } from "./sqlite.ts";
import { isDenied, isFull, isNoEntry, reasonOf, Unusable, unusable } from "./faults.ts";

export type DatabaseState = {
  /** `missing`: the first start creates it. `older`: the next start migrates its schema. */
  readonly type: "missing" | "older" | "current";
  /** The version of its schema. 0 if there is none. */
  readonly schema: number;
  /** The id of the key that signed the newest entry of its audit. Null if there is no entry. */
  readonly head: string | null;
  /** Whether no process has it locked. */
  readonly free: boolean;
  /** The process that has it locked, if the system reports its number (Linux). */
  readonly holder: number | null;
};

/** Rejects with one line for the operator if a start could not use the database. */
export async function examineDatabase(path: string): Promise<DatabaseState> {
  const file = resolve(path);
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there?.isDirectory() === true) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
    if (there?.isFile() === false) throw new Error("it is a device or a pipe, not a file");
    if (isMissing(file)) {
      accessSync(there === undefined ? existingFolder(file) : file, constants.R_OK | constants.W_OK);
      return { type: "missing", schema: 0, head: null, free: isFree(file), holder: lockHolder(file) };
    }
    refuseClosedFiles(file);
    const holder = lockHolder(file);
    return { ...(await contentState(file)), holder };
  } catch (error) {
    throw unusable(path, error, isDenied(error) ? closedFile(file) : undefined);
  }
}

/** A start writes to the files, creates others in their folder, and sets their modes, which only their owner and root may do. */
function refuseClosedFiles(file: string): void {
  accessSync(file, constants.R_OK | constants.W_OK);
  const closed = closedFile(file);
  if (closed !== undefined) throw new Error(closed);
  const me = process.getuid?.() ?? ROOT;
  const ours = [file, `${file}-wal`, `${file}-shm`, lockFile(file)].filter((each) => existsSync(each));
  const foreign = ours.find((each) => me !== ROOT && statSync(each).uid !== me);
  if (foreign !== undefined)
    throw new Error(`${foreign} belongs to user ${statSync(foreign).uid}, and this is user ${me}`);
}

const ROOT = 0;

async function contentState(file: string): Promise<Omit<DatabaseState, "holder">> {
  const copy = await copyDatabase(file);
  try {
    const db = openCopy(copy.file);
    try {
      const state = await stateOf(db, SQLITE);
      const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
      if (rows[0]?.quick_check !== "ok") throw new Error("it is damaged");
      return { ...state, free: copy.free };
    } finally {
      await db.destroy();
    }
  } finally {
    copy.remove();
  }
}

/** Resolves to what a start finds in the tables. Rejects if a newer program has written them. */
export async function stateOf(
  db: Database,
  engine: Engine,
): Promise<Pick<DatabaseState, "type" | "schema" | "head">> {
  const type = await schemaState(db, engine);
  const schema = await schemaVersion(db, engine);
  return { type, schema, head: schema === 0 ? null : ((await newest(db))?.key ?? null) };
}

/** Returns the folder of this file or, if that does not exist yet, the nearest existing parent. Throws if a part of the path is not a folder. */
export function existingFolder(file: string): string {
  const folder = dirname(resolve(file));
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return existingFolder(folder);
  if (!found.isDirectory()) throw Object.assign(new Error(`${folder} is not a folder`), { code: "ENOTDIR" });
  return folder;
}

// Finds the process that has the database open, as far as this machine can tell.

const LOCKS = "/proc/locks";

/**
 * Returns the process that has the file locked, or null if the system does not report it. Reads the kernel's list of file locks
 * (proc_locks(5)): SQLite's are POSIX locks, found by the file's inode. The list lacks the locks of processes outside our container.
 */
function lockHolder(file: string): number | null {
  const lock = lockFile(file);
  if (!existsSync(LOCKS) || !existsSync(lock)) return null;
  const { ino } = statSync(lock);
  for (const line of readFileSync(LOCKS, "utf8").split("\n")) {
    const [, pid, inode] = /\sPOSIX\s+\S+\s+\S+\s+(-?\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s/.exec(line) ?? [];
    if (inode === String(ino)) return Number(pid) > 0 ? Number(pid) : null;
  }
  return null;
}

/** Names the process when a second one is refused. It may be another Countersign, or any program that reads SQLite files. */
export async function usedBy(file: string): Promise<string> {
  const pid = lockHolder(file);
  if (pid !== null) return `process ${pid}${nameOf(pid)} is using it`;
  const owner = await lastOwner(file).catch(() => null);
  const last = owner === null ? "" : `; Countersign on ${owner.host}, process ${owner.pid}, opened it last`;
  return `another process is using it${last}`;
}

function nameOf(pid: number): string {
  try {
    return ` (${basename(readlinkSync(`/proc/${pid}/exe`))})`;
  } catch {
    return "";
  }
}

/** Names the first of our files that this user may not write to. SQLite says only that something cannot be written. */
export function closedFile(file: string): string | undefined {
  const ours = [file, `${file}-wal`, `${file}-shm`, lockFile(file), dirname(file)];
  return ours.map(whyClosed).find((each) => each !== undefined);
}

function whyClosed(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK);
    return undefined;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : "";
    if (code === "ENOENT") return undefined;
    return code === "EROFS" ? "the file system is read-only" : `this user may not write to ${path}`;
  }
}

/** An owner is "machine process", set by `open-ports.ts`, and a unique suffix, added by `open.ts`. */
async function lastOwner(file: string): Promise<{ host: string; pid: string } | null> {
  const copy = await copyDatabase(file);
  try {
    const db = openCopy(copy.file);
    const row = await db
      .selectFrom("owners")
      .select("owner")
      .orderBy("until", "desc")
      .limit(1)
      .executeTakeFirst();
    await db.destroy();
    const [, host = "", pid = ""] = /^(\S+) (\d+) \S+$/.exec(row?.owner ?? "") ?? [];
    return host === "" ? null : { host, pid };
  } finally {
    copy.remove();
  }
}

// Copies the database file for reading. While a bot uses it, SQLite's backup copies one consistent state. Otherwise we hold the lock and copy
// the bytes.

export type DatabaseCopy = { readonly file: string; readonly remove: () => void };

/** More pages than any database has. One step sees one state; a copy in several steps would start again at every commit. */
export const ALL_PAGES = 2 ** 30;

/** Rejects if there is no such file, or if it cannot be read. `free`: no process had the database locked. */
export async function copyDatabase(database: string): Promise<DatabaseCopy & { readonly free: boolean }> {
  refuseUnreadable(database);
  const { file, remove } = placeForCopy();
  try {
    return { file, remove, free: await copyTo(database, file) };
  } catch (error) {
    remove();
    throw isFull(error) ? noCopy(error) : error;
  }
}

/** Nothing of the copy outlives the process, even if a signal ends it early and the program then exits. */
function placeForCopy(): DatabaseCopy {
  const folder = temporaryFolder();
  const discard = (): void => rmSync(folder, { recursive: true, force: true });
  process.once("exit", discard);
  const remove = (): void => {
    process.off("exit", discard);
    discard();
  };
  return { file: join(folder, "copy.db"), remove };
}

function temporaryFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), "countersign-copy-"));
  } catch (error) {
    throw noCopy(error);
  }
}

/** The copy failed, which says nothing about the database. */
function noCopy(error: unknown): Error {
  const why = isFull(error)
    ? "its disk is full"
    : isNoEntry(error)
      ? "there is no such folder"
      : reasonOf(error);
  const words = `cannot copy the database to the temporary folder ${tmpdir()}: ${why}. Set TMPDIR to a folder with room that this user may write to`;
  return new Unusable(words, { cause: error });
}

/** Resolves to false if another process has the database locked. */
async function copyTo(database: string, file: string): Promise<boolean> {
  const lock = lockIfFree(database);
  if (lock === null) {
    await copyWhileUsed(database, file);
    return false;
  }
  try {
    copyBytes(database, file);
    return true;
  } finally {
    lock.release();
  }
}

/**
 * Copies the bytes, because SQLite would create files beside a database that no process has open. The caller holds the lock, so the bytes
 * do not change.
 */
function copyBytes(database: string, file: string): void {
  for (const end of ["", "-wal"]) {
    if (end !== "" && !existsSync(database + end)) continue;
    copyFileSync(database + end, file + end);
    chmodSync(file + end, 0o600);
  }
}

/** Copies the database and locks out every bot until `remove`. Rejects with one line for the operator, also if a bot is using it. */
export async function copyAndHold(database: string): Promise<DatabaseCopy> {
  const lock = lockOf(database);
  if (lock === null) throw unusable(database, new Error(`${await usedBy(database)}: stop it first`));
  const copy = placeForCopy();
  const remove = (): void => {
    lock.release();
    copy.remove();
  };
  try {
    copyBytes(database, copy.file);
    return { file: copy.file, remove };
  } catch (error) {
    remove();
    throw isFull(error) ? noCopy(error) : unusable(database, error);
  }
}

function lockOf(database: string): ReturnType<typeof lockIfFree> {
  try {
    refuseUnreadable(database);
    return lockIfFree(database);
  } catch (error) {
    throw unusable(database, error);
  }
}

async function copyWhileUsed(database: string, file: string): Promise<void> {
  const raw = new DatabaseSync(database, { readOnly: true });
  try {
    await backup(raw, file, { rate: ALL_PAGES });
  } finally {
    raw.close();
  }
}
