import { closeSync, fsyncSync, openSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** After a file was created or renamed: without this, a power failure may lose its entry in the folder. Windows cannot flush folders. */
export function syncFolderOf(file: string): void {
  if (process.platform === "win32") return;
  const folder = openSync(dirname(resolve(file)), "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
