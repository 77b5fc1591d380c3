// Gathers the calls of a channel that are due at about the same time, so that people get one reminder for several waiting requests. A
// reminder that is due soon is sent together with one that is due now. One process holds all runs of a channel, so one process gathers.

import { type CallIn, fateOf, isReminder, saysNow } from "../domain/call.ts";
import {
  combineCalled,
  carry,
  unsettledCalls,
  endGathered,
  GATHER_MS,
  hasJoined,
  joinable,
  joinCalls,
  settleJoined,
} from "../domain/gathered-call.ts";
import { canJoinReminderFrom, remindEarly } from "../domain/follow-up-due.ts";
import type { Called, Gathered, GatheredCall } from "../domain/follow-up.ts";
import type { ChannelId, RunKey } from "../domain/ids.ts";
import { cardOf, type Run } from "../domain/run.ts";
import { OPENING } from "../domain/slot.ts";
import { approvalMarks } from "../domain/text/card-layout.ts";
import { askedIn } from "../domain/text/headline.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore } from "../ports/store.ts";
import { createBackgroundLoop } from "./background-work.ts";
import { nullIfUnreadable } from "./change-runs.ts";
import type { Clock, CountedTime } from "./clock.ts";
import { type CountedRun, countWaiting, waitingCalls } from "./count-waiting.ts";
import { createRunFacts, type RunFactsDeps } from "./run-facts.ts";
import type { Change } from "./transact.ts";

export type GatherCalls = {
  start(): void;
  stop(): Promise<void>;
};

/** The wait after the first due call before the calls of its channel are gathered (ms). It ends before any of them is posted. */
const SOON_MS = GATHER_MS / 3;
const CHECK_MS = 10_000;
const RETRY_MS = [1_000, 30_000] as const;

type Deps = {
  readonly store: Pick<RunStore, "load">;
  readonly change: Change;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly time: Pick<CountedTime, "isCounted">;
};

type CallToJoin = Pick<Gathered, "says" | "channel"> & {
  readonly told: GatheredCall;
  /** Only calls of the same kind share a message. */
  readonly kind: string;
  readonly who: Called;
  /** When the request was first seen (wall time). */
  readonly since: number;
};

/** What the gathering needs to know about a run. */
type RunFacts = CountedRun & {
  readonly channel: ChannelId;
  /** True if the run's thread is open, so that the run can carry a message. */
  readonly canCarry: boolean;
  /** See `canJoinReminderFrom`. */
  readonly joinsFrom: number | null;
  readonly calls: readonly CallToJoin[];
  /** The carriers that calls of this run have joined without knowing the result. */
  readonly doubts: readonly RunKey[];
};

export function createGatherCalls(given: Omit<Deps, "change"> & RunFactsDeps): GatherCalls {
  const runFacts = createRunFacts(given, {
    factsOf: (run) => factsOf(run, given.clock.monotonic()),
    onFacts: (facts) => void (hasCalls(facts) && loop.wake(SOON_MS)),
  });
  const deps = { ...given, change: runFacts.change };

  async function pass(): Promise<void> {
    await runFacts.readOnce();
    for (const facts of runFacts.values()) await settle(deps, facts);
    for (const [, runs] of Map.groupBy([...runFacts.values()], ({ channel }) => channel))
      if (!(await gatherChannel(deps, runs))) loop.wake(SOON_MS);
  }

  const loop = createBackgroundLoop(deps, {
    pass,
    everyMs: CHECK_MS,
    retryMs: RETRY_MS,
    failure: "could not gather the reminders of a channel",
  });
  return { start: () => loop.start(0), stop: loop.stop };
}

/**
 * Settles the calls of `key` that joined the carrier's message. If the carrier cannot be read, its message may never be posted, so they are
 * posted after all.
 */
async function settleWith({ store, change }: Deps, key: RunKey, carrier: RunKey): Promise<void> {
  const stored = await store.load(carrier).catch(nullIfUnreadable);
  await change(key, (run) => settleJoined(run, stored?.run ?? null, carrier));
}

const hasCalls = ({ calls, doubts }: RunFacts): boolean => calls.length + doubts.length > 0;

/** Returns null if there is nothing to gather, to settle or to end. */
function factsOf(run: Run, monotonic: number): RunFacts | null {
  const { key, channel, gathered = [] } = run;
  const calls = joinable(run, monotonic, GATHER_MS).map(({ approval, call, who }): CallToJoin => {
    const { stageMs = 0, channel: otherChannel } = call;
    const says = saysNow({ approval, call });
    const place = otherChannel === undefined ? {} : { channel: otherChannel };
    const kind = `${gatheredKind(says)} ${stageMs} ${otherChannel ?? ""}`;
    const told = gatheredCall(run, { approval, call });
    return { told, says, ...place, kind, who, since: approval.since };
  });
  const doubts = [...new Set(unsettledCalls(run).flatMap(({ call }) => call.within ?? []))];
  const open = gathered.filter(({ over }) => over !== true);
  const waiting = waitingCalls(run);
  const joinsFrom = canJoinReminderFrom(run);
  if (calls.length + doubts.length + open.length + waiting.length === 0 && joinsFrom === null) return null;
  const canCarry = run.posts[OPENING]?.type === "up";
  return { key, channel, canCarry, joinsFrom, calls, doubts, open, waiting };
}

/** The most characters of what a request asks for. */
const ASKED_CHARS = 110;

/** Describes a call for its combined message, whose carrier knows nothing of the requests of other runs. */
export function gatheredCall(run: Run, { approval, call }: CallIn): GatheredCall {
  const card = cardOf(run, approval);
  const { risk, where } = approvalMarks(run, approval);
  return {
    run: run.key,
    approval: approval.id,
    n: call.n,
    ...(call.says === "over" && fateOf({ approval, call }) === "closed" ? { closed: true } : {}),
    asked: askedIn(approval.request, ASKED_CHARS),
    marks: { risk, where },
    ...(card === null ? {} : { card }),
  };
}

/** Settles the calls that a crash, or a failure of the store, has left between two steps of `sendTogether`. */
async function settle(deps: Deps, { key, doubts }: RunFacts): Promise<void> {
  for (const carrier of doubts) await settleWith(deps, key, carrier);
}

/**
 * If a reminder is due, makes the reminders that are due soon due now. Resolves to whether there were any: the people that they call must
 * then be looked up first.
 */
async function advanceReminders({ change, clock, time }: Deps, runs: readonly RunFacts[]): Promise<boolean> {
  const isDue = runs.some(({ calls }) => calls.some(isReminder));
  const monotonic = clock.monotonic();
  const mayHurry = isDue && time.isCounted(monotonic);
  const early = runs.filter(({ joinsFrom }) => mayHurry && joinsFrom !== null && joinsFrom <= monotonic);
  for (const { key } of early)
    await change(key, (run) => remindEarly(run, { now: clock.now(), monotonic: clock.monotonic() }));
  return early.length > 0;
}

/** Resolves to false if the calls of the channel cannot be gathered yet. */
async function gatherChannel(deps: Deps, runs: readonly RunFacts[]): Promise<boolean> {
  await countWaiting(deps, runs);
  if (await advanceReminders(deps, runs)) return false;
  await gather(deps, runs);
  return true;
}

async function gather(deps: Deps, runs: readonly RunFacts[]): Promise<void> {
  const carrier = runs.find(({ canCarry, calls }) => canCarry && calls.length > 0);
  if (carrier === undefined) return;
  const byKind = Map.groupBy(
    runs.flatMap(({ calls }) => calls),
    ({ kind }) => kind,
  );
  for (const calls of byKind.values()) {
    const [first] = calls;
    if (calls.length < 2 || first === undefined) continue;
    await sendTogether(deps, carrier.key, calls);
    await endEarlier(deps, runs, first);
  }
}

/** Only the newest reminder of a channel calls people. The earlier ones end, and are reduced to one line. */
async function endEarlier(
  { change }: Deps,
  runs: readonly RunFacts[],
  { says, channel }: CallToJoin,
): Promise<void> {
  for (const { key, open } of runs)
    for (const earlier of open)
      if (gatheredKind(earlier.says) === gatheredKind(says) && earlier.channel === channel)
        await change(key, (run) => endGathered(run, earlier.since));
}

/** All reminders are sent together. */
const gatheredKind = (says: CallToJoin["says"]): CallToJoin["says"] =>
  isReminder({ says }) ? "waits" : says;

/** If a last reminder is among them, the message says so. Each card says when its time ends. */
function saysOf(calls: readonly CallToJoin[], first: CallToJoin): CallToJoin["says"] {
  const all = new Set(calls.map(({ says }) => says));
  if (all.has("last")) return "last";
  return all.size === 1 ? first.says : "waits";
}

/** Marks the calls of the other runs first, and those of the carrier last. See gathered-call.ts for the reason. */
async function sendTogether(deps: Deps, carrier: RunKey, calls: readonly CallToJoin[]): Promise<void> {
  const { change, clock, log } = deps;
  const [first] = calls;
  if (first === undefined) return;
  const wanted = calls.map(({ told }) => told);
  const others = [...new Set(wanted.map(({ run }) => run))].filter((key) => key !== carrier);
  const of = wanted.filter(({ run }) => run === carrier);
  for (const key of others) {
    const joined = await change(key, (run) => joinCalls(run, wanted, carrier));
    // A call may have begun to leave in its own message since the calls were listed.
    if (joined !== null)
      of.push(...wanted.filter((call) => call.run === key && hasJoined(joined, call, carrier)));
  }
  const notice: Gathered = {
    since: clock.now(),
    says: saysOf(calls, first),
    ...(first.channel === undefined ? {} : { channel: first.channel }),
    of,
    oldest: Math.min(...calls.map(({ since }) => since)),
    who: combineCalled(calls.map(({ who }) => who)),
  };
  log.info(
    { run: carrier, requests: of.length, says: notice.says },
    "one message calls people to several requests",
  );
  await change(carrier, (run) =>
    carry(run, { ...notice, since: Math.max(notice.since, newestSince(run) + 1) }),
  );
  for (const key of others) await settleWith(deps, key, carrier);
}

const newestSince = ({ gathered = [] }: Run): number => Math.max(0, ...gathered.map(({ since }) => since));
