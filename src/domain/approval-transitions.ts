// The transitions between the states of an approval; approval.ts has the diagram. Only this file puts a state, a delivery or votes
// into an approval, and test/architecture.test.ts checks that. decision-delivery.ts, apply-snapshot.ts, apply-outcome.ts, end-run.ts and
// engine/change-runs.ts choose the next delivery.

import type { Times } from "./context.ts";
import type { Approval, ClosedCause, Decision, Dispute, PastDecision, Request } from "./approval.ts";
import { answeredBefore, type Delivery } from "./delivery-state.ts";
import type { SortedVotes } from "./quorum.ts";
import { afterChange } from "./follow-up.ts";
import type { ApprovalId, Nonce, UserId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import { NOT_YET_APPLIED, type Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { requestChanges } from "./text/request-changes.ts";

export function newApproval(
  id: ApprovalId,
  request: Request,
  nonce: Nonce,
  { now, monotonic, serviceId = id }: Times & { readonly serviceId?: ApprovalId },
): Approval {
  const opened = { version: 1, requestVersion: 1, nonce, state: { type: "pending" }, past: [] } as const;
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
    approverCount: null,
    appliedRule: NOT_YET_APPLIED,
  };
}

/** Makes the approval pending again under a new card version, with the given request. All votes become past decisions. */
export function reopen(
  approval: Approval,
  request: Request,
  nonce: Nonce,
  past: PastDecision | null,
): Approval {
  const voidVotes = approval.votes.map((vote) => asPast(vote, "request-changed"));
  const {
    audited: _ofItsEarlierEnd,
    onlyContextChanged,
    changes: changesBefore = [],
    moreChanges: moreBefore = 0,
    followUp,
    ...rest
  } = approval;
  const isSame = request.digest === approval.request.digest;
  const { changes, moreChanges } = isSame
    ? { changes: changesBefore, moreChanges: moreBefore }
    : requestChanges(approval.request, request);
  const isOnlyContext = isSame ? onlyContextChanged === true : onlyContextDiffers(approval.request, request);
  const version = approval.version + 1;
  return {
    ...rest,
    request,
    version,
    requestVersion: isSame ? approval.requestVersion : version,
    ...(isOnlyContext ? { onlyContextChanged: true } : {}),
    ...(changes.length === 0 ? {} : { changes }),
    ...(moreChanges === 0 ? {} : { moreChanges }),
    ...(isSame && followUp !== undefined ? { followUp } : afterChange(followUp)),
    // The rule of the earlier request calls no one to this one.
    ...(isSame ? {} : { appliedRule: { ...approval.appliedRule, inDoubt: { calledBy: null } } }),
    nonce,
    state: { type: "pending" },
    unlisted: null,
    votes: [],
    readers: isSame ? approval.readers : [],
    past: [...approval.past, ...voidVotes, ...(past === null ? [] : votesBehind(past))],
  };
}

/**
 * Opens the same request again under a new card version. The decisions in `gone` become past decisions; the votes in `left` still count.
 * Keeps `unlisted`, because no new snapshot has settled it.
 */
export function reopenWithVotes(
  approval: Approval,
  nonce: Nonce,
  { gone, left }: { readonly gone: readonly PastDecision[]; readonly left: readonly Decision[] },
): Approval {
  const open = reopen({ ...approval, votes: [] }, approval.request, nonce, null);
  const { unlisted } = approval;
  return { ...open, unlisted, past: [...open.past, ...gone.flatMap(votesBehind)], votes: left };
}

function onlyContextDiffers(before: Request, after: Request): boolean {
  if (before.context === after.context || before.chars !== after.chars) return false;
  return canonicalJson(before.content) === canonicalJson(after.content);
}

/** Splits a past decision into one for each vote that it rests on, in the order in which they were given. */
function votesBehind({ decision, ...why }: PastDecision): PastDecision[] {
  return allVotes(decision).map((vote) => ({ ...why, decision: vote }));
}

export function close(approval: Approval, cause: ClosedCause, now: number): Approval {
  const voidVotes = approval.votes.map((vote) => asPast(vote, cause));
  const past = voidVotes.length === 0 ? approval.past : [...approval.past, ...voidVotes];
  return { ...approval, unlisted: null, votes: [], past, state: { type: "closed", cause, at: now } };
}

/** Closes a decided approval whose decision was certainly not applied, and keeps that decision among the past ones. */
export function voidAndClose(
  approval: Approval,
  decision: Decision,
  cause: ClosedCause,
  now: number,
): Approval {
  const past = [...approval.past, ...votesBehind({ decision, cause, words: "" })];
  return close({ ...approval, past }, cause, now);
}

/** Keeps what the service says of an approval that has closed. */
export function withSaid(approval: Approval, said: string | undefined): Approval {
  const { state } = approval;
  return said === undefined || state.type !== "closed"
    ? approval
    : { ...approval, state: { ...state, said } };
}

/** Closes an approval whose stored record was changed, even if the record calls it confirmed. Only the audit can say what happened. */
export function closeAsTampered(approval: Approval, now: number): Approval {
  const { audited: _audited, ...rest } = approval;
  const state = { type: "closed", cause: "tampered", at: now } as const;
  return { ...rest, votes: [], readers: [], past: [], approverCount: null, state };
}

export function withDelivery(approval: Approval, decision: Decision, delivery: Delivery): Approval {
  return { ...approval, state: { type: "decided", decision, delivery } };
}

export type UnconfirmedCause = Extract<Delivery, { type: "unconfirmed" }>["cause"];

/** Returns the last state of a delivery that may have been applied. */
export const unconfirmed = (
  before: Delivery,
  cause: UnconfirmedCause,
  monotonic: number,
  said?: string,
): Delivery => ({
  type: "unconfirmed",
  at: monotonic,
  cause,
  ...(said === undefined ? {} : { said }),
  ...answeredBefore(before),
});

// A decision on an open approval. The last approval that the rule needs is sent, perhaps after a hold; an earlier one is kept as a vote.

export type UnverifiedVotes = { readonly type: "unverified"; readonly of: readonly UserId[] };

/** Records a denial. One denial decides the request, even while an approval is held. */
export function withDenial(approval: Approval, decision: Decision): Approval {
  const { state, votes, past } = approval;
  const held = state.type === "decided" ? allVotes(state.decision) : [];
  const overruled = [...votes, ...held].map((vote) => asPast(vote, "denied"));
  return {
    ...approval,
    votes: [],
    past: [...past, ...overruled],
    state: { type: "decided", decision, delivery: { type: "recorded" } },
  };
}

/** Records a denial that no person gives: the request expired, or its run is stopped. Votes become past decisions. */
export function withPolicyDenial(
  approval: Approval,
  denial: Decision,
  cause: "expired" | "stopped",
): Approval {
  const past = [...approval.past, ...approval.votes.map((vote) => asPast(vote, cause))];
  return withDelivery({ ...approval, votes: [], past }, denial, { type: "recorded" });
}

/** Applies `change` to each decision of the approval. The state does not change. */
export function mapDecisions(approval: Approval, change: (decision: Decision) => Decision): Approval {
  const { state } = approval;
  const voted = { ...approval, votes: approval.votes.map(change) };
  return state.type === "decided" ? withDelivery(voted, change(state.decision), state.delivery) : voted;
}

/**
 * Records an approval. If the rule needs more, it is kept as a vote. If it is the last one needed, the earlier votes, which were checked
 * again, are counted; those that no longer count become past decisions.
 */
export function withApproval(
  approval: Approval,
  decision: Decision,
  { rule, monotonic }: { readonly rule: Rule; readonly monotonic: number },
  { counting, unverified, gone }: SortedVotes,
): Result<Approval, UnverifiedVotes> {
  const { votes } = approval;
  if (votes.length + 1 < rule.needs) return ok({ ...approval, votes: [...votes, decision] });
  if (unverified.length > 0) return err({ type: "unverified", of: votersOf(unverified) });
  const counted = {
    ...approval,
    past: [...approval.past, ...gone.map(({ vote, cause }) => asPast(vote, cause))],
  };
  if (counting.length + 1 < rule.needs) return ok({ ...counted, votes: [...counting, decision] });
  const whole: Decision = counting.length === 0 ? decision : { ...decision, votes: counting };
  const delivery: Delivery =
    rule.holdMs > 0
      ? { type: "held", until: decision.at + rule.holdMs, sendAt: monotonic + rule.holdMs }
      : { type: "recorded" };
  return ok({ ...counted, votes: [], state: { type: "decided", decision: whole, delivery } });
}

/** Returns the earlier approvals of other people that the decision rests on. */
export const earlierVotes = ({ votes = [] }: Decision): readonly Decision[] => votes;

/** Returns the decisions of all voters, each as a single vote, in the order in which they were given. */
export const allVotes = (decision: Decision): readonly Decision[] => [
  ...earlierVotes(decision),
  withoutVotes(decision),
];

/** Returns the decision as a single vote. */
export function withoutVotes({ votes: _votes, ...decision }: Decision): Decision {
  return decision;
}

export function asPast(decision: Decision, cause: PastDecision["cause"]): PastDecision {
  return { decision, cause, words: "" };
}

/** Returns the reason for the service: all reasons that were given, byte for byte, the earliest first. */
export function sentReason(decision: Decision): string {
  const reasons = allVotes(decision).map(({ reason }) => reason);
  return reasons.filter((reason) => reason !== "").join("\n\n");
}

/** Returns everyone who gave the decision or a vote so far, once each. Returns an empty list if no person decided. */
export function decidersOf({ state, votes }: Approval): readonly UserId[] {
  return state.type === "decided" ? votersOf(allVotes(state.decision)) : votersOf(votes);
}

/** Returns the people who gave the decisions, once each. */
export function votersOf(decisions: readonly Decision[]): readonly UserId[] {
  return [...new Set(decisions.flatMap(({ by }) => (by === null ? [] : [by.user])))];
}

// The marks of a dispute ("This was not me") on a card. They follow from the audit, which holds the dispute.

/** Returns the same run if the approval is unknown or already has the mark of this entry. */
export function markDisputed(run: Run, id: ApprovalId, dispute: Dispute): Run {
  const approval = findApproval(run, id);
  if (approval === null) return run;
  const { disputes = [] } = approval;
  if (disputes.some(({ entry }) => entry === dispute.entry)) return run;
  return replaceApproval(run, { ...approval, disputes: [...disputes, dispute] });
}

/** Returns the same run if the dispute of this entry is unknown or already closed. */
export function markDisputeClosed(
  run: Run,
  id: ApprovalId,
  entry: number,
  closed: NonNullable<Dispute["closed"]>,
): Run {
  const approval = findApproval(run, id);
  const { disputes = [] } = approval ?? {};
  const isOpen = disputes.some((dispute) => dispute.entry === entry && dispute.closed === undefined);
  if (approval === null || !isOpen) return run;
  const marked = disputes.map((dispute) => (dispute.entry === entry ? { ...dispute, closed } : dispute));
  return replaceApproval(run, { ...approval, disputes: marked });
}

/** Records that the person has opened the request in full. Returns the same run if the rule does not require that. */
export function markRead(run: Run, id: ApprovalId, digest: string, user: UserId): Run {
  const approval = findApproval(run, id);
  if (approval === null || approval.request.digest !== digest) return run;
  const isRequired = approval.state.type === "pending" && approval.appliedRule.rule.friction.readFirst;
  if (!isRequired || approval.readers.includes(user)) return run;
  return replaceApproval(run, { ...approval, readers: [...approval.readers, user] });
}
