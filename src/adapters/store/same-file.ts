// A database file that was deleted or replaced under us goes on working, as the system keeps it until we close it, and is gone
// then. So each transaction makes sure that what it writes to is what the next start will find. The lock file counts too: with
// another one in its place a second process could open the database.

import { statSync } from "node:fs";
import { PortError } from "../../ports.ts";
import { lockFile } from "./process-lock.ts";

/** Throws a PortError when the path leads elsewhere. `applied`: may what is being done have been kept? */
export type SameFile = (applied: "no" | "maybe") => void;

export function watchFile(file: string): SameFile {
  const opened = [file, lockFile(file)].map((path) => ({ path, id: idOf(path) }));
  let log: string | null = null;
  return (applied) => {
    // SQLite makes the log with the first write, and keeps it as long as it is open.
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
