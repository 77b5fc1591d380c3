// The folders that tests make lie in memory, where the machine has room for them: the databases of a run commit tens of thousands of times,
// and each flush to a disk takes over a millisecond, in which the process can do nothing else. No test pulls the plug of the machine, so
// none can tell the difference. TMPDIR names another folder.

import { chmodSync, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

/** Linux has it in memory. Containers may have one that is too small. */
const MEMORY = "/dev/shm";
/** What a file system in memory is called (linux/magic.h, TMPFS_MAGIC). */
const TMPFS = 0x01021994;
/** A run has used less than 300 MiB at once. */
const ROOM = 2 * 2 ** 30;

export default function useMemory(): () => void {
  if (process.env["TMPDIR"] !== undefined || !hasRoom()) return () => undefined;
  const folder = mkdtempSync(join(MEMORY, "countersign-tests-"));
  // PostgreSQL runs as another user where the tests run as root.
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
