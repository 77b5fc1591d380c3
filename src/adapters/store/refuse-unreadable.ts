// Tells a missing file from one that this user may not read. `existsSync` calls a file in a closed folder missing, too.

import { accessSync, constants, statSync } from "node:fs";

/** Throws if there is no such file, or if this user may not read it. */
export function refuseUnreadable(file: string): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) throw new Error("there is no such file");
  accessSync(file, constants.R_OK);
}
