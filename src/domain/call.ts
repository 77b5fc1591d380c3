// Calls: messages that call people to a request that waits. A reminder, the last one before the time is up, a stage of the escalation,
// and the end of the time. Each is posted once, as a reply in the run's thread or, for a stage, in a channel that the policy names.

import type { Approval } from "./approval.ts";
import type { Call, Called, Gathered } from "./follow-up.ts";
import type { ApprovalId, ChannelId, RunKey } from "./ids.ts";
import { isFresh } from "./posted-message.ts";
import { findApproval, replaceApproval, type Run, type Slot } from "./run.ts";

/** A call of this age (ms) is posted: until then others of its channel may join it. */
export const GATHER_MS = 15_000;
/** A reminder may come at most this much early (ms), to share a message with another reminder of its channel. */
export const EARLY_MS = 5 * 60_000;
/** The older ones of a request are forgotten; their messages stay. */
const MAX_CALLS = 40;
/** After this many look-ups without an answer from Slack, the call mentions no one. */
const MAX_TRIES = 3;
const NO_ONE: Called = { users: [], groups: [], more: 0 };

export const isReminder = ({ says }: Pick<Call, "says">): boolean => says === "waits" || says === "last";

export function withCall(
  approval: Approval,
  call: Pick<Call, "says" | "at" | "notBefore" | "who"> & Partial<Call>,
): Approval {
  const { calls = [], requestVersion: of } = approval;
  const n = (calls.at(-1)?.n ?? 0) + 1;
  return {
    ...approval,
    calls: [...calls, { n, of, tries: 0, lookAt: call.notBefore, ...call }].slice(-MAX_CALLS),
  };
}

function changeCall(run: Run, id: ApprovalId, n: number, change: (call: Call) => Call): Run {
  const approval = findApproval(run, id);
  if (approval?.calls === undefined) return run;
  return replaceApproval(run, {
    ...approval,
    calls: approval.calls.map((each) => (each.n === n ? change(each) : each)),
  });
}

/** Records who the call mentions. `found` null: Slack did not answer, and is asked again at `retryAt` (monotonic). */
export function answerCall(
  run: Run,
  id: ApprovalId,
  n: number,
  { found, retryAt }: { readonly found: Called | null; readonly retryAt: number },
): Run {
  return changeCall(run, id, n, (call) => {
    if (call.who !== null) return call;
    if (found !== null) return { ...call, who: found };
    const tries = call.tries + 1;
    return tries < MAX_TRIES ? { ...call, tries, lookAt: retryAt } : { ...call, tries, who: NO_ONE };
  });
}

// Slots: each call has its own message.

const [THREAD, ELSEWHERE] = ["call ", "announcement "];

export function callSlot({ id }: Pick<Approval, "id">, { n, channel }: Call): Slot {
  return channel === undefined ? `${THREAD}${n} ${id}` : `${ELSEWHERE}${channel} ${n} ${id}`;
}

export const isAnnouncement = (slot: Slot): boolean => slot.startsWith(ELSEWHERE);

export type CallIn = { readonly approval: Approval; readonly call: Call };

export function callsOf({ approvals }: Pick<Run, "approvals">): readonly CallIn[] {
  return approvals.flatMap((approval) => (approval.calls ?? []).map((call) => ({ approval, call })));
}

/** Null: the slot is no call's. */
export function callIn(run: Pick<Run, "approvals">, slot: Slot): CallIn | null {
  if (!slot.startsWith(THREAD) && !slot.startsWith(ELSEWHERE)) return null;
  return callsOf(run).find(({ approval, call }) => callSlot(approval, call) === slot) ?? null;
}

/** It still calls people to what they can decide. The end of the time stays true. */
export function isCurrent({ approval, call }: CallIn): boolean {
  if (call.says === "over") return true;
  if (approval.state.type !== "pending" || call.of !== approval.requestVersion) return false;
  const newest = (approval.calls ?? []).findLast(isReminder);
  return !isReminder(call) || newest === call;
}

/** Null: it is not to be posted, or it is not known yet who is called. */
export function callRenderKey(run: Pick<Run, "posts">, each: CallIn): string | null {
  const { approval, call } = each;
  if (call.who === null || call.within !== undefined) return null;
  const current = isCurrent(each);
  if (!current && isFresh(run.posts[callSlot(approval, call)])) return null;
  return current ? `${call.says} of ${call.of}` : "past";
}

// Several calls of a channel at the same time become one message there. A run of the channel carries it, as with the notice of a storm, so it
// is posted, found again and updated like every other message. It has no buttons of a request: Review opens the reader's own queue.
//
// The calls of the other runs are marked first (`within`), then the carrier has the message, then they are marked as told. A crash in
// between is settled by what the carrier has.

/** Most people and groups that it mentions. */
const MAX_CALLED = 20;
/** The older ones of a run are forgotten; their messages stay as they are. */
const MAX_CARRIED = 20;

const SEVERAL = "several ";
export const isGatheredSlot = (slot: Slot): boolean => slot.startsWith(SEVERAL);
const slotOf = ({ since }: Gathered): Slot => `${SEVERAL}${since}`;

export const gatheredSlots = ({ gathered = [] }: Pick<Run, "gathered">): readonly Slot[] =>
  gathered.map(slotOf);

export function gatheredIn({ gathered = [] }: Pick<Run, "gathered">, slot: Slot): Gathered | null {
  return gathered.find((each) => slotOf(each) === slot) ?? null;
}

export const carriesOpen = ({ gathered = [] }: Pick<Run, "gathered">): boolean =>
  gathered.some(({ over }) => over !== true);

/** Null: no message is wanted. */
export function gatheredRenderKey(run: Pick<Run, "gathered" | "posts">, slot: Slot): string | null {
  const found = gatheredIn(run, slot);
  if (found === null) return null;
  if (found.over === true) return isFresh(run.posts[slot]) ? null : "over";
  return `${found.says} ${found.of.length}`;
}

/** The channel that a message of the run goes to. */
export function channelOf(run: Pick<Run, "approvals" | "channel" | "gathered">, slot: Slot): ChannelId {
  const elsewhere = isAnnouncement(slot) ? callIn(run, slot)?.call.channel : gatheredIn(run, slot)?.channel;
  return elsewhere ?? run.channel;
}

/** A call that may still become part of such a message. */
type Joinable = { readonly approval: Approval; readonly call: Call; readonly who: Called };

/** Those that are due within `withinMs` (monotonic: `now`), and not posted. */
export function joinable(run: Run, now: number, withinMs: number): readonly Joinable[] {
  return callsOf(run).flatMap(({ approval, call }): Joinable[] => {
    const { who, within, notBefore } = call;
    if (who === null || within !== undefined || notBefore - now > withinMs) return [];
    const open = isCurrent({ approval, call }) && isFresh(run.posts[callSlot(approval, call)]);
    return open ? [{ approval, call, who }] : [];
  });
}

/** The calls are told of by a message that `carrier` carries, or is about to. The same run where they are posted already. */
export function joinCalls(run: Run, of: Gathered["of"], carrier: RunKey): Run {
  return of
    .filter((each) => each.run === run.key)
    .reduce((next, { approval, n }) => {
      const slot = callsOf(next).find((each) => each.approval.id === approval && each.call.n === n);
      if (slot === undefined || !isFresh(next.posts[callSlot(slot.approval, slot.call)])) return next;
      return changeCall(next, approval, n, (call) => ({ ...call, within: carrier }));
    }, run);
}

/** Whether the call waits for a message of this carrier. */
export const hasJoined = (run: Run, { approval, n }: Gathered["of"][number], carrier: RunKey): boolean =>
  callsOf(run).some(
    (each) => each.approval.id === approval && each.call.n === n && each.call.within === carrier,
  );

/**
 * The run carries the message from now on, and its own calls are part of it, except for those that are posted already. The same run
 * where fewer than two are left.
 */
export function carry(run: Run, gathered: Gathered): Run {
  const { gathered: before = [] } = run;
  const joined = joinCalls(run, gathered.of, run.key);
  const of = gathered.of.filter((each) => each.run !== run.key || hasJoined(joined, each, run.key));
  if (of.length < 2) return run;
  return { ...markTold(joined, run), gathered: [...before, { ...gathered, of }].slice(-MAX_CARRIED) };
}

/** What the calls that wait for this carrier's message have become: told by it, or to be posted after all. */
export function settleJoined(run: Run, carrier: Run | null, key: RunKey): Run {
  return carrier === null ? releaseJoined(run, key) : releaseJoined(markTold(run, carrier), key);
}

function markTold(run: Run, carrier: Run): Run {
  const told = (carrier.gathered ?? []).flatMap(({ of }) => of);
  return changeJoined(run, carrier.key, (call, approval) =>
    carrier.key === run.key ||
    told.some((each) => each.run === run.key && each.approval === approval.id && each.n === call.n)
      ? { ...call, told: true }
      : call,
  );
}

const releaseJoined = (run: Run, key: RunKey): Run =>
  changeJoined(run, key, ({ within: _waited, ...call }) => call);

function changeJoined(run: Run, key: RunKey, change: (call: Call, approval: Approval) => Call): Run {
  return doubtfulCalls(run)
    .filter(({ call }) => call.within === key)
    .reduce(
      (next, { approval, call }) => changeCall(next, approval.id, call.n, (each) => change(each, approval)),
      run,
    );
}

/** Calls of which it is not known yet whether a message tells of them. */
export const doubtfulCalls = (run: Run) =>
  callsOf(run).filter(({ call }) => call.within !== undefined && call.told !== true);

export function endGathered(run: Run, since: number): Run {
  const { gathered = [] } = run;
  return gathered.some((each) => each.since === since && each.over !== true)
    ? { ...run, gathered: gathered.map((each) => (each.since === since ? { ...each, over: true } : each)) }
    : run;
}

/** Each person once, as far as one message goes. */
export function calledTogether(all: readonly Called[]): Called {
  const users = [...new Set(all.flatMap((each) => each.users))];
  const groups = [...new Set(all.flatMap((each) => each.groups))];
  const more = Math.max(0, ...all.map((each) => each.more)) + Math.max(0, users.length - MAX_CALLED);
  return { users: users.slice(0, MAX_CALLED), groups: groups.slice(0, MAX_CALLED), more };
}
