// Begins the lease of the only process of an embedded database.

import { type Database, write } from "./database.ts";

/** Takes all shards. Only one process at a time can open the embedded file, so every earlier lease is void. */
export async function startAlone(db: Database, owner: string, until: number): Promise<void> {
  await write(db, async (trx) => {
    await trx.deleteFrom("owners").execute();
    await trx.insertInto("owners").values({ owner, until }).execute();
    await trx.updateTable("shards").set({ holder: owner }).execute();
    const update = trx.updateTable("runs").set({ holder: null }).where("finished", "=", 0);
    await update.where("holder", "is not", null).execute();
  });
}
