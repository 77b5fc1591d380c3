// Proves that the database takes writes: readiness rests on it.

import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { PortError } from "../../ports.ts";
import { type Database, read, write } from "./database.ts";

/**
 * SQLite's log grows to this size (bytes, 1,000 pages of 4 KiB) before it is used again from its beginning. With less space, a small
 * write may still succeed while the next decision does not.
 */
const MIN_FREE_BYTES = 1_000 * 4_096;

const NAME = "write-probe";

/** Commits a write. `file`: of the database, null where there is none. Rejects with PortError when nothing can be recorded. */
export async function probeWrite(db: Database, file: string | null): Promise<void> {
  // The text must differ from the last one, because SQLite writes nothing where nothing changes.
  const doc = JSON.stringify(`${Date.now()} ${Math.random()}`);
  await write(db, async (trx) => {
    await trx
      .insertInto("documents")
      .values({ name: NAME, doc })
      .onConflict((row) => row.column("name").doUpdateSet({ doc }))
      .execute();
  });
  if (file !== null) await read(() => refuseFullDisk(file));
}

async function refuseFullDisk(file: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize >= MIN_FREE_BYTES) return;
  throw new PortError("the database failed: its disk is full, or nearly so", {
    applied: "no",
    retry: "later",
    code: "store_full",
  });
}
