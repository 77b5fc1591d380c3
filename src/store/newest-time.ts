// The newest monotonic time that is stored. The clock of the next process goes on from there, so that no stored wait lies further
// ahead than its own length, even when the wall clock was set back in between.

import type { Database } from "./tables.ts";
import type { Trx } from "./transaction.ts";

/** A document of its own: renewing the lease writes it, also while no run changes. */
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
