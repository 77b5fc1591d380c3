// Posts one notice in each channel when the service has been unreachable for long, and says in it when the service is back.

import { type ChannelId, shardOf, SHARDS } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { Change } from "./change-runs.ts";
import type { RunEngine } from "./run-engine.ts";
import type { ServiceBreaker, ServiceState } from "./service-breaker.ts";

/** A notice is posted once the service has been down for this long (ms). */
export const LONG_OUTAGE_MS = 60_000;
const MAX_RUNS = 100_000;

export type OutageAnnouncer = { start(): void; stop(): Promise<void> };

/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;

type Deps = {
  store: Pick<RunStore, "list" | "channelsInUse">;
  engine: Pick<RunEngine, "holdsShard">;
  guard: Pick<ServiceBreaker, "state" | "onChange">;
  change: Change;
  clock: Clock;
  log: EventLog;
  metrics: Counters;
};

export function createOutageAnnouncer(deps: Deps, checkEveryMs: number): OutageAnnouncer {
  // Null: unknown. After a restart, an earlier notice may still have to say that the service is back.
  let isAnnounced: boolean | null = null;
  const hasGainedShards = createShardGains(deps.engine);

  async function check(): Promise<void> {
    const state = deps.guard.state();
    if (state.type === "unknown") return;
    const down = downOf(state);
    const isLongOutage = isLong(down, deps.clock);
    deps.metrics.outage(isLongOutage);
    // The replica that held these shards before may have announced an outage that only it noticed.
    if (hasGainedShards()) isAnnounced = null;
    if (state.type === "answers" && isAnnounced !== false) {
      isAnnounced = null;
      if (!(await announceRecovery(deps))) return;
    }
    if (down !== null && isLongOutage && isAnnounced !== true) {
      isAnnounced = null;
      if (!(await announceOutage(deps, down))) return;
    }
    if (isLongOutage || state.type === "answers") isAnnounced = isLongOutage;
  }

  const loop = createBackgroundLoop(deps, {
    pass: check,
    everyMs: checkEveryMs,
    retryMs: [checkEveryMs, SLOWEST_RETRY_MS],
    failure: "could not post the notice of an outage",
  });
  // The metric changes together with the state that /agent health shows, and does not wait for the next check.
  deps.guard.onChange(() => deps.metrics.outage(isLong(downOf(deps.guard.state()), deps.clock)));
  return { start: () => loop.start(checkEveryMs), stop: loop.stop };
}

/** The function returns whether this process holds shards that it did not hold at the previous call. */
function createShardGains({ holdsShard }: Deps["engine"]): () => boolean {
  let before: ReadonlySet<number> = new Set();
  return () => {
    const now = new Set(Array.from({ length: SHARDS }, (_, shard) => shard).filter(holdsShard));
    const gained = !now.isSubsetOf(before);
    before = now;
    return gained;
  };
}

const downOf = (state: ServiceState): Down | null =>
  state.type === "away" || state.type === "useless" ? state : null;

function isLong(down: Down | null, clock: Clock): boolean {
  return down !== null && clock.monotonic() - down.since >= LONG_OUTAGE_MS;
}

/** Resolves to the unfinished runs that this process holds. Other processes post the notices of the other channels. */
async function unfinishedRuns(
  { store, engine }: Pick<Deps, "store" | "engine">,
  channels: readonly ChannelId[],
): Promise<readonly Run[]> {
  if (channels.length === 0) return [];
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  return runs.filter((run) => engine.holdsShard(shardOf(run)));
}

type Down = Extract<ServiceState, { type: "away" | "useless" }>;

/**
 * The newest run of each channel carries the notice. A channel with an open notice gets no second one. Resolves to false if a notice could
 * not be stored.
 */
async function announceOutage({ store, engine, change, log }: Deps, away: Down): Promise<boolean> {
  log.error(
    { since: new Date(away.at).toISOString(), code: away.code },
    away.type === "away"
      ? "the agent service has been unreachable for over a minute"
      : "the agent service has sent no usable answer for over a minute",
  );
  let allStored = true;
  for (const channel of await store.channelsInUse()) {
    const runs = await unfinishedRuns({ store, engine }, [channel]);
    const [carrier] = runs;
    if (carrier === undefined || runs.some((run) => run.outage !== null && run.outage.until === null))
      continue;
    const saved = await change(carrier.key, (run) => ({
      ...run,
      outage: { since: away.at, why: away.publicWhy, until: null },
    }));
    allStored &&= saved !== null;
  }
  return allStored;
}

/** Resolves to false if the end of the outage could not be stored for every notice. */
async function announceRecovery({ store, engine, change, clock, log }: Deps): Promise<boolean> {
  const runs = await unfinishedRuns({ store, engine }, await store.channelsInUse());
  const open = runs.filter((run) => run.outage !== null && run.outage.until === null);
  if (open.length > 0) log.info({ notices: open.length }, "the agent service is back");
  let allStored = true;
  for (const { key } of open) {
    const saved = await change(key, (run) =>
      run.outage === null || run.outage.until !== null
        ? run
        : { ...run, outage: { ...run.outage, until: clock.now() } },
    );
    allStored &&= saved !== null;
  }
  return allStored;
}
