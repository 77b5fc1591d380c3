// The moves between the states of an approval: approval.ts draws them.

import type { Approval, ClosedBecause, Decision, Delivery, PastDecision, Request } from "./approval.ts";
import { FIRST_RULING } from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, Nonce } from "./ids.ts";

export function newApproval(
  id: ApprovalId,
  request: Request,
  nonce: Nonce,
  {
    now,
    monotonic,
    serviceId = id,
  }: Pick<Context, "now" | "monotonic"> & { readonly serviceId?: ApprovalId },
): Approval {
  const opened = { version: 1, requestVersion: 1, nonce, state: { is: "pending" }, past: [] } as const;
  return {
    id,
    serviceId,
    request,
    seenAt: now,
    since: now,
    waitsSince: monotonic,
    ...opened,
    unlisted: null,
    votes: [],
    readers: [],
    audience: null,
    ruling: FIRST_RULING,
  };
}

/** Pending again under a new card version, with the request as it now is. What was voted on an earlier one gives way. */
export function reopen(
  approval: Approval,
  request: Request,
  nonce: Nonce,
  past: PastDecision | null,
): Approval {
  const given = approval.votes.map((vote): PastDecision => ({
    decision: vote,
    because: "request-changed",
    words: "",
  }));
  const { audited: _ofItsEarlierEnd, ...rest } = approval;
  const same = request.digest === approval.request.digest;
  const version = approval.version + 1;
  return {
    ...rest,
    request,
    version,
    requestVersion: same ? approval.requestVersion : version,
    nonce,
    state: { is: "pending" },
    unlisted: null,
    votes: [],
    readers: same ? approval.readers : [],
    past: [...approval.past, ...given, ...(past === null ? [] : voices(past))],
  };
}

/** A decision that rests on several approvals gives way as all of them, the last one last. */
function voices({ decision, ...why }: PastDecision): PastDecision[] {
  const { votes = [], ...last } = decision;
  return [...votes, last].map((each) => ({ ...why, decision: each }));
}

export function close(approval: Approval, because: ClosedBecause, now: number): Approval {
  const given = approval.votes.map((vote): PastDecision => ({ decision: vote, because, words: "" }));
  const past = given.length === 0 ? approval.past : [...approval.past, ...given];
  return { ...approval, unlisted: null, votes: [], past, state: { is: "closed", because, at: now } };
}

/** Closes a decided approval whose decision never left us, and keeps that decision in its history. */
export function voidAndClose(
  approval: Approval,
  decision: Decision,
  because: ClosedBecause,
  now: number,
): Approval {
  const past = [...approval.past, ...voices({ decision, because, words: "" })];
  return close({ ...approval, past }, because, now);
}

export function withDelivery(approval: Approval, decision: Decision, delivery: Delivery): Approval {
  return { ...approval, state: { is: "decided", decision, delivery } };
}
