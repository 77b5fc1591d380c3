// Who looks after which run. A run names its holder; the holder's lease is one row of its own. A lease that has lapsed is lost
// for its owner too: what it held can be claimed by everybody, itself included, so nothing is held without being looked after.

import { type ExpressionBuilder, sql } from "kysely";
import type { PortError, Store } from "../flow/ports.ts";
import type { RunKey } from "../core/ids.ts";
import { keepTime } from "./newest-time.ts";
import { readable, type Reading, STORED } from "./run-row.ts";
import type { Database, Tables } from "./tables.ts";
import { type Trx, write } from "./transaction.ts";

type Deps = {
  db: Database;
  owner: string;
  reading: Reading;
  onCorrupt: (key: RunKey, error: PortError) => void;
};

export function createLeases({
  db,
  owner,
  reading,
  onCorrupt,
}: Deps): Pick<Store, "claim" | "renew" | "release"> {
  return {
    async claim(now, leaseMs, limit) {
      const rows = await write(db, async (trx) => {
        await extend(trx, owner, now, leaseMs);
        const free = trx
          .selectFrom("runs")
          .select("key")
          .where("finished", "=", sql.lit(0)) // as the index says it
          .where((eb) => eb.or([eb("holder", "is", null), eb("holder", "not in", holders(eb, now))]))
          .limit(limit);
        return trx
          .updateTable("runs")
          .set({ holder: owner, revision: sql`revision + 1` })
          .where("key", "in", free)
          .returning(STORED)
          .execute();
      });
      return readable(db, rows, reading, onCorrupt);
    },

    async renew(now, leaseMs) {
      await write(db, (trx) => extend(trx, owner, now, leaseMs));
    },

    async release() {
      await write(db, async (trx) => {
        await letGo(trx, owner);
        await trx.deleteFrom("owners").where("owner", "=", owner).execute();
      });
    },
  };
}

/** The owners whose lease lasts. */
export function holders(eb: ExpressionBuilder<Tables, "runs">, now: number) {
  return eb.selectFrom("owners").select("owners.owner").where("owners.until", ">", now);
}

/** The embedded file has one process at a time, so whoever opens it knows that every earlier lease is void. */
export async function startAlone(db: Database, owner: string, until: number): Promise<void> {
  await write(db, async (trx) => {
    await trx.deleteFrom("owners").execute();
    await trx.insertInto("owners").values({ owner, until }).execute();
  });
}

async function extend(trx: Trx, owner: string, now: number, leaseMs: number): Promise<void> {
  await keepTime(trx, now);
  const until = now + leaseMs;
  const renewed = await trx
    .updateTable("owners")
    .set({ until })
    .where("owner", "=", owner)
    .where("until", ">", now)
    .executeTakeFirst();
  if (renewed.numUpdatedRows > 0n) return;
  await letGo(trx, owner);
  await trx
    .insertInto("owners")
    .values({ owner, until })
    .onConflict((conflict) => conflict.column("owner").doUpdateSet({ until }))
    .execute();
}

async function letGo(trx: Trx, owner: string): Promise<void> {
  await trx.updateTable("runs").set({ holder: null }).where("holder", "=", owner).execute();
}
