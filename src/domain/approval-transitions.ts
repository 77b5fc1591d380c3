// The transitions between the states of an approval: approval.ts draws them. Only this file builds a next state, a next delivery or
// a next list of votes; test/architecture.test.ts holds it to that.

import {
  type Approval,
  BUILT_IN_APPLIED_RULE,
  type ClosedCause,
  type Decision,
  type Delivery,
  type Dispute,
  type PastDecision,
  type Request,
} from "./approval.ts";
import type { VoteValidity } from "./authorization.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, Nonce, UserId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import type { Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { requestChanges } from "./text/request-changes.ts";

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
    appliedRule: BUILT_IN_APPLIED_RULE,
  };
}

/** Pending again under a new card version, with the current request. Votes on an earlier request give way. */
export function reopen(
  approval: Approval,
  request: Request,
  nonce: Nonce,
  past: PastDecision | null,
): Approval {
  const given = approval.votes.map((vote): PastDecision => ({
    decision: vote,
    cause: "request-changed",
    words: "",
  }));
  const { audited: _ofItsEarlierEnd, onlyContextChanged, changes: before = [], followUp, ...rest } = approval;
  const same = request.digest === approval.request.digest;
  const changes = same ? before : requestChanges(approval.request, request);
  const around = same ? onlyContextChanged === true : onlyContextDiffers(approval.request, request);
  const version = approval.version + 1;
  return {
    ...rest,
    request,
    version,
    requestVersion: same ? approval.requestVersion : version,
    ...(around ? { onlyContextChanged: true } : {}),
    ...(changes.length === 0 ? {} : { changes }),
    ...(same && followUp !== undefined ? { followUp } : {}),
    nonce,
    state: { type: "pending" },
    unlisted: null,
    votes: [],
    readers: same ? approval.readers : [],
    past: [...approval.past, ...given, ...(past === null ? [] : votesBehind(past))],
  };
}

/**
 * Opens the same request again under a new card version. `gone` become past decisions; the votes in `left` still count. Keeps
 * `unlisted`, because no new snapshot has settled it.
 */
export function reopenWithVotes(
  approval: Approval,
  nonce: Nonce,
  { gone, left }: { readonly gone: readonly PastDecision[]; readonly left: readonly Decision[] },
): Approval {
  const open = reopen(approval, approval.request, nonce, null);
  const { unlisted } = approval;
  return { ...open, unlisted, past: [...open.past, ...gone.flatMap(votesBehind)], votes: left };
}

function onlyContextDiffers(was: Request, is: Request): boolean {
  if (was.context === is.context || was.chars !== is.chars) return false;
  return canonicalJson(was.content) === canonicalJson(is.content);
}

/** One past decision for each approval that the decision rests on, in the order in which they were given. */
function votesBehind({ decision, ...why }: PastDecision): PastDecision[] {
  const { votes = [], ...last } = decision;
  return [...votes, last].map((each) => ({ ...why, decision: each }));
}

export function close(approval: Approval, cause: ClosedCause, now: number): Approval {
  const given = approval.votes.map((vote): PastDecision => ({ decision: vote, cause, words: "" }));
  const past = given.length === 0 ? approval.past : [...approval.past, ...given];
  return { ...approval, unlisted: null, votes: [], past, state: { type: "closed", cause, at: now } };
}

/** Closes a decided approval whose decision never left us, and keeps that decision in its history. */
export function voidAndClose(
  approval: Approval,
  decision: Decision,
  cause: ClosedCause,
  now: number,
): Approval {
  const past = [...approval.past, ...votesBehind({ decision, cause, words: "" })];
  return close({ ...approval, past }, cause, now);
}

/** The stored record was changed: also what it calls confirmed is closed, since only the audit can tell what was. */
export function closeAsTampered(approval: Approval, now: number): Approval {
  const { audited: _audited, ...rest } = approval;
  const state = { type: "closed", cause: "tampered", at: now } as const;
  return { ...rest, votes: [], readers: [], past: [], approverCount: null, state };
}

export function withDelivery(approval: Approval, decision: Decision, delivery: Delivery): Approval {
  return { ...approval, state: { type: "decided", decision, delivery } };
}

// A decision on an open approval: the last one needed is sent, perhaps after a hold; an earlier one is kept as a vote.

export type UnverifiedVotes = { readonly type: "unverified"; readonly of: readonly UserId[] };

/** One denial ends it, also while an approval is held. */
export function withDenial(approval: Approval, decision: Decision): Approval {
  const { state, votes, past } = approval;
  const held = state.type === "decided" ? allVotes(state.decision) : [];
  const gone = [...votes, ...held].map((each) => asPast(each, "denied"));
  return {
    ...approval,
    votes: [],
    past: [...past, ...gone],
    state: { type: "decided", decision, delivery: { type: "recorded" } },
  };
}

/** A denial that no person gives: it was not decided in time, or its run is stopped. What was voted gives way to it. */
export function withPolicyDenial(
  approval: Approval,
  denial: Decision,
  cause: "expired" | "stopped",
): Approval {
  const given = approval.votes.map((each) => asPast(each, cause));
  const past = [...approval.past, ...given];
  return withDelivery({ ...approval, votes: [], past }, denial, { type: "recorded" });
}

/** Applies `change` to each decision of the approval. The state does not change. */
export function mapDecisions(approval: Approval, change: (decision: Decision) => Decision): Approval {
  const { state } = approval;
  const voted = { ...approval, votes: approval.votes.map(change) };
  return state.type === "decided" ? withDelivery(voted, change(state.decision), state.delivery) : voted;
}

export function withApproval(
  approval: Approval,
  decision: Decision,
  { rule, monotonic }: { readonly rule: Rule; readonly monotonic: number },
  worthOf: (vote: Decision) => VoteValidity,
): Result<Approval, UnverifiedVotes> {
  const { votes } = approval;
  if (votes.length + 1 < rule.needs) return ok({ ...approval, votes: [...votes, decision] });
  const asked = votes.map((vote) => ({ vote, worth: worthOf(vote) }));
  const unsure = asked.flatMap(({ vote, worth }) =>
    worth === "unverified" && vote.by !== null ? [vote.by.user] : [],
  );
  if (unsure.length > 0) return err({ type: "unverified", of: unsure });
  const good = asked.filter(({ worth }) => worth === "counts").map(({ vote }) => vote);
  const gone = asked.flatMap(({ vote, worth }) =>
    worth === "counts" || worth === "unverified" ? [] : [asPast(vote, worth)],
  );
  const counted = { ...approval, past: [...approval.past, ...gone] };
  if (good.length + 1 < rule.needs) return ok({ ...counted, votes: [...good, decision] });
  const whole: Decision = good.length === 0 ? decision : { ...decision, votes: good };
  const delivery: Delivery =
    rule.holdMs > 0
      ? { type: "held", until: decision.at + rule.holdMs, sendAt: monotonic + rule.holdMs }
      : { type: "recorded" };
  return ok({ ...counted, votes: [], state: { type: "decided", decision: whole, delivery } });
}

/** The approvals that the decision rests on, beside its own. */
export const earlierVotes = ({ votes = [] }: Decision): readonly Decision[] => votes;

/** The decisions of all voters, each as a vote, the last one last. */
export const allVotes = (decision: Decision): readonly Decision[] => [
  ...earlierVotes(decision),
  withoutVotes(decision),
];

/** The decision as a vote. */
export function withoutVotes({ votes: _votes, ...decision }: Decision): Decision {
  return decision;
}

export function asPast(decision: Decision, cause: PastDecision["cause"]): PastDecision {
  return { decision, cause, words: "" };
}

/** The reason that the service gets: every reason that was given, byte for byte, the first one first. */
export function sentReason(decision: Decision): string {
  const reasons = [...earlierVotes(decision), decision].map(({ reason }) => reason);
  return reasons.filter((reason) => reason !== "").join("\n\n");
}

/** Everyone who gave the decision, once each. Empty where the policy itself decided. */
export function decidersOf({ state, votes }: Approval): readonly UserId[] {
  return state.type === "decided" ? giversOf(allVotes(state.decision)) : giversOf(votes);
}

/** Once each. */
export function giversOf(decisions: readonly Decision[]): readonly UserId[] {
  return [...new Set(decisions.flatMap(({ by }) => (by === null ? [] : [by.user])))];
}

// "This was not me": what a card says about it. The audit holds it; the marks on the run follow from there.

/** The same run if the approval is marked with this entry already, or is unknown. */
export function markDisputed(run: Run, id: ApprovalId, dispute: Dispute): Run {
  const approval = findApproval(run, id);
  if (approval === null) return run;
  const { disputes = [] } = approval;
  if (disputes.some(({ entry }) => entry === dispute.entry)) return run;
  return replaceApproval(run, { ...approval, disputes: [...disputes, dispute] });
}

/** The same run if the dispute of this entry is closed already, or is unknown. */
export function markDisputeClosed(
  run: Run,
  id: ApprovalId,
  entry: number,
  closed: NonNullable<Dispute["closed"]>,
): Run {
  const approval = findApproval(run, id);
  const { disputes = [] } = approval ?? {};
  if (approval === null || !disputes.some((each) => each.entry === entry && each.closed === undefined))
    return run;
  const marked = disputes.map((each) => (each.entry === entry ? { ...each, closed } : each));
  return replaceApproval(run, { ...approval, disputes: marked });
}

/** The disputes that no admin has closed. */
export function openDisputes({ disputes = [] }: Approval): readonly Dispute[] {
  return disputes.filter(({ closed }) => closed === undefined);
}
