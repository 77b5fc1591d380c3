// Notices when the content of a file changes. It reads the files every few seconds, because file system events would miss some changes:
// Kubernetes swaps a link two folders up, editors replace the file, and network drives report nothing.

import { createHash } from "node:crypto";
import { type Stats, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createBackgroundLoop } from "../../engine/background-work.ts";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";

export type WatchedFile = {
  /** Null if there is none. Something that is not a plain file at the start, such as a pipe, can be read only once and is not watched. */
  readonly path: string | null;
  /** The content that was read at the start. White space around it is ignored. */
  readonly content: string;
  /** Reads the file again. If it rejects, it is called again later. */
  readonly changed: () => Promise<void>;
};

export type FileWatch = {
  start(): void;
  /** Call this right before reading the files, so that their current content is not reported as a change. Never rejects. */
  mark(): Promise<void>;
  /** Call this if the content read after `mark` could not be applied, so that it is reported as a change after all. */
  unmark(): void;
  stop(): Promise<void>;
};

/** How often the files are read (ms). */
export const LOOK_EVERY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * Reports a change once two consecutive reads have seen the same new content, because a half-written file can be valid and mean something
 * else. A file that is gone or cannot be read is a change too.
 */
export function createFileWatch(
  { clock, log }: { readonly clock: Clock; readonly log: EventLog },
  files: readonly WatchedFile[],
): FileWatch {
  const looks = files.flatMap(({ path, ...file }) =>
    path !== null && isPlain(path) ? [createLook({ path, ...file })] : [],
  );
  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: async () => {
        for (const file of looks) await file.look();
      },
      everyMs: LOOK_EVERY_MS,
      retryMs: [LOOK_EVERY_MS, LONGEST_RETRY_MS],
      failure: "could not apply a changed file; trying again",
    },
  );
  return {
    start: () => (looks.length > 0 ? loop.start(LOOK_EVERY_MS) : undefined),
    mark: async () => void (await Promise.all(looks.map((file) => file.mark()))),
    unmark: () => looks.forEach((file) => file.unmark()),
    stop: loop.stop,
  };
}

const isPlain = (path: string): boolean => statsOf(path)?.isFile() === true;

/** Undefined if the file is missing or cannot be looked at, for example in a folder that is closed to us. Reading it then says why. */
function statsOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

/** Returns whether the path leads to a pipe or a terminal. These can be read only once, and a second read may wait forever. */
export function isReadOnce(path: string): boolean {
  const found = statsOf(path);
  return found !== undefined && (found.isFIFO() || found.isCharacterDevice());
}

type Looked = WatchedFile & { readonly path: string };

function createLook({ path, content, changed }: Looked) {
  let taken = digestOf(content);
  let before = taken;
  return {
    look: async (): Promise<void> => {
      const stamp = await stampOf(path);
      const now = await contentOf(path);
      const stands = now === before;
      before = now;
      if (now === taken || !stands) return;
      await changed();
      // If the file was written meanwhile, even with the same content, `changed` may have read only a part of it.
      taken = (await stampOf(path)) === stamp ? now : NOTHING;
    },
    mark: async (): Promise<void> => {
      taken = await contentOf(path);
      before = taken;
    },
    unmark: () => void (taken = NOTHING),
  };
}

/** No file's digest. */
const NOTHING = "";

const UNREADABLE = "unreadable";

/** Returns what every write to the file changes. */
async function stampOf(path: string): Promise<string> {
  const { ino, mtimeNs } = await stat(path, { bigint: true }).catch(() => ({ ino: 0n, mtimeNs: 0n }));
  return `${ino} ${mtimeNs}`;
}

/** Returns the digest instead of the content, which may be a secret. Does not read a pipe, because that could wait forever. */
async function contentOf(path: string): Promise<string> {
  try {
    return (await stat(path)).isFile() ? digestOf(await readFile(path, "utf8")) : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text.trim(), "utf8").digest("hex");
