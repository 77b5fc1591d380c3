// Tells a missing file from one that this user may not read. `existsSync` calls a file in a closed folder missing, too.

import { accessSync, constants, statSync } from "node:fs";

/** Throws if there is no such file, or if this user may not read it. */
export function refuseUnreadable(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new Error("there is no such file");
  accessSync(file, constants.R_OK);
}

/** Returns whether there is no database file, or one of 0 bytes. */
export function isMissing(file: string): boolean {
  const there = statSync(file, { throwIfNoEntry: false });
  return there === undefined || (there.isFile() && there.size === 0);
}
