// Notices when a file gets other content. It reads the files every few seconds: Kubernetes swaps a link two folders up, editors replace
// the file, and network drives tell of nothing, so watching for events of the file system would miss some of these.

import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createBackgroundLoop } from "../../engine/background-work.ts";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";

export type WatchedFile = {
  /** Null: there is none. What is no plain file at the start, such as a pipe, has its content only once and is not watched. */
  readonly path: string | null;
  /** What was read at the start. White space around it does not count. */
  readonly content: string;
  /** Reads the file again. If it rejects, it is called again later. */
  readonly changed: () => Promise<void>;
};

export type FileWatch = {
  start(): void;
  /** The caller reads the files right after this, so their content of this moment is not told as a change. Never rejects. */
  mark(): Promise<void>;
  /** The caller could not take over what it read after `mark`, so it is told as a change after all. */
  unmark(): void;
  stop(): Promise<void>;
};

/** How often the files are read (ms). */
export const LOOK_EVERY_MS = 2_000;
const LONGEST_RETRY_MS = 60_000;

/**
 * A change is told once two looks in a row have seen the same new content: half of a file that is being written can be valid, and mean
 * something else. A file that is gone or cannot be read is a change, too.
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
      failure: "could not take over a changed file; trying again",
    },
  );
  return {
    start: () => (looks.length > 0 ? loop.start(LOOK_EVERY_MS) : undefined),
    mark: async () => void (await Promise.all(looks.map((file) => file.mark()))),
    unmark: () => looks.forEach((file) => file.unmark()),
    stop: loop.stop,
  };
}

const isPlain = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

type Looked = WatchedFile & { readonly path: string };

function createLook({ path, content, changed }: Looked) {
  let taken = digestOf(content);
  let before = taken;
  return {
    look: async (): Promise<void> => {
      const now = await contentOf(path);
      const stands = now === before;
      before = now;
      if (now === taken || !stands) return;
      await changed();
      taken = now;
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

/** Its digest: the content may be a secret. A pipe is not read, because that could wait for ever. */
async function contentOf(path: string): Promise<string> {
  try {
    return (await stat(path)).isFile() ? digestOf(await readFile(path, "utf8")) : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

const digestOf = (text: string): string => createHash("sha256").update(text.trim(), "utf8").digest("hex");
