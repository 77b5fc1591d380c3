// Only one process at a time can use a state file. A lock file next to it contains the id of that process.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { unwritable } from "./state-file.ts";

/** The locks of this process. The id in the file is not enough, because in a container the next process often has the same id. */
const held = new Set<string>();

/** Takes the lock and calls `open`. The lock is released when the result is closed or `open` fails. If `path` is null, there is no file. */
export async function owning<T extends { readonly close: () => Promise<void> }>(
  path: string | null,
  open: () => Promise<T>,
): Promise<T> {
  if (path === null) return open();
  const lock = resolve(`${path}.lock`);
  await take(path, lock);
  let free: Promise<void> | null = null;
  const release = (): Promise<void> => (free ??= removeLock(lock));
  try {
    const opened = await open();
    const close = async (): Promise<void> => {
      try {
        await opened.close();
      } finally {
        await release();
      }
    };
    return { ...opened, close };
  } catch (error) {
    await release();
    throw error;
  }
}

async function take(path: string, lock: string): Promise<void> {
  while (!(await created(path, lock))) {
    const holder = await readFile(lock, "utf8").catch(() => null);
    if (holder === null) continue;
    if (isInUse(lock, holder)) throw inUse(path, lock, holder);
    await setAside(path, lock, holder);
  }
  held.add(lock);
}

/** Creates the lock file. Resolves to false if it already exists. */
async function created(path: string, lock: string): Promise<boolean> {
  try {
    await writeFile(lock, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unwritable(path, error);
  }
}

/** Removes a stale lock. If two processes find it, only one may continue, so the moved file is checked once more. */
async function setAside(path: string, lock: string, holder: string): Promise<void> {
  const aside = `${lock}.${process.pid}`;
  try {
    await rename(lock, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw unwritable(path, error);
  }
  const moved = await readFile(aside, "utf8");
  if (moved === holder) return rm(aside);
  await rename(aside, lock);
  throw inUse(path, lock, moved);
}

/** Whether a running process holds the lock. A lock without a process id counts as in use. */
function isInUse(lock: string, holder: string): boolean {
  const pid = pidIn(holder);
  if (pid === null) return true;
  if (pid === process.pid) return held.has(lock);
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return codeOf(error) !== "ESRCH";
  }
}

const pidIn = (holder: string): number | null =>
  /^[1-9]\d{0,9}\n?$/.test(holder) ? Number.parseInt(holder, 10) : null;

function inUse(path: string, lock: string, holder: string): Error {
  const pid = pidIn(holder);
  const who = pid === null ? "an unknown process" : `process ${pid}`;
  return new Error(
    `The state file ${path} is in use by ${who}. Stop that process, or choose another file with --state. If it is not a service, remove ${lock}.`,
  );
}

async function removeLock(lock: string): Promise<void> {
  held.delete(lock);
  await rm(lock, { force: true });
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
