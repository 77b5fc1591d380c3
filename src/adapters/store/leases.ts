// Leases: which process works on which run. A run names its holder, and the holder's lease is a single row. When a lease expires, its
// owner has lost it too, and every process, the old owner included, can claim its runs. So no run is held by a process that does not
// work on it.

import { type ExpressionBuilder, sql } from "kysely";
import type { RunKey } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { LeaseStore } from "../../ports/store.ts";
import { readable, type Reading, STORED } from "./run-row.ts";
import { type Database, type Tables, type Trx, write } from "./database.ts";

type Deps = {
  db: Database;
  owner: string;
  reading: Reading;
  onCorrupt: (key: RunKey, error: PortError) => void;
};

export function createLeases({ db, owner, reading, onCorrupt }: Deps): LeaseStore {
  return {
    async claim(now, leaseMs, limit) {
      const rows = await write(db, async (trx) => {
        await extend(trx, owner, now, leaseMs);
        const free = trx
          .selectFrom("runs")
          .select("key")
          .where("finished", "=", sql.lit(0)) // a literal, as in the index
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

/** The owners whose lease has not expired. */
export function holders(eb: ExpressionBuilder<Tables, "runs">, now: number) {
  return eb.selectFrom("owners").select("owners.owner").where("owners.until", ">", now);
}

/** Only one process at a time can open the embedded file, so at the opening every earlier lease is void. */
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

// The newest stored monotonic time. The clock of the next process continues from there, so that no stored wait lasts longer than its
// own length, even if the wall clock was set back in between.

/** A separate document: every renewal of the lease writes it, even while no run changes. */
const NAME = "newest-time";

export async function keepTime(trx: Trx, now: number): Promise<void> {
  const doc = JSON.stringify(now);
  await trx
    .insertInto("documents")
    .values({ name: NAME, doc })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ doc }))
    .execute();
}

/** 0 for an empty database. */
export async function newestTime(db: Database): Promise<number> {
  const kept = await db.selectFrom("documents").select("doc").where("name", "=", NAME).executeTakeFirst();
  const saved = await db
    .selectFrom("runs")
    .select((eb) => eb.fn.max("changed_at").as("at"))
    .executeTakeFirst();
  return Math.max(numberOf(kept?.doc), numberOf(saved?.at));
}

function numberOf(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}
