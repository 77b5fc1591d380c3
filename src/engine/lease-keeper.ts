// Takes this process's share of the runs and keeps it: renews the lease, claims every unfinished run of its shards, and gives back
// shards beyond its share. So all runs are watched again after a restart, or after another process has died, without anybody typing a
// command.

import { createBackgroundLoop } from "./background-loop.ts";
import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { LeaseStore } from "../ports/store.ts";
import type { RunEngine } from "./run-engine.ts";

/** How long a lease lasts, and how often it is renewed (ms). */
export type LeaseTimes = { readonly leaseMs: number; readonly renewEveryMs: number };

/** One process has the database for itself. */
export const ALONE: LeaseTimes = { leaseMs: 60_000, renewEveryMs: 15_000 };
/** When a replica dies, its runs wait for the rest of its lease and for the next look of another one: five seconds at most. */
export const SHARED: LeaseTimes = { leaseMs: 4_000, renewEveryMs: 1_000 };

const CLAIM_BATCH = 200;

export type LeaseKeeper = {
  start(): Promise<number>;
  /** Another process has saved a run for us, perhaps. */
  lookNow(): void;
  /** False: the lease may have expired, so another process may look after the runs. */
  holds(): boolean;
  stop(): Promise<void>;
};

type Deps = {
  store: Pick<LeaseStore, "claim" | "claimAgain" | "renew" | "giveBack">;
  engine: Pick<RunEngine, "resume" | "lookAfter" | "shardsSending">;
  clock: Clock;
  log: EventLog;
  /** Hears how many processes share the runs. */
  onReplicas: (replicas: number) => void;
};

/** `start` resolves to how many runs were claimed; it rejects when the store cannot be read. */
export function createLeaseKeeper(deps: Deps, times: LeaseTimes): LeaseKeeper {
  const { clock, log } = deps;
  const { renewEveryMs } = times;
  /** Monotonic. */
  let until = 0;
  let lookedAfter: ReadonlySet<number> = new Set();

  async function pass(stopping = (): boolean => false): Promise<number> {
    const from = clock.monotonic();
    const shards = await renew(deps, times, from);
    // Counted from before the renewal is asked for, so it is earlier than in the database.
    until = from + times.leaseMs;
    const added = [...shards.difference(lookedAfter)];
    lookedAfter = lookedAfter.intersection(shards);
    // A claim or a start may have come between the moment when the database gave us a shard and the moment when we looked after it. Its
    // run is ours in the database, and nobody follows it.
    if (added.length > 0) await deps.store.claimAgain(added);
    lookedAfter = shards;
    const taken = await claimAll(deps, times, stopping);
    if (taken > 0) log.debug({ runs: taken }, "took up runs that no process had claimed");
    return taken;
  }

  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: async (stopping) => void (await pass(stopping)),
      everyMs: renewEveryMs,
      retryMs: [Math.min(1_000, renewEveryMs), renewEveryMs],
      failure: "could not renew the leases of runs; trying again",
    },
  );

  async function start(): Promise<number> {
    const taken = await pass();
    loop.start(renewEveryMs);
    return taken;
  }
  return { start, lookNow: () => loop.wake(0), holds: () => clock.monotonic() < until, stop: loop.stop };
}

/** Resolves to the shards that are looked after from now on. */
async function renew(
  { store, engine, log, onReplicas }: Deps,
  { leaseMs }: LeaseTimes,
  from: number,
): Promise<ReadonlySet<number>> {
  const { shards, surplus, replicas } = await store.renew(from, leaseMs);
  onReplicas(replicas);
  const given = surplus === 0 ? [] : shardsToGive(shards, surplus, engine.shardsSending());
  const lookedAfter = new Set(shards).difference(new Set(given));
  engine.lookAfter(lookedAfter);
  if (given.length > 0) {
    await store.giveBack(given);
    log.info({ shards: given.length, replicas }, "gave shards back, so that other replicas get their share");
  }
  return lookedAfter;
}

/**
 * A shard that waits for an answer from outside stays here, with its runs followed, and another one is given. The next process would
 * take that call for a lost one and ask what became of it, while the call may still arrive.
 */
function shardsToGive(
  shards: readonly number[],
  surplus: number,
  sending: ReadonlySet<number>,
): readonly number[] {
  return shards.filter((shard) => !sending.has(shard)).slice(-surplus);
}

async function claimAll(
  { store, engine, clock }: Deps,
  { leaseMs }: LeaseTimes,
  stopping: () => boolean,
): Promise<number> {
  for (let taken = 0; ;) {
    if (stopping()) return taken;
    const batch = await store.claim(clock.monotonic(), leaseMs, CLAIM_BATCH);
    // A batch may be short because one of its rows cannot be read; only an empty batch is the last.
    if (batch.length === 0) return taken;
    for (const stored of batch) await engine.resume(stored);
    taken += batch.length;
  }
}
