// One process per database. The lock is SQLite's own, on an empty file beside the database, so that the database itself can be
// read and backed up while the bot runs. The system takes the lock back when the process ends, however it ends.

import { chmodSync, existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { isBusy } from "./store-failure.ts";

/** Call `release` once. */
export type ProcessLock = { readonly release: () => void };

export const lockFile = (database: string): string => `${database}.lock`;

/** Makes the file. Waits at most `waitMs`. Throws SQLite's error, "busy" when another process has the lock. */
export function takeLock(database: string, waitMs: number): ProcessLock {
  const file = lockFile(database);
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
