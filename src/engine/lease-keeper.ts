// Takes this process's share of the runs and keeps it: renews the lease, claims every unfinished run of its shards, and gives back
// shards beyond its share. After a restart, or after the death of another process, all runs are therefore followed again without any
// action of a person.

import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { LeaseStore } from "../ports/store.ts";
import { createQuietWarnings } from "./logging.ts";
import { NOTICED_MS } from "./missed-time.ts";
import type { RunEngine } from "./run-engine.ts";
import { inTurn, type Turn, type Watchdog } from "./watchdog.ts";

/** How long a lease lasts, how often it is renewed (ms), and whether another process may hold the runs after its end. */
export type LeaseTimes = {
  readonly leaseMs: number;
  readonly renewEveryMs: number;
  readonly isShared: boolean;
};

/** For a process that has the database to itself. */
export const ALONE: LeaseTimes = { leaseMs: 60_000, renewEveryMs: 15_000, isShared: false };
/**
 * For replicas. When a replica dies, its runs wait for the rest of its lease; another replica checks as soon as that lease has ended. An
 * extension that takes two seconds, or that fails once and is tried again, still arrives before the end.
 */
export const SHARED: LeaseTimes = { leaseMs: 3_000, renewEveryMs: 750, isShared: true };

const CLAIM_BATCH = 200;

export type LeaseKeeper = {
  /** Resolves to the number of runs that were claimed. Rejects if the store cannot be read. */
  start(): Promise<number>;
  /** Begins a pass at once, because another process may have saved a run that is ours to claim. */
  renewNow(): void;
  /** False if the lease may have expired, because then another process may hold the runs. */
  holdsLease(): boolean;
  /** Whether this machine may have been suspended since the last extension, so that the monotonic clock is behind. */
  mayBeBehind(): boolean;
  /**
   * Claims no more runs. The lease is extended until `release`, so that no other process believes that a call still under way was lost.
   */
  stop(): Promise<void>;
  /** Stops extending the lease. */
  release(): Promise<void>;
};

type Deps = {
  store: Pick<LeaseStore, "claim" | "claimAgain" | "extend" | "renew" | "giveBack">;
  engine: Pick<RunEngine, "resume" | "setHeldShards" | "shardsSending">;
  clock: Clock;
  log: EventLog;
  metrics: Pick<Counters, "leaseLapsed">;
  watchdog: Pick<Watchdog, "begin">;
  /** Called at every pass with the number of processes that use the store. */
  onReplicas: (replicas: number) => void;
};

export function createLeaseKeeper(deps: Deps, times: LeaseTimes): LeaseKeeper {
  const { clock } = deps;
  const lease = createLease(deps, times);
  const { claimRuns, ...shards } = createClaims(deps);
  let started = false;

  async function pass(turn: Turn, isStopping = (): boolean => false): Promise<number> {
    if (isStopping()) return 0;
    const requested = momentOf(clock);
    const { kept, nextEndMs } = await renew(deps, times, { renewedAt: requested.monotonic, ...shards });
    lease.holdFrom(requested);
    if (nextEndMs !== null) wake(nextEndMs);
    return claimRuns(kept, { turn, isStopping });
  }

  const renewals = createBackgroundLoop(deps, {
    pass: (isStopping) => inTurn(deps.watchdog, async (turn) => void (await pass(turn, isStopping))),
    everyMs: times.renewEveryMs,
    retryMs: retryMs(times),
    failure: "could not renew the leases of runs; trying again",
  });
  /** Two passes must never run at once. The first pass runs outside the loop, so the loop is not woken before that pass has ended. */
  const wake = (withinMs: number): void => (started ? renewals.wake(withinMs) : undefined);

  async function start(): Promise<number> {
    lease.start();
    const claimed = await inTurn(deps.watchdog, (turn) => pass(turn));
    started = true;
    renewals.start(times.renewEveryMs);
    return claimed;
  }
  const renewNow = (): void => wake(0);
  const { isHeld: holdsLease, mayBeBehind, stop: release } = lease;
  return { start, renewNow, holdsLease, mayBeBehind, stop: renewals.stop, release };
}

const retryMs = ({ renewEveryMs }: LeaseTimes) => [Math.min(1_000, renewEveryMs), renewEveryMs] as const;

/** One moment by both clocks (ms). */
type Moment = { readonly monotonic: number; readonly wall: number };

const momentOf = ({ monotonic, now }: Clock): Moment => ({ monotonic: monotonic(), wall: now() });

/**
 * Extends the lease independently of the passes, which take long while the database is slow or many runs are claimed. An extension cannot
 * revive a lease that has ended. Only a pass begins a new lease, and before it does so, this process gives up all its runs.
 */
function createLease(deps: Pick<Deps, "store" | "clock" | "log">, times: LeaseTimes) {
  const { clock, store } = deps;
  /** The moment from which the lease lasts. */
  let from: Moment = { monotonic: -times.leaseMs, wall: 0 };
  /** `requested` is a moment before the call to the database, so the lease ends earlier here than in the database. */
  function holdFrom(requested: Moment): void {
    if (requested.monotonic >= from.monotonic) from = requested;
  }
  async function extend(): Promise<void> {
    const requested = momentOf(clock);
    if (await store.extend(requested.monotonic, times.leaseMs)) holdFrom(requested);
  }
  /**
   * The monotonic clock stands still while the machine is suspended, and the wall clock does not. So the lease of a replica ends by the clock
   * on which more time has passed. If the wall clock is set forward, the lease counts as lapsed until the next extension. A call that is about
   * to be made then is not made, and counts as one without an answer, except that of a decision, which counts as not sent.
   */
  const passedMs = (): Record<keyof Moment, number> => ({
    monotonic: clock.monotonic() - from.monotonic,
    wall: times.isShared ? clock.now() - from.wall : 0,
  });
  function isHeld(): boolean {
    const { monotonic, wall } = passedMs();
    return Math.max(monotonic, wall) < times.leaseMs;
  }
  function mayBeBehind(): boolean {
    const { monotonic, wall } = passedMs();
    return wall - monotonic >= NOTICED_MS;
  }
  const extensions = createBackgroundLoop(deps, {
    pass: extend,
    everyMs: times.renewEveryMs,
    retryMs: retryMs(times),
    failure: "could not extend the lease of this replica; trying again",
  });
  const start = (): void => extensions.start(times.renewEveryMs);
  return { holdFrom, isHeld, mayBeBehind, start, stop: extensions.stop };
}

type Renewed = {
  /** The shards that this process holds from now on. */
  readonly kept: ReadonlySet<number>;
  /** The time (ms) until the first lease of another process ends unless it is extended. Null if there is no other process. */
  readonly nextEndMs: number | null;
};

type Renewal = Pick<ReturnType<typeof createClaims>, "setHeldShards" | "onLapsed"> & {
  readonly renewedAt: number;
};

async function renew(
  { store, engine, log, onReplicas }: Deps,
  { leaseMs }: LeaseTimes,
  { renewedAt, setHeldShards, onLapsed }: Renewal,
): Promise<Renewed> {
  const holding = await store.renew(renewedAt, leaseMs, onLapsed);
  const { shards, surplus, replicas, nextEndMs } = holding;
  onReplicas(replicas);
  const returned = surplus === 0 ? [] : shardsToReturn(shards, surplus, engine.shardsSending());
  const kept = new Set(shards).difference(new Set(returned));
  setHeldShards(kept);
  if (returned.length > 0) {
    await store.giveBack(returned);
    log.info(
      { shards: returned.length, replicas },
      "gave shards back, so that other replicas get their share",
    );
  }
  return { kept, nextEndMs };
}

/**
 * Returns up to `surplus` shards to give back. A shard with a call under way stays here: its next process would treat that call as lost
 * and look up its result, while the call may still arrive.
 */
function shardsToReturn(
  shards: readonly number[],
  surplus: number,
  sending: ReadonlySet<number>,
): readonly number[] {
  return shards.filter((shard) => !sending.has(shard)).slice(-surplus);
}

const LAPSED =
  "the lease of this replica has lapsed, so it gives up its runs and begins a new lease: the database did not extend it in time, or this process was suspended";

function createClaims(deps: Deps) {
  const { engine, store, metrics } = deps;
  const warnQuietly = createQuietWarnings(deps);
  let heldShards: ReadonlySet<number> = new Set();
  /** The shards that the engine has held without a break since all their runs were claimed. The runs of any other shard are claimed again. */
  let followedShards: ReadonlySet<number> = new Set();

  function setHeldShards(shards: ReadonlySet<number>): void {
    engine.setHeldShards(shards);
    heldShards = shards;
    followedShards = followedShards.intersection(shards);
  }

  function onLapsed(): void {
    // Before its first lease, and while it cannot begin a new one, this process holds no shard.
    if (heldShards.size > 0) {
      metrics.leaseLapsed();
      warnQuietly("lapsed", { shards: heldShards.size }, LAPSED);
    }
    setHeldShards(new Set());
  }

  async function claimRuns(kept: ReadonlySet<number>, inPass: InPass): Promise<number> {
    const again = [...kept.difference(followedShards)];
    // Between the moment when the database gave us a shard and the moment when the engine held it, a run of it may have been claimed or
    // started. The database says that this run is ours, but no process follows it.
    if (again.length > 0) await store.claimAgain(again);
    // If the answer to a claim is lost, the database says that its runs are ours. Only another claim of all shards then brings them here.
    followedShards = new Set();
    const claimed = await claimAll(deps, inPass);
    followedShards = kept;
    return claimed;
  }

  return { setHeldShards, onLapsed, claimRuns };
}

type InPass = { readonly turn: Turn; readonly isStopping: () => boolean };

async function claimAll({ store, engine, log }: Deps, { turn, isStopping }: InPass): Promise<number> {
  for (let claimed = 0; ;) {
    if (isStopping()) return claimed;
    turn.progress();
    const batch = await store.claim(CLAIM_BATCH);
    // A batch may be short because one of its rows cannot be read, so only an empty batch is the last one.
    if (batch.length === 0) return claimed;
    for (const stored of batch) {
      await engine.resume(stored);
      turn.progress();
    }
    log.debug({ runs: batch.length }, "claimed runs that no process had claimed");
    claimed += batch.length;
  }
}
