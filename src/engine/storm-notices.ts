// Watches how many requests of each channel wait for their cards. Where they are too many, one run of the channel carries a notice.

import { type ChannelId, type RunKey, shardOf } from "../domain/ids.ts";
import { CALM_AT, isStorming, MAX_CARDS, waitingForCards } from "../domain/storm.ts";
import { OPENING, type Run, type Storm } from "../domain/run.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Change } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";

export type StormNotices = {
  readonly heard: (run: Run) => void;
  readonly dropped: (key: RunKey) => void;
  start(): void;
  stop(): Promise<void>;
};

/** How soon after a request comes its channel is looked at (ms): requests of the same moment are counted together. */
const SOON_MS = 500;
const CHECK_MS = 2_000;
/** How often a notice tells a new number (ms): an update is one of the fifty a minute that the workspace has. */
const GROWN_MS = 2_000;
const FALLEN_MS = 15_000;
/** A channel is calm when so many checks in a row say so: between two of them a run may be counted late. */
const CALM_CHECKS = 2;
const MAX_RUNS = 100_000;
const RETRY_MS = [1_000, 30_000] as const;

type Deps = {
  readonly store: Pick<RunStore, "list" | "channelsInUse">;
  readonly engine: Pick<RunEngine, "looksAfter">;
  readonly change: Change;
  readonly clock: Clock;
  readonly log: EventLog;
};

/** What is known of a run in which something waits, or which carries a notice. */
type Known = {
  readonly key: RunKey;
  readonly channel: ChannelId;
  readonly waiting: number;
  readonly storm: Storm | null;
  /** Its thread is open, so it is followed in this channel for everyone to see. */
  readonly canCarry: boolean;
};

export function createStormNotices(deps: Deps): StormNotices {
  const known = new Map<RunKey, Known>();
  const calm = new Map<ChannelId, number>();
  /** The runs that were heard before all were read; null: all are read. */
  let heard: Set<RunKey> | null = new Set();

  function note(run: Run): void {
    const { key, channel, storm } = run;
    const waiting = waitingForCards(run);
    const open = isStorming(run) && storm !== undefined ? storm : null;
    if (waiting === 0 && open === null) return void known.delete(key);
    known.set(key, { key, channel, waiting, storm: open, canCarry: run.posts[OPENING]?.type === "up" });
  }

  /** After a restart a run may carry a notice already, and must be known before another one gets a second. */
  async function readAll(): Promise<void> {
    // What was heard meanwhile is newer.
    for (const run of await ownRuns(deps)) if (heard?.has(run.key) === false) note(run);
    heard = null;
  }

  async function pass(): Promise<void> {
    if (heard !== null) await readAll();
    const byChannel = Map.groupBy(known.values(), ({ channel }) => channel);
    for (const channel of calm.keys()) if (!byChannel.has(channel)) calm.delete(channel);
    for (const [channel, runs] of byChannel) await check(deps, calm, channel, runs);
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not keep the notice of many requests",
  });
  return {
    heard(run) {
      note(run);
      heard?.add(run.key);
      if (heard === null && known.has(run.key)) loop.wake(SOON_MS);
    },
    dropped: (key) => void known.delete(key),
    start: () => loop.start(CHECK_MS),
    stop: loop.stop,
  };
}

async function ownRuns({ store, engine }: Deps): Promise<readonly Run[]> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return [];
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  return runs.filter((run) => engine.looksAfter(shardOf(run)));
}

async function check(
  deps: Deps,
  calm: Map<ChannelId, number>,
  channel: ChannelId,
  runs: readonly Known[],
): Promise<void> {
  const waiting = runs.reduce((sum, each) => sum + each.waiting, 0);
  const [carrier, ...more] = runs.filter(({ storm }) => storm !== null);
  for (const { key } of more) await end(deps, key);
  if (carrier === undefined || carrier.storm === null) {
    const free = runs.find(({ canCarry }) => canCarry);
    if (waiting > MAX_CARDS && free !== undefined) await begin(deps, free.key, waiting);
    return;
  }
  if (waiting > CALM_AT) {
    calm.delete(channel);
    return tell(deps, carrier.key, carrier.storm, waiting);
  }
  const checks = (calm.get(channel) ?? 0) + 1;
  calm.set(channel, checks);
  if (checks >= CALM_CHECKS) await end(deps, carrier.key);
}

async function begin({ change, clock, log }: Deps, key: RunKey, waiting: number): Promise<void> {
  const now = clock.now();
  log.info({ run: key, waiting }, "many requests wait for their cards; a notice tells the channel");
  await change(key, (run) =>
    isStorming(run) ? run : { ...run, storm: { since: now, waiting, at: now, until: null } },
  );
}

async function tell({ change, clock }: Deps, key: RunKey, storm: Storm, waiting: number): Promise<void> {
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
