// Finds the process that has the database open, as far as this machine can tell.

import { existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { copyDatabase } from "./database-copy.ts";
import { lockFile } from "./process-lock.ts";
import { openCopy } from "./sqlite.ts";

const LOCKS = "/proc/locks";

/**
 * The process that has the file locked. 0: we cannot see its number from here. Null: the system does not say.
 * The kernel's list of file locks (proc_locks(5)): SQLite's are POSIX locks, found by the file's inode.
 */
export function lockHolder(file: string): number | null {
  const lock = lockFile(file);
  if (!existsSync(LOCKS) || !existsSync(lock)) return null;
  const { ino } = statSync(lock);
  for (const line of readFileSync(LOCKS, "utf8").split("\n")) {
    const [, pid, inode] = /\sPOSIX\s+\S+\s+\S+\s+(-?\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s/.exec(line) ?? [];
    if (inode === String(ino)) return Math.max(Number(pid), 0);
  }
  return null;
}

/** Names the process when a second one is refused. It may be another Countersign, or any program that reads SQLite files. */
export async function usedBy(file: string): Promise<string> {
  const pid = lockHolder(file);
  if (pid !== null && pid > 0) return `process ${pid}${nameOf(pid)} is using it`;
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

/** An owner is "machine process", set by `app.ts`, and a unique suffix, added by `open.ts`. */
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
