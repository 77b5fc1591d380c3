// A server's memory as one JSON file, replaced as a whole or not at all.

import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

export type StateFile = {
  /** Resolves when what was in memory at the time of the call is on the disk. */
  readonly saved: () => Promise<void>;
  /** Saves once more and then lets go of the file: the next service may own it. */
  readonly close: () => Promise<void>;
};

/** A file that is not understood is never written to. */
export function damaged(path: string, because: string, cause?: unknown): Error {
  const words = `The state file ${path} cannot be used: ${because}. It was left as it is. Name another with --state, or move this one away to begin again.`;
  return new Error(words, { cause });
}

export function unwritable(path: string, cause: unknown): Error {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new Error(`The state file ${path} cannot be written: ${because}`, { cause });
}

/** Undefined where there is no file yet. */
export async function loadState(path: string): Promise<unknown> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw damaged(path, "it cannot be read", error);
  });
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw damaged(path, "it is not JSON", error);
  }
}

/** One write at a time; all who ask during a write share the next one. */
export function createStateFile(path: string, state: () => unknown): StateFile {
  let writing: Promise<void> = Promise.resolve();
  let next: Promise<void> | null = null;
  let closed: Promise<void> | null = null;

  function save(): Promise<void> {
    next ??= writing
      .catch(() => undefined)
      .then(() => {
        next = null;
        writing = replace(path, JSON.stringify(state())).catch((error: unknown) => {
          throw unwritable(path, error);
        });
        return writing;
      });
    return next;
  }

  return {
    saved: () => closed ?? save(),
    close: () => (closed ??= save()),
  };
}

async function replace(path: string, text: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
  // The rename itself lasts only once the directory is on the disk.
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
