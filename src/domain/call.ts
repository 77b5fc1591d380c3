// Calls: messages that call people to a request that waits. A reminder, the last one before the time is up, a stage of the escalation,
// and the end of the time. Each is posted once, as a reply in the run's thread or, for a stage, in a channel that the policy names.

import type { Approval } from "./approval.ts";
import type { Call, Called } from "./follow-up.ts";
import type { ApprovalId } from "./ids.ts";
import { isFresh } from "./posted-message.ts";
import { findApproval, replaceApproval, type Run, type Slot } from "./run.ts";

/** A call of this age (ms) is posted: until then others of its channel may join it. */
export const GATHER_MS = 15_000;
/** A reminder comes so much (ms) before its time, at most, to be one with another of its channel. */
export const EARLY_MS = 5 * 60_000;
/** The older ones of a request are forgotten; their messages stay. */
const MOST_CALLS = 40;
/** If Slack does not answer so often, no one is mentioned. */
const MOST_TRIES = 3;
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
    calls: [...calls, { n, of, tries: 0, lookAt: call.notBefore, ...call }].slice(-MOST_CALLS),
  };
}

export function changeCall(
  run: Run,
  id: ApprovalId,
  ...[n, change]: readonly [number, (call: Call) => Call]
): Run {
  const approval = findApproval(run, id);
  if (approval?.calls === undefined) return run;
  return replaceApproval(run, {
    ...approval,
    calls: approval.calls.map((each) => (each.n === n ? change(each) : each)),
  });
}

/** What became of the question who is to be called. `found` null: Slack did not answer. */
export function answerCall(
  run: Run,
  id: ApprovalId,
  ...[n, found, retryAt]: readonly [number, Called | null, number]
): Run {
  return changeCall(run, id, n, (call) => {
    if (call.who !== null) return call;
    if (found !== null) return { ...call, who: found };
    const tries = call.tries + 1;
    return tries < MOST_TRIES ? { ...call, tries, lookAt: retryAt } : { ...call, tries, who: NO_ONE };
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
