// Posts one notice in each channel when the service has been unreachable for long, and another when it is back or no longer asked.

import { type ChannelId, type RunKey, SHARDS } from "../domain/ids.ts";
import { isWatched, type Outage, type Run } from "../domain/run.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import type { Counters, EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { eachHeldRun } from "./change-runs.ts";
import type { RunEngine } from "./run-engine.ts";
import { isDown, type ServiceBreaker, type ServiceDown, type ServiceState } from "./service-breaker.ts";

/** A notice is posted once the service has been down for this long (ms). */
export const LONG_OUTAGE_MS = 60_000;

export type OutageAnnouncer = { start(): void; stop(): Promise<void> };

/** The longest wait after failures of the store (ms). */
const SLOWEST_RETRY_MS = 30_000;

type Deps = {
  store: Pick<RunStore, "eachRun">;
  engine: Pick<RunEngine, "change" | "holdsShard">;
  breaker: Pick<ServiceBreaker, "state" | "onChange">;
  clock: Clock;
  log: EventLog;
  metrics: Counters;
};

export function createOutageAnnouncer(deps: Deps, checkEveryMs: number): OutageAnnouncer {
  /** What the notices say. Null: unknown, after a start, a gain of shards or a failure. Then an earlier notice may still be open. */
  let announced: "outage" | "none" | null = null;
  const hasGainedShards = createShardGains(deps.engine);
  const warnOnce = createWarning(deps);

  async function check(): Promise<void> {
    const state = deps.breaker.state();
    // The replica that held these shards before may have announced an outage that only it noticed.
    if (hasGainedShards()) announced = null;
    if (state.type === "unknown") {
      if (announced !== "none" && (await announceUnchecked(deps))) announced = "none";
      return;
    }
    const outage = longOutage(state, deps.clock);
    deps.metrics.outage(outage !== null);
    const knowsNone = state.type === "answers" && state.knowsNone === true;
    warnOnce(knowsNone);
    // An outage that is still short changes nothing. If the service knows no run, something else may answer in its place.
    if (outage === null && (state.type !== "answers" || knowsNone)) return;
    const wanted = outage === null ? "none" : "outage";
    if (announced === wanted) return;
    announced = null;
    if (await (outage === null ? announceRecovery(deps) : announceOutage(deps, outage))) announced = wanted;
  }

  const loop = createBackgroundLoop(deps, {
    pass: check,
    everyMs: checkEveryMs,
    retryMs: [checkEveryMs, SLOWEST_RETRY_MS],
    failure: "could not post the notice of an outage",
  });
  // The metric changes together with the state that /agent health shows, and does not wait for the next check.
  deps.breaker.onChange(() => deps.metrics.outage(longOutage(deps.breaker.state(), deps.clock) !== null));
  return { start: () => loop.start(checkEveryMs), stop: loop.stop };
}

/** The function warns when the service begins to know none of the runs. */
function createWarning({ log }: Deps): (knowsNone: boolean) => void {
  let isWarned = false;
  return (knowsNone) => {
    if (knowsNone && !isWarned)
      log.warn({}, "the agent service answers, but knows none of the runs that it is asked about");
    isWarned = knowsNone;
  };
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

/** Null unless the service is down and has been for long. */
function longOutage(state: ServiceState, clock: Clock): ServiceDown | null {
  return isDown(state) && clock.monotonic() - state.since >= LONG_OUTAGE_MS ? state : null;
}

/**
 * The newest run of each channel carries the notice. A channel with an open notice gets no second one. Resolves to false if a notice could
 * not be stored.
 */
async function announceOutage(deps: Deps, away: ServiceDown): Promise<boolean> {
  const { engine, log } = deps;
  log.error(
    { since: new Date(away.at).toISOString(), code: away.code },
    away.type === "away"
      ? "the agent service has been unreachable for over a minute"
      : "the agent service has sent no usable answer for over a minute",
  );
  const carriers = new Map<ChannelId, RunKey>();
  const announced = new Set<ChannelId>();
  await eachHeldRun(deps, "unfinished", (run) => {
    if (!carriers.has(run.channel)) carriers.set(run.channel, run.key);
    if (isOpen(run)) announced.add(run.channel);
  });
  let allStored = true;
  for (const [channel, carrier] of carriers) {
    if (announced.has(channel)) continue;
    const saved = await engine.change(carrier, (run) => ({
      ...run,
      outage: { since: away.at, why: away.publicWhy, until: null },
    }));
    allStored &&= saved !== null;
  }
  return allStored;
}

const isOpen = ({ outage }: Run): boolean => outage !== null && outage.until === null;

/** Resolves to false if the end of the outage could not be stored for every notice. */
async function announceRecovery(deps: Deps): Promise<boolean> {
  const open: RunKey[] = [];
  await eachHeldRun(deps, "unfinished", (run) => void (isOpen(run) && open.push(run.key)));
  if (open.length > 0) deps.log.info({ notices: open.length }, "the agent service is back");
  return endNotices(deps, open, {});
}

/**
 * Ends the notices if no run is watched any more, because the service is then not asked whether it is back. Resolves to false if a run is
 * still watched but has not been polled yet, or if the end could not be stored for every notice.
 */
async function announceUnchecked(deps: Deps): Promise<boolean> {
  const open: RunKey[] = [];
  let isAnyWatched = false;
  await eachHeldRun(deps, "unfinished", (run) => {
    if (isOpen(run)) open.push(run.key);
    isAnyWatched ||= isWatched(run);
  });
  if (isAnyWatched) return false;
  if (open.length > 0)
    deps.log.warn({ notices: open.length }, "no run is watched, so the service is not asked");
  return endNotices(deps, open, { unchecked: true });
}

/** Resolves to false if the end could not be stored for every notice. */
async function endNotices(
  { engine, clock }: Deps,
  keys: readonly RunKey[],
  how: Pick<Outage, "unchecked">,
): Promise<boolean> {
  let allStored = true;
  for (const key of keys) {
    const saved = await engine.change(key, (run) =>
      run.outage === null || run.outage.until !== null
        ? run
        : { ...run, outage: { ...run.outage, until: clock.now(), ...how } },
    );
    allStored &&= saved !== null;
  }
  return allStored;
}
