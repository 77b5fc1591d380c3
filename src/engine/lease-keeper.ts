// Takes this process's share of the runs and keeps it: renews the lease, claims every unfinished run of its shards, and gives back
// shards beyond its share. So all runs are watched again after a restart, or after another process has died, without anyone typing a
// command.

import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { LeaseStore } from "../ports/store.ts";
import type { RunEngine } from "./run-engine.ts";
import { inTurn, type Turn, type Watchdog } from "./watchdog.ts";

/** How long a lease lasts, and how often it is renewed (ms). */
export type LeaseTimes = { readonly leaseMs: number; readonly renewEveryMs: number };

/** One process has the database for itself. */
export const ALONE: LeaseTimes = { leaseMs: 60_000, renewEveryMs: 15_000 };
/**
 * When a replica dies, its runs wait for the rest of its lease; another one looks as soon as it has ended. An extension that takes two
 * seconds, or one that fails and is tried again, still comes before the end.
 */
export const SHARED: LeaseTimes = { leaseMs: 3_000, renewEveryMs: 750 };

const CLAIM_BATCH = 200;

export type LeaseKeeper = {
  start(): Promise<number>;
  /** Another process has saved a run for us, perhaps. */
  lookNow(): void;
  /** False: the lease may have expired, so another process may look after the runs. */
  holds(): boolean;
  /** Claims nothing any more. The lease is extended until `letGo`, so that no other process takes a call on its way for a lost one. */
  stop(): Promise<void>;
  letGo(): Promise<void>;
};

type Deps = {
  store: Pick<LeaseStore, "claim" | "claimAgain" | "extend" | "renew" | "giveBack">;
  engine: Pick<RunEngine, "resume" | "lookAfter" | "shardsSending">;
  clock: Clock;
  log: EventLog;
  watchdog: Pick<Watchdog, "begin">;
  /** Hears how many processes share the runs. */
  onReplicas: (replicas: number) => void;
};

/** `start` resolves to how many runs were claimed; it rejects when the store cannot be read. */
export function createLeaseKeeper(deps: Deps, times: LeaseTimes): LeaseKeeper {
  const { clock, store } = deps;
  const lease = createLease(deps, times);
  let lookedAfter: ReadonlySet<number> = new Set();
  let started = false;

  function lookAfter(shards: ReadonlySet<number>): void {
    deps.engine.lookAfter(shards);
    lookedAfter = lookedAfter.intersection(shards);
  }

  async function pass(turn: Turn, stopping = (): boolean => false): Promise<number> {
    const from = clock.monotonic();
    const { kept, nextEndMs } = await renew(deps, times, { from, lookAfter });
    lease.holdFrom(from);
    if (nextEndMs !== null) wake(nextEndMs);
    const added = [...kept.difference(lookedAfter)];
    // A claim or a start may have come between the moment when the database gave us a shard and the moment when we looked after it. Its
    // run is ours in the database, and nobody follows it.
    if (added.length > 0) await store.claimAgain(added);
    // If the answer to a claim is lost, its runs are ours in the database, and only another claim of all shards brings them here.
    lookedAfter = new Set();
    const taken = await claimAll(deps, { turn, stopping });
    lookedAfter = kept;
    return taken;
  }

  const looks = createBackgroundLoop(deps, {
    pass: (stopping) => inTurn(deps.watchdog, async (turn) => void (await pass(turn, stopping))),
    everyMs: times.renewEveryMs,
    retryMs: retryMs(times),
    failure: "could not renew the leases of runs; trying again",
  });
  /** Two passes never run at once, so none is woken while the first is under way. */
  const wake = (withinMs: number): void => (started ? looks.wake(withinMs) : undefined);

  async function start(): Promise<number> {
    lease.start();
    const taken = await inTurn(deps.watchdog, (turn) => pass(turn));
    started = true;
    looks.start(times.renewEveryMs);
    return taken;
  }
  return { start, lookNow: () => wake(0), holds: lease.holds, stop: looks.stop, letGo: lease.stop };
}

const retryMs = ({ renewEveryMs }: LeaseTimes) => [Math.min(1_000, renewEveryMs), renewEveryMs] as const;

/**
 * Extends the lease beside the passes, which take long while the database is slow or many runs are claimed. It cannot bring back a lease
 * that has ended; a pass begins a new one, and before that this process looks after nothing any more.
 */
function createLease(deps: Pick<Deps, "store" | "clock" | "log">, times: LeaseTimes) {
  const { clock, store } = deps;
  /** Monotonic. */
  let until = 0;
  /** Counted from before the database is asked, so the lease ends here earlier than in the database. */
  function holdFrom(asked: number): void {
    until = Math.max(until, asked + times.leaseMs);
  }
  async function extend(): Promise<void> {
    const from = clock.monotonic();
    if (await store.extend(from, times.leaseMs)) holdFrom(from);
  }
  const extensions = createBackgroundLoop(deps, {
    pass: extend,
    everyMs: times.renewEveryMs,
    retryMs: retryMs(times),
    failure: "could not extend the lease of this replica; trying again",
  });
  const start = (): void => extensions.start(times.renewEveryMs);
  return { holdFrom, holds: () => clock.monotonic() < until, start, stop: extensions.stop };
}

type Renewed = {
  /** The shards that are looked after from now on. */
  readonly kept: ReadonlySet<number>;
  /** When to look next, because then another process may have died. */
  readonly nextEndMs: number | null;
};

async function renew(
  { store, engine, log, onReplicas }: Deps,
  { leaseMs }: LeaseTimes,
  { from, lookAfter }: { readonly from: number; readonly lookAfter: RunEngine["lookAfter"] },
): Promise<Renewed> {
  const holding = await store.renew(from, leaseMs, () => lookAfter(new Set()));
  const { shards, surplus, replicas, nextEndMs } = holding;
  onReplicas(replicas);
  const given = surplus === 0 ? [] : shardsToGive(shards, surplus, engine.shardsSending());
  const kept = new Set(shards).difference(new Set(given));
  lookAfter(kept);
  if (given.length > 0) {
    await store.giveBack(given);
    log.info({ shards: given.length, replicas }, "gave shards back, so that other replicas get their share");
  }
  return { kept, nextEndMs };
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
  { store, engine, log }: Deps,
  { turn, stopping }: { readonly turn: Turn; readonly stopping: () => boolean },
): Promise<number> {
  for (let taken = 0; ;) {
    if (stopping()) return taken;
    turn.progress();
    const batch = await store.claim(CLAIM_BATCH);
    // A batch may be short because one of its rows cannot be read; only an empty batch is the last.
    if (batch.length === 0) return taken;
    for (const stored of batch) {
      await engine.resume(stored);
      turn.progress();
    }
    log.debug({ runs: batch.length }, "took up runs that no process had claimed");
    taken += batch.length;
  }
}
