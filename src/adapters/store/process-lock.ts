// Allows one process per database. The lock is SQLite's own, on an empty file beside the database, so that the database itself can be read
// and backed up while the bot runs. The system releases the lock when the process ends, even if it crashes.

import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isBusy, Unusable } from "./faults.ts";
import { giveToOwner } from "./give-to-owner.ts";

/** `release` must be called only once. */
export type ProcessLock = { readonly release: () => void };

export const NO_LOCK: ProcessLock = { release: () => undefined };

export const lockFile = (database: string): string => `${database}.lock`;

/** Creates the lock file and waits at most `waitMs` for the lock. Throws SQLite's error: "busy" if another process has the lock. */
export function takeLock(database: string, waitMs: number): ProcessLock {
  const file = lockFile(database);
  if (!existsSync(file)) createLockFile(file, database);
  // SQLite opens a file that is not writable for reading only. "exclusive" would then not keep out other readers.
  accessSync(file, constants.W_OK);
  const raw = new DatabaseSync(file, { timeout: waitMs });
  try {
    // Nothing is ever written to the lock file, so a journal on disk would only be one more file.
    raw.exec("pragma journal_mode = memory; begin exclusive");
    chmodSync(file, 0o600);
    return { release: () => raw.close() };
  } catch (error) {
    raw.close();
    throw error;
  }
}

/** Never follows a link: root would give away what it leads to. Done before SQLite opens the file, because a close releases every lock. */
function createLockFile(file: string, database: string): void {
  let opened: number;
  try {
    opened = openSync(file, "wx", 0o600);
  } catch (error) {
    // Another process has just created it.
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
    throw error;
  }
  try {
    giveToOwner(opened, database);
  } finally {
    closeSync(opened);
  }
}

/**
 * Takes the lock for a reader, which creates no file. Returns null if a bot is using the database. If there is no lock file, no bot has
 * ever used the database; a bot that starts for the first time at this moment goes unnoticed.
 */
export function lockIfFree(database: string): ProcessLock | null {
  const file = lockFile(database);
  if (!existsSync(file)) return NO_LOCK;
  try {
    return isOpenTo(file, constants.W_OK) ? takeLock(database, 0) : shareLock(database);
  } catch (error) {
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Returns whether no process has the database locked. */
export function isFree(database: string): boolean {
  const lock = lockIfFree(database);
  lock?.release();
  return lock !== null;
}

/**
 * For a reader that may not write to the lock file, for example on a read-only mount. A bot needs the file for itself alone, so a bot and a
 * shared lock keep each other out. Readers share it.
 */
function shareLock(database: string): ProcessLock {
  const file = lockFile(database);
  if (!isOpenTo(file, constants.R_OK)) throw unreadable(database);
  const raw = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  try {
    // SQLite takes the lock with the first read, and keeps it until the transaction ends.
    raw.exec("begin; select 1 from sqlite_schema");
    return { release: () => raw.close() };
  } catch (error) {
    raw.close();
    throw error;
  }
}

function isOpenTo(file: string, mode: number): boolean {
  try {
    accessSync(file, mode);
    return true;
  } catch {
    return false;
  }
}

const unreadable = (database: string): Error =>
  new Unusable(
    `cannot read the database ${database}: this user may not read ${lockFile(database)}, which shows whether a bot uses it. Run the command as the bot's user, or let this user read that file`,
  );
