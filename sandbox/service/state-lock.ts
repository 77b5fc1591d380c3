// One state file is for one process at a time: beside it lies the number of the process that has it.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { unwritable } from "./state-file.ts";

/** Those of this process. A number alone does not tell: in a container the next process often has the same one. */
const held = new Set<string>();

/** Opens what belongs to the file, which is let go of when that is closed, or did not open. `path` null: there is no file. */
export async function owning<T extends { readonly close: () => Promise<void> }>(
  path: string | null,
  open: () => Promise<T>,
): Promise<T> {
  if (path === null) return open();
  const lock = resolve(`${path}.lock`);
  await take(path, lock);
  let free: Promise<void> | null = null;
  const letGo = (): Promise<void> => (free ??= giveBack(lock));
  try {
    const opened = await open();
    const close = async (): Promise<void> => {
      try {
        await opened.close();
      } finally {
        await letGo();
      }
    };
    return { ...opened, close };
  } catch (error) {
    await letGo();
    throw error;
  }
}

async function take(path: string, lock: string): Promise<void> {
  while (!(await made(path, lock))) {
    const holder = await readFile(lock, "utf8").catch(() => null);
    if (holder === null) continue;
    if (isInUse(lock, holder)) throw inUse(path, lock, holder);
    await setAside(path, lock, holder);
  }
  held.add(lock);
}

/** False: there is one already. */
async function made(path: string, lock: string): Promise<boolean> {
  try {
    await writeFile(lock, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw unwritable(path, error);
  }
}

/** Of two that find the same stale lock only one may begin: what was moved away is looked at once more. */
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

/** One that names no process says nothing of whether it is in use. */
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
  const who = pid === null ? "a process without a number" : `process ${pid}`;
  return new Error(
    `The state file ${path} is in use by ${who}. Stop that one, or name another file with --state. If it is no service, remove ${lock}.`,
  );
}

async function giveBack(lock: string): Promise<void> {
  held.delete(lock);
  await rm(lock, { force: true });
}

const codeOf = (error: unknown): unknown =>
  error instanceof Error && "code" in error ? error.code : undefined;
