// Gathers the calls of a channel that are due at about the same time: several requests that wait, or a storm of them, are one reminder.
// A reminder that is due soon comes with the one that is due now. All runs of a channel belong to one process, so one process gathers them.

import {
  calledTogether,
  carry,
  doubtfulCalls,
  endGathered,
  GATHER_MS,
  hasJoined,
  isReminder,
  joinable,
  joinCalls,
  settleJoined,
} from "../domain/call.ts";
import { joinsReminderFrom, remindEarly } from "../domain/follow-up-due.ts";
import type { Called, Gathered } from "../domain/follow-up.ts";
import { type ApprovalId, type ChannelId, type RunKey, shardOf } from "../domain/ids.ts";
import { OPENING, type Run } from "../domain/run.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import type { Change } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { RunEngine } from "./run-engine.ts";

export type GatherCalls = {
  readonly heard: (run: Run) => void;
  readonly dropped: (key: RunKey) => void;
  start(): void;
  stop(): Promise<void>;
};

/** So long after the first call was due, those of its channel are gathered (ms): before any of them is posted. */
const SOON_MS = GATHER_MS / 3;
const CHECK_MS = 10_000;
const RETRY_MS = [1_000, 30_000] as const;
const MAX_RUNS = 100_000;

type Deps = {
  readonly store: Pick<RunStore, "list" | "channelsInUse" | "load">;
  readonly engine: Pick<RunEngine, "looksAfter">;
  readonly change: Change;
  readonly clock: Clock;
  readonly log: EventLog;
};

type KnownCall = Gathered["of"][number] &
  Pick<Gathered, "says" | "channel"> & {
    readonly kind: string;
    readonly who: Called;
    readonly asked: number;
  };

type Known = {
  readonly key: RunKey;
  readonly channel: ChannelId;
  /** Its thread is open, so it can carry a message. */
  readonly canCarry: boolean;
  /** See `joinsReminderFrom`. */
  readonly joinsFrom: number | null;
  readonly calls: readonly KnownCall[];
  /** Carriers that calls of this run wait for. */
  readonly doubts: readonly RunKey[];
  readonly open: readonly Gathered[];
  readonly pending: ReadonlySet<ApprovalId>;
};

export function createGatherCalls(deps: Deps): GatherCalls {
  const known = new Map<RunKey, Known>();
  /** The runs that were heard before all were read; null: all are read. */
  let heard: Set<RunKey> | null = new Set();

  function note(run: Run): Known | null {
    const facts = factsOf(run, deps.clock.monotonic());
    if (facts === null) known.delete(run.key);
    else known.set(run.key, facts);
    return facts;
  }

  async function readAll(): Promise<void> {
    for (const run of await ownRuns(deps)) if (heard?.has(run.key) === false) note(run);
    heard = null;
  }

  async function pass(): Promise<void> {
    if (heard !== null) await readAll();
    for (const each of known.values()) await settle(deps, each);
    for (const [, runs] of Map.groupBy([...known.values()], ({ channel }) => channel)) {
      await endOld(deps, runs);
      if (await hasEarlyReminders(deps, runs)) loop.wake(SOON_MS);
      else await gather(deps, runs);
    }
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not gather the reminders of a channel",
  });
  return {
    heard(run) {
      const facts = note(run);
      heard?.add(run.key);
      if (heard !== null || facts === null) return;
      if (facts.calls.length > 0 || facts.doubts.length > 0) loop.wake(SOON_MS);
    },
    dropped: (key) => void known.delete(key),
    start: () => loop.start(0),
    stop: loop.stop,
  };
}

/** Null: there is nothing to gather, to settle or to end. */
function factsOf(run: Run, now: number): Known | null {
  const { key, channel, gathered = [] } = run;
  const calls = joinable(run, now, GATHER_MS).map(({ approval, call, who }): KnownCall => {
    const { n, says, stageMs = 0, channel: elsewhere } = call;
    const place = elsewhere === undefined ? {} : { channel: elsewhere };
    const kind = `${saidTogether(says)} ${stageMs} ${elsewhere ?? ""}`;
    return { run: key, approval: approval.id, n, says, ...place, kind, who, asked: approval.since };
  });
  const doubts = [...new Set(doubtfulCalls(run).flatMap(({ call }) => call.within ?? []))];
  const open = gathered.filter(({ over }) => over !== true);
  const pending = run.approvals.filter(({ state }) => state.type === "pending").map(({ id }) => id);
  if (calls.length + doubts.length + open.length + pending.length === 0) return null;
  const canCarry = run.posts[OPENING]?.type === "up";
  return {
    key,
    channel,
    canCarry,
    joinsFrom: joinsReminderFrom(run),
    calls,
    doubts,
    open,
    pending: new Set(pending),
  };
}

async function ownRuns({ store, engine }: Deps): Promise<readonly Run[]> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return [];
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  return runs.filter((run) => engine.looksAfter(shardOf(run)));
}

/** What a crash, or a failure of the store, has left between two steps. */
async function settle({ store, change }: Deps, { key, doubts }: Known): Promise<void> {
  for (const carrier of doubts) {
    const found = (await store.load(carrier))?.run ?? null;
    await change(key, (run) => settleJoined(run, found, carrier));
  }
}

/** Where a reminder is due, those that are due soon are due now, too. True: there were some, and who they call is asked. */
async function hasEarlyReminders({ change, clock }: Deps, runs: readonly Known[]): Promise<boolean> {
  const isDue = runs.some(({ calls }) =>
    calls.some((call) => isReminder(call) && call.channel === undefined),
  );
  const monotonic = clock.monotonic();
  const early = runs.filter(({ joinsFrom }) => isDue && joinsFrom !== null && joinsFrom <= monotonic);
  for (const { key } of early)
    await change(key, (run) => remindEarly(run, { now: clock.now(), monotonic: clock.monotonic() }));
  return early.length > 0;
}

async function gather(deps: Deps, runs: readonly Known[]): Promise<void> {
  const carrier = runs.find(({ canCarry, calls }) => canCarry && calls.length > 0);
  if (carrier === undefined) return;
  const byKind = Map.groupBy(
    runs.flatMap(({ calls }) => calls),
    ({ kind }) => kind,
  );
  for (const calls of byKind.values()) {
    const [first] = calls;
    if (calls.length < 2 || first === undefined) continue;
    await together(deps, carrier.key, calls);
    await endEarlier(deps, runs, first);
  }
}

/** Of several reminders of a channel only the newest calls people; the others fold. */
async function endEarlier(
  { change }: Deps,
  runs: readonly Known[],
  { says, channel }: KnownCall,
): Promise<void> {
  for (const { key, open } of runs)
    for (const earlier of open)
      if (earlier.says === saidTogether(says) && earlier.channel === channel)
        await change(key, (run) => endGathered(run, earlier.since));
}

/** Last reminders are told with the others: their cards say which time ends when. */
const saidTogether = (says: KnownCall["says"]): KnownCall["says"] => (says === "last" ? "waits" : says);

/** The calls of the other runs are marked first, the carrier's last: see call.ts. */
async function together(deps: Deps, carrier: RunKey, calls: readonly KnownCall[]): Promise<void> {
  const { change, clock, log, store } = deps;
  const [first] = calls;
  if (first === undefined) return;
  const wanted = calls.map(({ run, approval, n }) => ({ run, approval, n }));
  const others = [...new Set(wanted.map(({ run }) => run))].filter((key) => key !== carrier);
  const of = wanted.filter(({ run }) => run === carrier);
  for (const key of others) {
    const joined = await change(key, (run) => joinCalls(run, wanted, carrier));
    // Its own message may have begun to leave since the calls were listed.
    if (joined !== null)
      of.push(...wanted.filter((each) => each.run === key && hasJoined(joined, each, carrier)));
  }
  const notice: Gathered = {
    since: clock.now(),
    says: saidTogether(first.says),
    ...(first.channel === undefined ? {} : { channel: first.channel }),
    of,
    oldest: Math.min(...calls.map(({ asked }) => asked)),
    who: calledTogether(calls.map(({ who }) => who)),
  };
  log.info(
    { run: carrier, requests: of.length, says: notice.says },
    "one message calls people to several requests",
  );
  await change(carrier, (run) => carry(run, { ...notice, since: Math.max(notice.since, newest(run) + 1) }));
  const found = (await store.load(carrier))?.run ?? null;
  for (const key of others) await change(key, (run) => settleJoined(run, found, carrier));
}

const newest = ({ gathered = [] }: Run): number => Math.max(0, ...gathered.map(({ since }) => since));

/** None of its requests waits any more. The end of the time stays true. */
async function endOld({ change }: Deps, runs: readonly Known[]): Promise<void> {
  const waits = ({ run, approval }: Gathered["of"][number]): boolean =>
    runs.find(({ key }) => key === run)?.pending.has(approval) === true;
  for (const { key, open } of runs)
    for (const { since, says, of } of open)
      if (says === "over" || !of.some(waits)) await change(key, (run) => endGathered(run, since));
}
