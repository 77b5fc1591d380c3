// Who looks after which run. The runs are shared out in shards. A process, the owner of its open store, has one lease, a single row
// however many runs it holds, and takes its fair share of the shards. Shards of an owner whose lease has expired are free.
//
// A run names the owner that has claimed it since that owner got the shard. When another process saves the run, it clears the name, and the holder of
// the shard claims it again: so the news of a click that came to another process reaches the holder. No owner comes twice, and a claim
// raises the run's revision: what an earlier holder still writes is refused.

import { type Expression, type ExpressionBuilder, sql } from "kysely";
import { type RunKey, SHARDS } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { Holding, LeaseStore } from "../../ports/store.ts";
import { readable, type Reading, STORED } from "./run-row.ts";
import { type Database, inBatches, read, type Tables, type Trx, write } from "./database.ts";
import type { Signals } from "./postgres-signals.ts";
import type { Engine } from "./schema.ts";

type Deps = {
  db: Database;
  owner: string;
  timeOf: Engine["timeOf"];
  signals: Pick<Signals, "onTold">;
  reading: Reading;
  onCorrupt: (key: RunKey, error: PortError) => void;
};

export function createLeases({ db, owner, timeOf, signals, reading, onCorrupt }: Deps): LeaseStore {
  const extended = (now: number, leaseMs: number): Promise<boolean> =>
    read(() => extend(db, owner, timeOf(now), leaseMs));
  return {
    async claim(limit) {
      const rows = await write(db, (trx) => claimRuns(trx, owner, limit));
      return readable(db, rows, reading, onCorrupt);
    },
    onPassedOn: signals.onTold,
    extend: extended,
    async renew(now, leaseMs, onLapsed = () => undefined) {
      if (!(await extended(now, leaseMs))) {
        onLapsed();
        await write(db, (trx) => beginLease(trx, owner, timeOf(now), leaseMs));
      }
      return write(db, async (trx) => {
        const holding = await takeShare(trx, owner, timeOf(now));
        // Last, because all replicas write this row, and wait for each other from here to the end of the transaction.
        await keepTime(trx, now);
        return holding;
      });
    },
    giveBack: (shards) => write(db, (trx) => giveBack(trx, owner, shards)),
    claimAgain: (shards) => write(db, (trx) => claimAgain(trx, owner, shards)),
    async release() {
      await write(db, async (trx) => {
        await letGo(trx, owner);
        await trx.deleteFrom("owners").where("owner", "=", owner).execute();
      });
    },
  };
}

/** The owners whose lease has not expired. */
export function holders(eb: ExpressionBuilder<Tables, keyof Tables>, now: Expression<number>) {
  return eb.selectFrom("owners").select("owners.owner").where("owners.until", ">", now);
}

/** Does this owner hold the shard? `shard` may be a column. */
export function holdsShard(
  eb: ExpressionBuilder<Tables, "runs">,
  owner: string,
  shard: number | Expression<number>,
) {
  return eb.exists(
    eb.selectFrom("shards").select("shards.id").where("shards.id", "=", shard).where("holder", "=", owner),
  );
}

async function claimRuns(trx: Trx, owner: string, limit: number) {
  const mine = trx.selectFrom("shards").select("id").where("holder", "=", owner);
  const free = trx
    .selectFrom("runs")
    .select("key")
    .where("finished", "=", sql.lit(0)) // a literal, as in the index
    .where("holder", "is", null)
    .where("shard", "in", mine)
    .limit(limit);
  return trx
    .updateTable("runs")
    .set({ holder: owner, revision: sql`revision + 1` })
    .where("key", "in", free)
    .returning(STORED)
    .execute();
}

async function takeShare(trx: Trx, owner: string, now: Expression<number>): Promise<Holding> {
  const others = trx
    .selectFrom("owners")
    .where("until", ">", now)
    .where("owner", "!=", owner)
    .select((eb) => [
      eb.fn.countAll<number>().as("count"),
      sql<number | null>`${eb.fn.min("until")} - ${now}`.as("nextEndMs"),
    ]);
  const { count, nextEndMs } = await others.executeTakeFirstOrThrow();
  const replicas = count + 1;
  const share = Math.ceil(SHARDS / replicas);
  const shards = [...(await shardsOf(trx, owner))];
  const surplus = Math.max(shards.length - share, 0);
  while (shards.length < share) {
    const taken = await take(trx, owner, now, share - shards.length);
    if (taken === null) break;
    shards.push(...taken);
  }
  return { shards, surplus, replicas, nextEndMs };
}

async function shardsOf(trx: Trx, owner: string): Promise<readonly number[]> {
  const rows = await trx
    .selectFrom("shards")
    .select("id")
    .where("holder", "=", owner)
    .orderBy("id")
    .execute();
  return rows.map(({ id }) => id);
}

/**
 * Null: none is free. Two replicas may choose the same shards, as when both see that a third one has died. The condition holds for the
 * second one too, which then gets fewer, and chooses again.
 */
async function take(
  trx: Trx,
  owner: string,
  now: Expression<number>,
  most: number,
): Promise<readonly number[] | null> {
  const chosen = await trx
    .selectFrom("shards")
    .select("id")
    .where((eb) => isFree(eb, now))
    .orderBy("id")
    .limit(most)
    .execute();
  if (chosen.length === 0) return null;
  const ids = chosen.map(({ id }) => id);
  const update = trx.updateTable("shards").set({ holder: owner }).where("id", "in", ids);
  const rows = await update
    .where((eb) => isFree(eb, now))
    .returning("id")
    .execute();
  const taken = rows.map(({ id }) => id);
  await freeRuns(trx, taken);
  return taken;
}

function isFree(eb: ExpressionBuilder<Tables, "shards">, now: Expression<number>) {
  return eb.or([eb("holder", "is", null), eb("holder", "not in", holders(eb, now))]);
}

/** The holder of their shard claims them. */
async function freeRuns(trx: Trx, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return;
  const held = trx.updateTable("runs").set({ holder: null }).where("finished", "=", 0);
  await held.where("shard", "in", shards).where("holder", "is not", null).execute();
}

async function giveBack(trx: Trx, owner: string, shards: readonly number[]): Promise<void> {
  for (const batch of inBatches(shards)) {
    const mine = trx.updateTable("shards").set({ holder: null }).where("holder", "=", owner);
    const rows = await mine.where("id", "in", batch).returning("id").execute();
    await freeRuns(
      trx,
      rows.map(({ id }) => id),
    );
  }
}

async function claimAgain(trx: Trx, owner: string, shards: readonly number[]): Promise<void> {
  for (const batch of inBatches(shards)) {
    const mine = trx.updateTable("runs").set({ holder: null }).where("finished", "=", 0);
    await mine.where("shard", "in", batch).where("holder", "=", owner).execute();
  }
}

/** Only one process at a time can open the embedded file, so at the opening every earlier lease is void. */
export async function startAlone(db: Database, owner: string, until: number): Promise<void> {
  await write(db, async (trx) => {
    await trx.deleteFrom("owners").execute();
    await trx.insertInto("owners").values({ owner, until }).execute();
    await trx.updateTable("shards").set({ holder: owner }).execute();
    const held = trx.updateTable("runs").set({ holder: null }).where("finished", "=", 0);
    await held.where("holder", "is not", null).execute();
  });
}

/** How long the row of a dead owner stays (ms). Nothing depends on it; it only must not stay for ever. */
const DEAD_OWNER_MS = 3_600_000;

/** Outside a transaction, so it waits for one answer of the database, and holds no other writer up. */
async function extend(
  db: Database,
  owner: string,
  now: Expression<number>,
  leaseMs: number,
): Promise<boolean> {
  const extended = await db
    .updateTable("owners")
    .set({ until: endOf(now, leaseMs) })
    .where("owner", "=", owner)
    .where("until", ">", now)
    .executeTakeFirst();
  return extended.numUpdatedRows > 0n;
}

const endOf = (now: Expression<number>, leaseMs: number) => sql<number>`${now} + ${sql.lit(leaseMs)}`;

async function beginLease(trx: Trx, owner: string, now: Expression<number>, leaseMs: number): Promise<void> {
  const until = endOf(now, leaseMs);
  await letGo(trx, owner);
  await trx
    .insertInto("owners")
    .values({ owner, until })
    .onConflict((conflict) => conflict.column("owner").doUpdateSet({ until }))
    .execute();
  await trx
    .deleteFrom("owners")
    .where("until", "<", sql<number>`${now} - ${sql.lit(DEAD_OWNER_MS)}`)
    .execute();
}

async function letGo(trx: Trx, owner: string): Promise<void> {
  await trx.updateTable("runs").set({ holder: null }).where("holder", "=", owner).execute();
  await trx.updateTable("shards").set({ holder: null }).where("holder", "=", owner).execute();
}

// The newest stored monotonic time. The clock of the next process continues from there, so that no stored wait lasts longer than its
// own length, even if the wall clock was set back in between.

/** A separate document: every renewal writes it, even while no run changes. */
const NAME = "newest-time";

async function keepTime(trx: Trx, now: number): Promise<void> {
  const doc = JSON.stringify(now);
  await trx
    .insertInto("documents")
    .values({ name: NAME, doc })
    .onConflict((conflict) => conflict.column("name").doUpdateSet({ doc }))
    .execute();
}

/**
 * 0 for an empty database of one process. Replicas begin at the time of their database, so that a wait which one has stored means the
 * same to another.
 */
export async function newestTime(db: Database, timeOf: Engine["timeOf"]): Promise<number> {
  const kept = await db.selectFrom("documents").select("doc").where("name", "=", NAME).executeTakeFirst();
  const saved = await db
    .selectFrom("runs")
    .select((eb) => eb.fn.max("changed_at").as("at"))
    .executeTakeFirst();
  const inDatabase = await timeIn(db, timeOf);
  return Math.max(numberOf(kept?.doc), numberOf(saved?.at), inDatabase);
}

/** A replica whose clock is behind would have another one end its holds too early, so it asks again after an answer that was slow (ms). */
const SLOW_MS = 5;
const MAX_QUESTIONS = 5;

/** At the moment it returns, to half of the time of the fastest answer. 0: the engine has no time of its own. */
async function timeIn(db: Database, timeOf: Engine["timeOf"]): Promise<number> {
  let best = { at: 0, tookMs: Infinity, answeredAt: 0 };
  for (let asked = 0; asked < MAX_QUESTIONS && best.tookMs > SLOW_MS; asked += 1) {
    const askedAt = performance.now();
    const { rows } = await sql<{ at: number }>`select ${timeOf(0)} as at`.execute(db);
    const answeredAt = performance.now();
    const at = numberOf(rows[0]?.at);
    if (at === 0) return 0;
    if (answeredAt - askedAt < best.tookMs) best = { at, tookMs: answeredAt - askedAt, answeredAt };
  }
  return Math.round(best.at + best.tookMs / 2 + performance.now() - best.answeredAt);
}

function numberOf(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}
