// Counts the requests of each channel that wait for their cards. If there are too many, one run of the channel carries a notice.

import type { ChannelId, RunKey } from "../domain/ids.ts";
import { CALM_AT, MAX_CARDS } from "../domain/listing.ts";
import { isStorming, waitingForCards } from "../domain/storm.ts";
import type { Run, Storm } from "../domain/run.ts";
import { OPENING } from "../domain/slot.ts";
import type { EventLog } from "../ports.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import { createRunFacts, type RunFactsDeps } from "./run-facts.ts";
import type { Change } from "./transact.ts";

export type StormNotices = {
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

type Deps = { readonly change: Change; readonly clock: Clock; readonly log: EventLog };

/** The facts about a run that has waiting requests or carries a notice. */
type RunFacts = {
  readonly key: RunKey;
  readonly channel: ChannelId;
  readonly waiting: number;
  readonly storm: Storm | null;
  /** True if the run's thread is open in this channel, so that the run can carry a notice. */
  readonly canCarry: boolean;
};

export function createStormNotices(given: Omit<Deps, "change"> & RunFactsDeps): StormNotices {
  const runFacts = createRunFacts(given, { factsOf, onFacts: () => loop.wake(SOON_MS) });
  const deps = { ...given, change: runFacts.change };
  const calmChecks = new Map<ChannelId, number>();

  async function pass(): Promise<void> {
    await runFacts.readOnce();
    const byChannel = Map.groupBy(runFacts.values(), ({ channel }) => channel);
    for (const channel of calmChecks.keys()) if (!byChannel.has(channel)) calmChecks.delete(channel);
    for (const [channel, runs] of byChannel) await check(deps, calmChecks, channel, runs);
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not keep the notice of many requests",
  });
  return { start: () => loop.start(CHECK_MS), stop: loop.stop };
}

function factsOf(run: Run): RunFacts | null {
  const { key, channel } = run;
  const waiting = waitingForCards(run);
  const storm = isStorming(run) && run.storm !== undefined ? run.storm : null;
  if (waiting === 0 && storm === null) return null;
  return { key, channel, waiting, storm, canCarry: run.posts[OPENING]?.type === "up" };
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
