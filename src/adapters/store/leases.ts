// Assigns runs to processes. Runs are divided into shards. Each process is the owner of its open store and takes its fair share of the
// shards. It has one lease, a single row no matter how many runs it holds. The shards of an owner whose lease has expired are free.
//
// A run names the owner that claimed it after getting its shard. Another process that saves the run clears this name, and the holder of the
// shard claims the run again. In this way a click that reached another process becomes known to the holder. Owner names are never reused,
// and a claim raises the run's revision, so late writes of an earlier holder are refused.

import { type Expression, type ExpressionBuilder, sql } from "kysely";
import { type RunKey, SHARDS } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { Holding, LeaseStore } from "../../ports/store.ts";
import { newest, refuseRetired, takeAuditLock } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { readable, type Reading, STORED } from "./run-row.ts";
import { type Database, inBatches, type Tables, type Trx, write } from "./database.ts";
import { createExtensions, endOf, type ExtensionDeps } from "./extend-lease.ts";
import { keepTime } from "./newest-time.ts";
import { POSTGRES } from "./postgres.ts";
import type { Signals } from "./postgres-signals.ts";

type Deps = ExtensionDeps & {
  db: Database;
  key: AuditKey;
  signals: Pick<Signals, "onNotified">;
  reading: Reading;
  onCorrupt: (key: RunKey, error: PortError) => void;
  /** Whether other processes may open the database. */
  isShared: boolean;
};

export function createLeases(deps: Deps): LeaseStore {
  const { db, owner, timeOf, signals, reading, onCorrupt, isShared } = deps;
  const { askTime, extend } = createExtensions(deps);
  let lookedForOthersAt = Number.NEGATIVE_INFINITY;
  return {
    async claim(limit) {
      const rows = await write(db, (trx) => claimRuns(trx, owner, limit));
      return readable(db, rows, reading, onCorrupt);
    },
    onPassedOn: signals.onNotified,
    async extend(now, leaseMs) {
      const isExtended = await extend(now, leaseMs);
      if (!isExtended) await askTime();
      return isExtended;
    },
    async renew(now, leaseMs, onLapsed = () => undefined) {
      if (!(await extend(now, leaseMs))) {
        onLapsed();
        await askTime();
        await beginLease(deps, timeOf(now), leaseMs);
      }
      const looksForOthers = isShared && now - lookedForOthersAt >= RUNS_OF_OTHERS_EVERY_MS;
      if (looksForOthers) lookedForOthersAt = now;
      return write(db, async (trx) => {
        const holding = await takeShare(trx, owner, timeOf(now));
        if (looksForOthers) await freeRunsOfOthers(trx, owner);
        // This comes last, because all replicas write this row and wait for each other from here to the end of the transaction.
        await keepTime(trx, now);
        return holding;
      });
    },
    giveBack: (shards) => write(db, (trx) => giveBack(trx, owner, shards)),
    claimAgain: (shards) => write(db, (trx) => claimAgain(trx, owner, shards)),
    release: () => write(db, (trx) => leave(trx, owner)),
    askTime,
  };
}

/** Selects the owners whose lease has not expired. */
export function holders(eb: ExpressionBuilder<Tables, keyof Tables>, now: Expression<number>) {
  return eb.selectFrom("owners").select("owners.owner").where("owners.until", ">", now);
}

/** Resolves to the processes whose lease has not lapsed by the clock of the server. Only for servers: a file's lock keeps others out. */
export async function liveOwners(
  db: Pick<Database, "selectFrom" | "getExecutor">,
): Promise<readonly string[]> {
  const rows = await db
    .selectFrom("owners")
    .select("owner")
    .where("until", ">", POSTGRES.timeOf(0))
    .orderBy("owner")
    .execute();
  return rows.map(({ owner }) => owner);
}

/** Tests whether this owner holds the shard. `shard` may be a column. */
export function holdsShard(
  eb: ExpressionBuilder<Tables, "runs">,
  owner: string,
  shard: number | Expression<number>,
) {
  return eb.exists(
    eb.selectFrom("shards").select("shards.id").where("shards.id", "=", shard).where("holder", "=", owner),
  );
}

/** A literal, as in the partial indexes. */
const UNFINISHED = sql.lit<0>(0);

async function claimRuns(trx: Trx, owner: string, limit: number) {
  const ownShards = trx.selectFrom("shards").select("id").where("holder", "=", owner);
  const free = trx
    .selectFrom("runs")
    .select("key")
    .where("finished", "=", UNFINISHED)
    .where("holder", "is", null)
    .where("shard", "in", ownShards)
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
      eb.fn.countAll<number>().as("live"),
      eb.fn
        .count<number>(eb.case().when("owner", "not like", startingOwner("%")).then(1).end())
        .as("working"),
      sql<number | null>`${eb.fn.min("until")} - ${now}`.as("nextEndMs"),
    ]);
  const { live, working, nextEndMs } = await others.executeTakeFirstOrThrow();
  const share = Math.ceil(SHARDS / (working + 1));
  const shards = [...(await shardsOf(trx, owner))];
  const surplus = Math.max(shards.length - share, 0);
  while (shards.length < share) {
    const taken = await take(trx, owner, now, share - shards.length);
    if (taken === null) break;
    shards.push(...taken);
  }
  return { shards, surplus, replicas: live + 1, nextEndMs };
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
 * Resolves to the shards that it took, or to null if no shard is free. Two replicas may choose the same shards, for example after a third
 * one died. The update checks again that each shard is free, so the second replica gets fewer shards and chooses again.
 */
async function take(
  trx: Trx,
  owner: string,
  now: Expression<number>,
  limit: number,
): Promise<readonly number[] | null> {
  const chosen = await trx
    .selectFrom("shards")
    .select("id")
    .where((eb) => isFree(eb, now))
    .orderBy("id")
    .limit(limit)
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

/** Clears the holder of these shards' unfinished runs, so that the holder of the shard claims them. */
async function freeRuns(trx: Trx, shards: readonly number[]): Promise<void> {
  if (shards.length === 0) return;
  const update = trx.updateTable("runs").set({ holder: null }).where("finished", "=", UNFINISHED);
  await update.where("shard", "in", shards).where("holder", "is not", null).execute();
}

/** How often runs that name another owner are looked for (ms). The look reads all unfinished runs of this process's shards. */
const RUNS_OF_OTHERS_EVERY_MS = 30_000;

/**
 * Frees the runs of this owner's shards that name another owner. The other owner wrote such a run in a transaction that was still open when
 * it lost the shard. This owner could not see the run then, so it did not claim it.
 */
async function freeRunsOfOthers(trx: Trx, owner: string): Promise<void> {
  const ownShards = trx.selectFrom("shards").select("id").where("holder", "=", owner);
  const update = trx.updateTable("runs").set({ holder: null }).where("finished", "=", UNFINISHED);
  await update.where("holder", "!=", owner).where("shard", "in", ownShards).execute();
}

async function giveBack(trx: Trx, owner: string, shards: readonly number[]): Promise<void> {
  for (const batch of inBatches(shards)) {
    const update = trx.updateTable("shards").set({ holder: null }).where("holder", "=", owner);
    const rows = await update.where("id", "in", batch).returning("id").execute();
    await freeRuns(
      trx,
      rows.map(({ id }) => id),
    );
  }
}

async function claimAgain(trx: Trx, owner: string, shards: readonly number[]): Promise<void> {
  for (const batch of inBatches(shards)) {
    const update = trx.updateTable("runs").set({ holder: null }).where("finished", "=", UNFINISHED);
    await update.where("shard", "in", batch).where("holder", "=", owner).execute();
  }
}

/** How long the row of a dead owner stays (ms). Nothing depends on this time; the row only must not stay forever. */
const DEAD_OWNER_MS = 3_600_000;

/** Gives up all runs before the lease begins. */
async function beginLease(
  { db, owner, key }: Pick<Deps, "db" | "owner" | "key">,
  now: Expression<number>,
  leaseMs: number,
): Promise<void> {
  // This is a transaction of its own, because a save may hold the lock of the audit and wait for one of these runs.
  await write(db, (trx) => releaseAll(trx, owner));
  await write(db, async (trx) => {
    await takeAuditLock(trx);
    await refuseRetired(trx, key, await newest(trx));
    // While this lease lasts, `rotate-key` refuses to replace the key.
    await trx.deleteFrom("owners").where("owner", "=", startingOwner(owner)).execute();
    await putLease(trx, owner, now, leaseMs);
  });
}

/** The owner of the lease that a replica has while it starts. No store has this name, because the names of stores end in a UUID. */
const startingOwner = (owner: string): string => `${owner} starting`;

/**
 * Begins the lease of a replica that starts beside others. It keeps `rotate-key` away, and the others look for this replica's news. But it
 * gets no share of the shards, because a start that takes long or fails must not take channels from the replicas that follow them.
 */
export const beginStartLease = (
  trx: Trx,
  owner: string,
  now: Expression<number>,
  leaseMs: number,
): Promise<void> => putLease(trx, startingOwner(owner), now, leaseMs);

async function putLease(trx: Trx, owner: string, now: Expression<number>, leaseMs: number): Promise<void> {
  const until = endOf(now, leaseMs);
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

async function leave(trx: Trx, owner: string): Promise<void> {
  await releaseAll(trx, owner);
  await trx
    .deleteFrom("owners")
    .where("owner", "in", [owner, startingOwner(owner)])
    .execute();
}

/** Finished runs keep their holder, because there may be very many of them, and no process claims them. */
async function releaseAll(trx: Trx, owner: string): Promise<void> {
  const unfinished = trx.updateTable("runs").where("finished", "=", UNFINISHED);
  await unfinished.set({ holder: null }).where("holder", "=", owner).execute();
  await trx.updateTable("shards").set({ holder: null }).where("holder", "=", owner).execute();
}
