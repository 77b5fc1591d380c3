// Puts the folders of tests in memory if the machine has enough of it. The databases of a test run commit tens of thousands of times, and
// each flush to a disk blocks the process for more than a millisecond. No test cuts the machine's power, so no test is affected. TMPDIR
// selects another folder.

import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** A folder that Linux keeps in memory. In containers it may be too small. */
const MEMORY = "/dev/shm";
/** The type of a file system in memory (linux/magic.h, TMPFS_MAGIC). */
const TMPFS = 0x01021994;
/** The free space that is required. A test run has used less than 300 MiB at a time. */
const ROOM = 2 * 2 ** 30;

export default function useMemory(): () => void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return () => undefined;
  const folder = mkdtempSync(join(MEMORY, "countersign-tests-"));
  // PostgreSQL runs as another user if the tests run as root.
  chmodSync(folder, 0o755);
  process.env["TMPDIR"] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}

function hasRoom(): boolean {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= ROOM;
  } catch {
    return false;
  }
}
