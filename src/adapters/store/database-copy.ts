// Copies the database file for reading while the bot has it locked. SQLite's locks are advisory, so we can copy the bytes, but we must
// copy a consistent set. The main file only receives pages that are already in the write-ahead log, and the log only grows at its end
// until SQLite restarts it with a new header. So we read the log's header, copy the main file and the log, and read the header again.
// If the header is unchanged, the copied log holds every page that changed during the copy, and SQLite reads the log first.

import { chmodSync, copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { lockIfFree } from "./process-lock.ts";

export type DatabaseCopy = { readonly file: string; readonly remove: () => void };

/** More than any database has: one step sees one state, and a copy in several steps begins again at every commit. */
const ALL_PAGES = 2 ** 30;

/** Rejects when there is no such file, or it cannot be read. */
export async function copyDatabase(database: string): Promise<DatabaseCopy> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-copy-"));
  const file = join(folder, "copy.db");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    await copyTo(database, file);
    return { file, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

async function copyTo(database: string, file: string): Promise<void> {
  const lock = lockIfFree(database);
  if (lock === null) return copyWhileUsed(database, file);
  try {
    // SQLite would make files beside a database that no process has open, so the bytes are copied. While we hold the lock they
    // stay as they are.
    for (const end of ["", "-wal"]) {
      if (end !== "" && !existsSync(database + end)) continue;
      copyFileSync(database + end, file + end);
      chmodSync(file + end, 0o600);
    }
  } finally {
    lock.release();
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
