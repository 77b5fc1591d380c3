// Who has the database open, as far as this machine can tell.

import { existsSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { basename } from "node:path";
import { copyDatabase } from "./database-copy.ts";
import { lockFile } from "./process-lock.ts";
import { openCopy } from "./sqlite.ts";

const LOCKS = "/proc/locks";

/**
 * The process that uses the database. 0: one whose number is not visible from here. Null: none, or the system does not tell.
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

/** In words, for the refusal of a second opening. It may be another Countersign, and any program that reads SQLite files. */
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

/** `app.ts` names an owner by its machine and process, which `open.ts` makes unique. */
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
