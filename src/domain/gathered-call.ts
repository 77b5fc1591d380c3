// Several calls of a channel at the same time become one message there. A run of the channel carries it, as with the notice of a storm, so
// it is posted, found again and updated like every other message. It has no buttons of a request; Review opens the reader's own queue.
//
// First the calls of the other runs are marked (`within`), then the carrier stores the message, and then the calls are marked as told.
// After a crash in between, what the carrier has stored settles them.

import type { Approval } from "./approval.ts";
import { callIn, callSlot, callsOf, changeCall, isAnnouncement, isCurrent, isUnsent } from "./call.ts";
import type { Call, Called, Gathered, GatheredCall } from "./follow-up.ts";
import type { ChannelId, RunKey } from "./ids.ts";
import { isFresh } from "./posted-message.ts";
import type { Run } from "./run.ts";
import type { Slot } from "./slot.ts";

/** How long a call waits before it is posted (ms), so that other calls of its channel can join it. */
export const GATHER_MS = 15_000;
/** How early a reminder may come (ms), to share a message with another reminder of its channel. */
export const EARLY_MS = 5 * 60_000;
/** The most people, and the most groups, that one message mentions. */
export const MAX_CALLED = 20;
/** The most requests that one message names. */
const MAX_NAMED = 5;
/** The most messages that we keep for a carrier. Older ones are forgotten; they stay in Slack as they are. */
const MAX_CARRIED = 20;

const SEVERAL = "several ";
export const isGatheredSlot = (slot: Slot): boolean => slot.startsWith(SEVERAL);
const slotOf = ({ since }: Gathered): Slot => `${SEVERAL}${since}`;

export const gatheredSlots = ({ gathered = [] }: Pick<Run, "gathered">): readonly Slot[] =>
  gathered.map(slotOf);

export function gatheredIn({ gathered = [] }: Pick<Run, "gathered">, slot: Slot): Gathered | null {
  return gathered.find((message) => slotOf(message) === slot) ?? null;
}

/** Returns whether the run carries a message about requests that still wait. */
export const carriesOpenCall = ({ gathered = [] }: Pick<Run, "gathered">): boolean =>
  gathered.some(({ over }) => over !== true);

/** Returns null if no message is wanted. */
export function gatheredRenderKey(run: Pick<Run, "gathered" | "posts">, slot: Slot): string | null {
  const found = gatheredIn(run, slot);
  if (found === null) return null;
  const { says, of, over } = found;
  // A message that says that the time is over ends at once, and is posted all the same.
  if (over === true && says !== "over") return isFresh(run.posts[slot]) ? null : "over";
  const done = of.flatMap((each, at) => (isDone(each) ? [at] : []));
  return done.length === 0 ? `${says} ${of.length}` : `${says} ${of.length} without ${done.join(" ")}`;
}

const isDone = ({ done }: GatheredCall): boolean => done === true;

/** Returns the calls that the combined message is about: those whose requests still wait, or all of them once its time is over. */
export const shownCalls = ({ says, of, over }: Gathered): readonly GatheredCall[] =>
  over === true || says === "over" ? of : of.filter((each) => !isDone(each));

/** Returns the channel that a message of the run goes to. */
export function channelOf(run: Pick<Run, "approvals" | "channel" | "gathered">, slot: Slot): ChannelId {
  const channel = isAnnouncement(slot) ? callIn(run, slot)?.call.channel : gatheredIn(run, slot)?.channel;
  return channel ?? run.channel;
}

/** A call that can still join a combined message. */
type Joinable = { readonly approval: Approval; readonly call: Call; readonly who: Called };

/** Returns the calls that are due within `withinMs` and not posted yet. */
export function joinable(run: Run, monotonic: number, withinMs: number): readonly Joinable[] {
  return callsOf(run).flatMap(({ approval, call }): Joinable[] => {
    const { who, notBefore } = call;
    if (who === null || notBefore - monotonic > withinMs) return [];
    const canJoin = isCurrent({ approval, call }) && isUnsent(run, { approval, call });
    return canJoin ? [{ approval, call, who }] : [];
  });
}

const unnamed = ({ run, approval, n, closed }: GatheredCall): GatheredCall => ({
  run,
  approval,
  n,
  ...(closed === true && { closed }),
});

/** Marks the run's calls as part of a message that `carrier` carries, or soon will. Calls that are already posted stay as they are. */
export function joinCalls(run: Run, of: Gathered["of"], carrier: RunKey): Run {
  return of
    .filter((each) => each.run === run.key)
    .reduce((next, { approval, n }) => {
      const found = callsOf(next).find((each) => each.approval.id === approval && each.call.n === n);
      if (found === undefined || !isFresh(next.posts[callSlot(found.approval, found.call)])) return next;
      return changeCall(next, approval, n, (call) => ({ ...call, within: carrier }));
    }, run);
}

/** Returns whether the call waits for a message of this carrier. */
export const hasJoined = (run: Run, { approval, n }: Gathered["of"][number], carrier: RunKey): boolean =>
  callsOf(run).some(
    (each) => each.approval.id === approval && each.call.n === n && each.call.within === carrier,
  );

/**
 * Makes the run the carrier of the message. Its own calls become part of it, except those that are already posted. Returns the same run if
 * fewer than two calls are left.
 */
export function carry(run: Run, gathered: Gathered): Run {
  const { gathered: before = [] } = run;
  const joined = joinCalls(run, gathered.of, run.key);
  const of = gathered.of
    .filter((each) => each.run !== run.key || hasJoined(joined, each, run.key))
    .map((each, at) => (at < MAX_NAMED ? each : unnamed(each)));
  if (of.length < 2) return run;
  return { ...markTold(joined, run), gathered: [...before, { ...gathered, of }].slice(-MAX_CARRIED) };
}

/** Settles the calls that wait for the message of the carrier `key`: the message covers them, or they are posted after all. */
export function settleJoined(run: Run, carrier: Run | null, key: RunKey): Run {
  return carrier === null ? releaseJoined(run, key) : releaseJoined(markTold(run, carrier), key);
}

function markTold(run: Run, carrier: Run): Run {
  const covered = (carrier.gathered ?? []).flatMap(({ of }) => of);
  const isCovered = (call: Call, approval: Approval): boolean =>
    carrier.key === run.key ||
    covered.some((each) => each.run === run.key && each.approval === approval.id && each.n === call.n);
  return changeJoined(run, carrier.key, (call, approval) =>
    isCovered(call, approval) ? { ...call, told: true } : call,
  );
}

const releaseJoined = (run: Run, key: RunKey): Run =>
  changeJoined(run, key, ({ within: _waited, ...call }) => call);

function changeJoined(run: Run, key: RunKey, change: (call: Call, approval: Approval) => Call): Run {
  return unsettledCalls(run)
    .filter(({ call }) => call.within === key)
    .reduce(
      (next, { approval, call }) => changeCall(next, approval.id, call.n, (each) => change(each, approval)),
      run,
    );
}

/** Returns the calls that were to join a message, if we do not know yet whether it covers them. */
export const unsettledCalls = (run: Run) =>
  callsOf(run).filter(({ call }) => call.within !== undefined && call.told !== true);

export const endGathered = (run: Run, since: number): Run =>
  changeGathered(run, since, (message) => ({ ...message, over: true }));

/** Records which requests of the combined message still wait, and what it says now. It ends with the last of them. */
export function markWaiting(
  run: Run,
  since: number,
  isWaiting: (call: GatheredCall) => boolean,
  says: Gathered["says"],
): Run {
  return changeGathered(run, since, (message) => {
    const of = message.of.map(({ done: _before, ...each }): GatheredCall =>
      isWaiting(each) ? each : { ...each, done: true },
    );
    return { ...message, says, of, ...(of.every(isDone) && { over: true }) };
  });
}

function changeGathered(run: Run, since: number, change: (message: Gathered) => Gathered): Run {
  const { gathered = [] } = run;
  const isIt = (message: Gathered): boolean => message.since === since && message.over !== true;
  if (!gathered.some(isIt)) return run;
  return { ...run, gathered: gathered.map((message) => (isIt(message) ? change(message) : message)) };
}

/** Combines the people of several calls, each person once, up to the number that one message mentions. */
export function combineCalled(all: readonly Called[]): Called {
  const users = [...new Set(all.flatMap((called) => called.users))];
  const groups = [...new Set(all.flatMap((called) => called.groups))];
  const more = Math.max(0, ...all.map((called) => called.more)) + Math.max(0, users.length - MAX_CALLED);
  return { users: users.slice(0, MAX_CALLED), groups: groups.slice(0, MAX_CALLED), more };
}
