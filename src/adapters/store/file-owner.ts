import { closeSync, fchownSync, openSync, statSync } from "node:fs";

const ROOT = 0;

/**
 * If root runs a command, the bot's user must still be able to use the files beside the database. SQLite does the same for its files. Takes an
 * open file, because a path may lead elsewhere by now.
 */
export function giveToOwner(opened: number, database: string): void {
  const owner = statSync(database, { throwIfNoEntry: false });
  if (process.getuid?.() !== ROOT || owner === undefined || owner.uid === ROOT) return;
  fchownSync(opened, owner.uid, owner.gid);
}

/** Creates an empty file for the database's owner only. Throws EEXIST if there is one. */
export function createFor(database: string, file: string): void {
  const opened = openSync(file, "wx", 0o600);
  try {
    giveToOwner(opened, database);
  } finally {
    closeSync(opened);
  }
}
