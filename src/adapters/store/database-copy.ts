// Copies the database file for reading while the bot has it locked. SQLite's locks are advisory, so we can copy the bytes, but we must
// copy a consistent set. The main file only receives pages that are already in the write-ahead log, and the log only grows at its end
// until SQLite restarts it with a new header. So we read the log's header, copy the main file and the log, and read the header again.
// If the header is unchanged, the copied log holds every page that changed during the copy, and SQLite reads the log first.

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

export type Snapshot = { readonly file: string; readonly remove: () => void };

/** sqlite.org/fileformat2.html, "The Write-Ahead Log": 32 bytes with a salt that changes whenever the log restarts. */
const HEADER_BYTES = 32;
/** How often we try. A busy bot restarts its log every few seconds, and a copy takes much less. */
const TRIES = 50;
const PAUSE_MS = 100;

/** Throws if the file does not exist, cannot be read, or changes during every attempt. */
export async function takeSnapshot(database: string): Promise<Snapshot> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-audit-"));
  const file = join(folder, "copy.db");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (copyOnce(database, file)) return { file, remove };
      await pause(PAUSE_MS);
    }
    throw new Error("it is being written to so fast that no copy of it can be made; try again");
  } catch (error) {
    remove();
    throw error;
  }
}

/** False: the log was restarted during the copy. */
function copyOnce(database: string, file: string): boolean {
  const [log, logCopy] = [`${database}-wal`, `${file}-wal`];
  const before = header(log);
  copyFileSync(database, file);
  if (existsSync(log)) copyFileSync(log, logCopy);
  else rmSync(logCopy, { force: true });
  for (const each of [file, logCopy]) if (existsSync(each)) chmodSync(each, 0o600);
  return before === header(log) && before === header(logCopy);
}

/** Empty if there is no log, or an empty one. */
function header(file: string): string {
  if (!existsSync(file)) return "";
  const opened = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(HEADER_BYTES);
    return bytes.subarray(0, readSync(opened, bytes, 0, HEADER_BYTES, 0)).toString("hex");
  } finally {
    closeSync(opened);
  }
}
