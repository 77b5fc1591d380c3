// A copy of the database file, for reading while the bot has it locked. SQLite locks are advice between SQLites, so the bytes can
// be copied; what must be right is which bytes. The main file changes only by what is in the write-ahead log already, and the log
// grows at its end until it is begun anew with another header. So: the log's header, the main file, the log, and the header again.
// While the header stays the same, every page that changed during the copying is in the copied log, which SQLite reads first.

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

/** sqlite.org/fileformat2.html, «The Write-Ahead Log»: 32 bytes with a salt that changes whenever the log is begun anew. */
const HEADER_BYTES = 32;
/** A busy bot begins its log anew every few seconds; a copy takes a moment. */
const TRIES = 50;
const PAUSE_MS = 100;

/** Throws when there is no such file, it cannot be read, or it never holds still. */
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

/** False: the log was begun anew meanwhile. */
function copyOnce(database: string, file: string): boolean {
  const [log, logCopy] = [`${database}-wal`, `${file}-wal`];
  const before = header(log);
  copyFileSync(database, file);
  if (existsSync(log)) copyFileSync(log, logCopy);
  else rmSync(logCopy, { force: true });
  for (const each of [file, logCopy]) if (existsSync(each)) chmodSync(each, 0o600);
  return before === header(log) && before === header(logCopy);
}

/** Empty when there is no log, or nothing in it. */
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
