// The state of a server as one JSON file, which is replaced atomically.

import { open, readFile, rename } from "node:fs/promises";
import { dirname } from "node:path";

export type StateFile = {
  /** Resolves when the state at the time of the call is on disk. */
  readonly saved: () => Promise<void>;
  /** Saves once more, and then no longer writes the file, which the next service may own. */
  readonly close: () => Promise<void>;
};

/** The error for a file that cannot be used. Such a file is never overwritten. */
export function damaged(path: string, because: string, cause?: unknown): Error {
  const words = `The state file ${path} cannot be used: ${because}. It was not changed. Choose another file with --state, or move this one away to start afresh.`;
  return new Error(words, { cause });
}

export function unwritable(path: string, cause: unknown): Error {
  const because = cause instanceof Error ? cause.message : String(cause);
  return new Error(`The state file ${path} cannot be written: ${because}`, { cause });
}

/** Resolves to undefined if there is no file yet. */
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

/** Writes one state at a time. All calls during a write share the next write. */
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
  // The rename itself is durable only after the directory is synced.
  const directory = await open(dirname(path), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
