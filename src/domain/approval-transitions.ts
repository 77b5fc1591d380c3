// The moves between the states of an approval: approval.ts draws them.

import {
  type Approval,
  BUILT_IN_APPLIED_RULE,
  type ClosedBecause,
  type Decision,
  type Delivery,
  type PastDecision,
  type Request,
} from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, Nonce, UserId } from "./ids.ts";
import { canonicalJson } from "./json.ts";
import type { Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import type { VoteValidity } from "./vote-validity.ts";

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

/** Pending again under a new card version, with the request as it now is. What was voted on an earlier one gives way. */
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
  const { audited: _ofItsEarlierEnd, onlyContextChanged, ...rest } = approval;
  const same = request.digest === approval.request.digest;
  const around = same ? onlyContextChanged === true : onlyContextDiffers(approval.request, request);
  const version = approval.version + 1;
  return {
    ...rest,
    request,
    version,
    requestVersion: same ? approval.requestVersion : version,
    ...(around ? { onlyContextChanged: true } : {}),
    nonce,
    state: { type: "pending" },
    unlisted: null,
    votes: [],
    readers: same ? approval.readers : [],
    past: [...approval.past, ...given, ...(past === null ? [] : votesBehind(past))],
  };
}

function onlyContextDiffers(was: Request, is: Request): boolean {
  if (was.context === is.context || was.chars !== is.chars) return false;
  return canonicalJson(was.content) === canonicalJson(is.content);
}

/** A decision that rests on several approvals gives way as all of them, the last one last. */
function votesBehind({ decision, ...why }: PastDecision): PastDecision[] {
  const { votes = [], ...last } = decision;
  return [...votes, last].map((each) => ({ ...why, decision: each }));
}

export function close(approval: Approval, because: ClosedBecause, now: number): Approval {
  const given = approval.votes.map((vote): PastDecision => ({ decision: vote, cause: because, words: "" }));
  const past = given.length === 0 ? approval.past : [...approval.past, ...given];
  return { ...approval, unlisted: null, votes: [], past, state: { type: "closed", cause: because, at: now } };
}

/** Closes a decided approval whose decision never left us, and keeps that decision in its history. */
export function voidAndClose(
  approval: Approval,
  decision: Decision,
  because: ClosedBecause,
  now: number,
): Approval {
  const past = [...approval.past, ...votesBehind({ decision, cause: because, words: "" })];
  return close({ ...approval, past }, because, now);
}

export function withDelivery(approval: Approval, decision: Decision, delivery: Delivery): Approval {
  return { ...approval, state: { type: "decided", decision, delivery } };
}

// What a decision makes of an open approval: the last one that was needed is sent, perhaps after a while; an earlier one is kept.

export type UnverifiedVotes = { readonly type: "unverified"; readonly of: readonly UserId[] };

/** One denial ends it, also while an approval is held. */
export function withDenial(approval: Approval, decision: Decision): Approval {
  const { state, votes, past } = approval;
  const held = state.type === "decided" ? voices(state.decision) : [];
  const gone = [...votes, ...held].map((each) => asPast(each, "denied"));
  return {
    ...approval,
    votes: [],
    past: [...past, ...gone],
    state: { type: "decided", decision, delivery: { type: "recorded" } },
  };
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

/** Everybody's, each as a vote among others, the last one last. */
export const voices = (decision: Decision): readonly Decision[] => [
  ...earlierVotes(decision),
  withoutVotes(decision),
];

/** As a vote among others. */
export function withoutVotes({ votes: _votes, ...decision }: Decision): Decision {
  return decision;
}

export function asPast(decision: Decision, because: PastDecision["cause"]): PastDecision {
  return { decision, cause: because, words: "" };
}

/** What the service is told: every reason that was given, byte for byte, the first one first. */
export function sentReason(decision: Decision): string {
  const reasons = [...earlierVotes(decision), decision].map(({ reason }) => reason);
  return reasons.filter((reason) => reason !== "").join("\n\n");
}

/** Everybody whose word it was, once each. Nobody where the policy itself decided. */
export function decidersOf({ state, votes }: Approval): readonly UserId[] {
  const decisions = state.type === "decided" ? [...earlierVotes(state.decision), state.decision] : votes;
  return [...new Set(decisions.flatMap(({ by }) => (by === null ? [] : [by.user])))];
}
