// Tells people, once per channel, that the service has been away for long, and once that it is back.

import { type ChannelId, shardOf, SHARDS } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import type { Change } from "./change-runs.ts";
import type { RunEngine } from "./run-engine.ts";
import type { ServiceBreaker, ServiceState } from "./service-breaker.ts";

/** One notice when the service is down for longer than this (ms). */
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
  // Unknown at the start: a notice from before a restart may still need its "back again".
  let announced: boolean | null = null;
  const hasGained = createGains(deps.engine);

  async function check(): Promise<void> {
    const state = deps.guard.state();
    if (state.type === "unknown") return;
    const down = downOf(state);
    const long = isLong(down, deps.clock);
    deps.metrics.outage(long);
    // Their last replica may have told of an outage that only it saw.
    if (hasGained()) announced = null;
    if (state.type === "answers" && announced !== false) {
      announced = null;
      if (!(await announceRecovery(deps))) return;
    }
    if (down !== null && long && announced !== true) {
      announced = null;
      if (!(await announceOutage(deps, down))) return;
    }
    if (long || state.type === "answers") announced = long;
  }

  const loop = createBackgroundLoop(deps, {
    pass: check,
    everyMs: checkEveryMs,
    retryMs: [checkEveryMs, SLOWEST_RETRY_MS],
    failure: "could not post the notice of an outage",
  });
  // The metric follows the state that /agent health shows, not the next check.
  deps.guard.onChange(() => deps.metrics.outage(isLong(downOf(deps.guard.state()), deps.clock)));
  return { start: () => loop.start(checkEveryMs), stop: loop.stop };
}

/** The function says whether this process looks after shards that it did not look after when it was last asked. */
function createGains({ holdsShard }: Deps["engine"]): () => boolean {
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

/** Of the channels that this process looks after; another one posts the notices of the others. */
async function unfinished(
  { store, engine }: Pick<Deps, "store" | "engine">,
  channels: readonly ChannelId[],
): Promise<readonly Run[]> {
  if (channels.length === 0) return [];
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  return runs.filter((run) => engine.holdsShard(shardOf(run)));
}

type Down = Extract<ServiceState, { type: "away" | "useless" }>;

/** The newest run of each channel carries the notice; a channel that has one gets no second. */
async function announceOutage({ store, engine, change, log }: Deps, away: Down): Promise<boolean> {
  log.error(
    { since: new Date(away.at).toISOString(), code: away.code },
    away.type === "away"
      ? "the agent service has been away for long"
      : "the agent service has sent no usable answer for long",
  );
  let all = true;
  for (const channel of await store.channelsInUse()) {
    const runs = await unfinished({ store, engine }, [channel]);
    const [carrier] = runs;
    if (carrier === undefined || runs.some((run) => run.outage !== null && run.outage.until === null))
      continue;
    const said = await change(carrier.key, (run) => ({
      ...run,
      outage: { since: away.at, why: away.publicWhy, until: null },
    }));
    all &&= said !== null;
  }
  return all;
}

async function announceRecovery({ store, engine, change, clock, log }: Deps): Promise<boolean> {
  const runs = await unfinished({ store, engine }, await store.channelsInUse());
  const open = runs.filter((run) => run.outage !== null && run.outage.until === null);
  if (open.length > 0) log.info({ notices: open.length }, "the agent service is back");
  let all = true;
  for (const { key } of open) {
    const said = await change(key, (run) =>
      run.outage === null || run.outage.until !== null
        ? run
        : { ...run, outage: { ...run.outage, until: clock.now() } },
    );
    all &&= said !== null;
  }
  return all;
}
