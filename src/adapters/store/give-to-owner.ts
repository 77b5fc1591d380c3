import { fchownSync, statSync } from "node:fs";

const ROOT = 0;

/**
 * If root runs a command, the bot's user must still be able to use the files that it creates beside the database. SQLite does the same for
 * its own files. `opened` is the new file.
 */
export function giveToOwner(opened: number, database: string): void {
  const owner = statSync(database, { throwIfNoEntry: false });
  if (process.getuid?.() !== ROOT || owner === undefined || owner.uid === ROOT) return;
  fchownSync(opened, owner.uid, owner.gid);
}
