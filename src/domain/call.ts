// Calls: messages that call people to a request that waits. A call is a reminder, the last reminder before the expiry, the reminder that a
// closed request is open again, a stage of the escalation, or the expiry. Each is posted once, as a reply in the run's thread or, for a stage,
// in a channel that the policy names.

import { deadlineOf, outcomeAtDeadline } from "./applied-rule.ts";
import type { Approval, Verdict } from "./approval.ts";
import { isInForce } from "./delivery-state.ts";
import type { Call, Called } from "./follow-up.ts";
import type { ApprovalId } from "./ids.ts";
import { isFresh } from "./posted-message.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import type { Slot } from "./slot.ts";

/** The most calls that we keep for a request. Older ones are forgotten; their messages stay. */
const MAX_CALLS = 40;
/** After this many look-ups without an answer from Slack, the call mentions no one. */
const MAX_LOOK_UPS = 3;
const NO_ONE: Called = { users: [], groups: [], more: 0 };

export const isReminder = ({ says }: Pick<Call, "says">): boolean => says !== "stage" && says !== "over";

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

/** Changes this call of the approval. Returns the same run if there is no such approval, or if it never had a call. */
export function changeCall(run: Run, id: ApprovalId, n: number, change: (call: Call) => Call): Run {
  const approval = findApproval(run, id);
  if (approval?.calls === undefined) return run;
  return replaceApproval(run, {
    ...approval,
    calls: approval.calls.map((call) => (call.n === n ? change(call) : call)),
  });
}

/** Records whom the call mentions. If Slack did not answer (`found` is null), we ask again at `retryAt` (monotonic). */
export function answerCall(
  run: Run,
  id: ApprovalId,
  n: number,
  { found, retryAt }: { readonly found: Called | null; readonly retryAt: number },
): Run {
  return changeCall(run, id, n, (call) => {
    if (call.who !== null || call.held === true) return call;
    if (found !== null) return { ...call, who: found };
    const tries = call.tries + 1;
    return tries < MAX_LOOK_UPS ? { ...call, tries, lookAt: retryAt } : { ...call, tries, who: NO_ONE };
  });
}

// Slots: each call has its own message.

const IN_THREAD = "call ";
const IN_CHANNEL = "announcement ";

export function callSlot({ id }: Pick<Approval, "id">, { n, channel }: Call): Slot {
  return channel === undefined ? `${IN_THREAD}${n} ${id}` : `${IN_CHANNEL}${channel} ${n} ${id}`;
}

export const isAnnouncement = (slot: Slot): boolean => slot.startsWith(IN_CHANNEL);

export type CallIn = { readonly approval: Approval; readonly call: Call };

export function callsOf({ approvals }: Pick<Run, "approvals">): readonly CallIn[] {
  return approvals.flatMap((approval) => (approval.calls ?? []).map((call) => ({ approval, call })));
}

/** Returns null if the slot does not belong to a call. */
export function callIn(run: Pick<Run, "approvals">, slot: Slot): CallIn | null {
  if (!slot.startsWith(IN_THREAD) && !slot.startsWith(IN_CHANNEL)) return null;
  return callsOf(run).find(({ approval, call }) => callSlot(approval, call) === slot) ?? null;
}

/** Returns whether the call was not posted, and is in no combined message. */
export const isUnsent = ({ posts }: Pick<Run, "posts">, { approval, call }: CallIn): boolean =>
  call.within === undefined && isFresh(posts[callSlot(approval, call)]);

/** What became of the request of a call. "deny": also by the policy. "unclear": a decision did not take effect, or may not have. */
export type Fate = "waits" | "changed" | "closed" | "unclear" | Verdict;

export function fateOf({ approval, call }: CallIn): Fate {
  const { state, requestVersion } = approval;
  if (call.of !== requestVersion) return "changed";
  switch (state.type) {
    case "pending":
      return "waits";
    case "closed":
      return state.cause === "tampered" ? "unclear" : "closed";
    case "decided":
      return isInForce(state.delivery) ? state.decision.verdict : "unclear";
  }
}

/** Returns whether what the call says is still true: people can decide the request, or its time ended it, as the call says. */
export function isCurrent({ approval, call }: CallIn): boolean {
  const isNewest = (says: (call: Call) => boolean): boolean => approval.calls?.findLast(says)?.n === call.n;
  if (call.says === "over") return endedByTime({ approval, call }) && isNewest(({ says }) => says === "over");
  // A call that a request is open again may still wait to be posted. Until then, the reminder before it stands.
  const follows = (later: Call): boolean =>
    isReminder(later) && (call.says === "reopened" || later.says !== "reopened");
  return fateOf({ approval, call }) === "waits" && (!isReminder(call) || isNewest(follows));
}

/** Returns whether the request of the call was closed or denied because its time was up, and nothing else has happened to it since. */
function endedByTime({ approval, call }: CallIn): boolean {
  const { state, requestVersion } = approval;
  if (call.of !== requestVersion) return false;
  if (state.type === "closed") return state.cause === "expired";
  return state.type === "decided" && state.decision.by === null && state.decision.stoppedBy === undefined;
}

/** Returns what the call says now. Once the deadline has moved, the last reminder is an ordinary one, because another last one will come. */
export const saysNow = ({ approval, call }: CallIn): Call["says"] =>
  call.says === "last" && approval.followUp?.warned !== true ? "waits" : call.says;

/** Returns null if the call should not be posted, or if we do not know yet whom it calls. */
export function callRenderKey(run: Pick<Run, "posts">, { approval, call }: CallIn): string | null {
  if (call.who === null || call.within !== undefined) return null;
  const fate = fateOf({ approval, call });
  if (isCurrent({ approval, call }))
    return `${saysNow({ approval, call })} of ${call.of}${requestKey(call, fate, approval)}`;
  if (isFresh(run.posts[callSlot(approval, call)])) return null;
  if (call.channel !== undefined) return `past ${fate}`;
  return fate === "changed" ? "past, changed" : "past";
}

function requestKey({ says }: Call, fate: Fate, approval: Approval): string {
  if (says === "over") return ` ${fate}`;
  const { votes, appliedRule } = approval;
  const voted = votes.length === 0 ? "" : ` votes ${votes.length} of ${appliedRule.rule.needs}`;
  const outcome = says === "stage" ? null : outcomeAtDeadline(approval);
  return outcome === null ? voted : ` ends ${deadlineOf(approval)} ${outcome}${voted}`;
}
