// Checks that the database file is still the one at its path. The system keeps a deleted or replaced file until we close it, so writes
// would succeed and then be lost. Each transaction therefore checks that the next start will find the file that it writes to.

import { statSync } from "node:fs";
import { PortError } from "../../ports.ts";
import { lockFile } from "./process-lock.ts";

/** Throws a PortError if the path leads to another file. `applied` says whether the work under way may have been stored. */
export type SameFile = (applied: "no" | "maybe") => void;

export function watchFile(file: string): SameFile {
  const opened = [file, lockFile(file)].map((path) => ({ path, id: idOf(path) }));
  let log: string | null = null;
  return (applied) => {
    // SQLite creates the log with the first write, and keeps it while the database is open.
    log ??= idOf(`${file}-wal`);
    const isLogOurs = log === null || idOf(`${file}-wal`) === log;
    if (isLogOurs && opened.every(({ path, id }) => idOf(path) === id)) return;
    throw new PortError("the database failed: its file was deleted or replaced while Countersign runs", {
      applied,
      retry: "later",
      code: "store_gone",
    });
  };
}

function idOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}
