// Backs up the database of a running app, and later restores it, as docs/backup.md describes.

import { copyFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { backUp } from "#src/adapters/store/back-up.ts";
import type { Stage } from "./world.ts";

export type BackUp = {
  /** Stops the app, replaces its database with the copy, and starts it again. */
  restore(): Promise<void>;
  /** Does the same with a copy that another program made, which has no mark. */
  restoreUnmarked(): Promise<void>;
};

export async function backedUp(world: Stage): Promise<BackUp> {
  const path = (world.world.env["DATABASE_URL"] ?? "").replace("sqlite:", "");
  const [marked, plain] = [`${path}.marked`, `${path}.plain`];
  await backUp(path, marked, { at: Date.now(), check: () => Promise.resolve() });
  const raw = new DatabaseSync(path);
  raw.exec(`vacuum into '${plain}'`);
  raw.close();
  const put = async (copy: string): Promise<void> => {
    await world.stopApp();
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    copyFileSync(copy, path);
    for (const each of [marked, plain]) rmSync(each);
    await world.startApp();
  };
  return { restore: () => put(marked), restoreUnmarked: () => put(plain) };
}
