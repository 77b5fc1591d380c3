// Counts the requests of each channel that wait for their cards. If there are too many, one run of the channel carries a notice.

import type { ChannelId, RunKey } from "../domain/ids.ts";
import { CALM_AT, isStorming, MAX_CARDS, waitingForCards } from "../domain/storm.ts";
import { OPENING, type Run, type Storm } from "../domain/run.ts";
import { type EventLog, PortError } from "../ports.ts";
import { ROW_UNREADABLE, type RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import { type Change, eachHeldRun } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";

export type StormNotices = {
  readonly noteRun: (run: Run) => void;
  readonly forgetRun: (key: RunKey) => void;
  start(): void;
  stop(): Promise<void>;
};

/** The wait between the arrival of a request and the check of its channel (ms), so that requests of the same moment count together. */
const SOON_MS = 500;
const CHECK_MS = 2_000;
/** The minimum time between two updates of a notice (ms), for a larger and for a smaller number. A workspace has fifty updates a minute. */
const GROWN_MS = 2_000;
const FALLEN_MS = 15_000;
/** The number of checks in a row that must find a channel calm. One check is not enough, because a run may be counted late. */
const CALM_CHECKS = 2;
const RETRY_MS = [1_000, 30_000] as const;

type Deps = {
  readonly store: Pick<RunStore, "eachRun">;
  readonly engine: Pick<RunEngine, "holdsShard">;
  readonly change: Change;
  readonly clock: Clock;
  readonly log: EventLog;
};

/** The facts about a run that has waiting requests or carries a notice. */
type RunFacts = {
  readonly key: RunKey;
  readonly channel: ChannelId;
  readonly waiting: number;
  readonly storm: Storm | null;
  /** True if the run's thread is open in this channel, so that the run can carry a notice. */
  readonly canCarry: boolean;
};

export function createStormNotices(deps: Deps): StormNotices {
  const runFacts = new Map<RunKey, RunFacts>();
  const calmChecks = new Map<ChannelId, number>();
  /** The runs that were noted before all runs were read from the store. Null once all runs have been read. */
  let notedBeforeRead: Set<RunKey> | null = new Set();

  function updateFacts(run: Run): void {
    const { key, channel, storm } = run;
    const waiting = waitingForCards(run);
    const openStorm = isStorming(run) && storm !== undefined ? storm : null;
    if (waiting === 0 && openStorm === null) return void runFacts.delete(key);
    const canCarry = run.posts[OPENING]?.type === "up";
    runFacts.set(key, { key, channel, waiting, storm: openStorm, canCarry });
  }

  /** After a restart, a run may carry a notice already. It must be known before a second run gets a notice. */
  async function readAll(): Promise<void> {
    // A run that was noted in the meantime is newer than the one read here.
    const isOlder = ({ key }: Run): boolean => notedBeforeRead?.has(key) === false;
    await eachHeldRun(deps, "unfinished", (run) => void (isOlder(run) && updateFacts(run)));
    notedBeforeRead = null;
  }

  async function pass(): Promise<void> {
    if (notedBeforeRead !== null) await readAll();
    const byChannel = Map.groupBy(runFacts.values(), ({ channel }) => channel);
    for (const channel of calmChecks.keys()) if (!byChannel.has(channel)) calmChecks.delete(channel);
    for (const [channel, runs] of byChannel) await check(readable(deps, runFacts), calmChecks, channel, runs);
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not keep the notice of many requests",
  });
  return {
    noteRun(run) {
      updateFacts(run);
      notedBeforeRead?.add(run.key);
      if (notedBeforeRead === null && runFacts.has(run.key)) loop.wake(SOON_MS);
    },
    forgetRun: (key) => void runFacts.delete(key),
    start: () => loop.start(CHECK_MS),
    stop: loop.stop,
  };
}

/** A run that cannot be read carries no notice, and must not keep other runs and other channels from one. So it is forgotten. */
function readable(deps: Deps, runFacts: Map<RunKey, RunFacts>): Deps {
  const change: Change = async (key, ...given) => {
    try {
      return await deps.change(key, ...given);
    } catch (error) {
      if (!(error instanceof PortError) || error.code !== ROW_UNREADABLE) throw error;
      runFacts.delete(key);
      return null;
    }
  };
  return { ...deps, change };
}

async function check(
  deps: Deps,
  calmChecks: Map<ChannelId, number>,
  channel: ChannelId,
  runs: readonly RunFacts[],
): Promise<void> {
  const waiting = runs.reduce((sum, run) => sum + run.waiting, 0);
  const [carrier, ...more] = runs.filter(({ storm }) => storm !== null);
  for (const { key } of more) await end(deps, key);
  if (carrier === undefined || carrier.storm === null) {
    const free = runs.find(({ canCarry }) => canCarry);
    if (waiting > MAX_CARDS && free !== undefined) await begin(deps, free.key, waiting);
    return;
  }
  if (waiting > CALM_AT) {
    calmChecks.delete(channel);
    return updateNumber(deps, carrier.key, carrier.storm, waiting);
  }
  const checks = (calmChecks.get(channel) ?? 0) + 1;
  calmChecks.set(channel, checks);
  if (checks >= CALM_CHECKS) await end(deps, carrier.key);
}

async function begin({ change, clock, log }: Deps, key: RunKey, waiting: number): Promise<void> {
  const now = clock.now();
  log.info({ run: key, waiting }, "many requests wait for their cards; a notice tells the channel");
  await change(key, (run) =>
    isStorming(run) ? run : { ...run, storm: { since: now, waiting, at: now, until: null } },
  );
}

async function updateNumber(
  { change, clock }: Deps,
  key: RunKey,
  storm: Storm,
  waiting: number,
): Promise<void> {
  const now = clock.now();
  const wait = waiting > storm.waiting ? GROWN_MS : FALLEN_MS;
  // The wall clock may have been set back.
  if (waiting === storm.waiting || Math.abs(now - storm.at) < wait) return;
  await change(key, (run) =>
    run.storm === undefined || !isStorming(run) ? run : { ...run, storm: { ...run.storm, waiting, at: now } },
  );
}

async function end({ change, clock }: Deps, key: RunKey): Promise<void> {
  const now = clock.now();
  await change(key, (run) =>
    run.storm === undefined || !isStorming(run) ? run : { ...run, storm: { ...run.storm, until: now } },
  );
}
