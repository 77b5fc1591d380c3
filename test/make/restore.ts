// Backs up the database of a running app, and puts the copy in its place later, as docs/backup.md says.

import { copyFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { backUp } from "#src/adapters/store/back-up.ts";
import type { Stage } from "./world.ts";

export type BackUp = {
  /** Stops the app, puts the copy in the place of its database, and starts it again. */
  restore(): Promise<void>;
  /** The same with a copy that another program made, which carries no mark. */
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
