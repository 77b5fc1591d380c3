// What a submitted decision, an undo or an expiry does to an approval. authorization.ts says whether a person may decide.

import {
  endsAt,
  judgingRules,
  outcomeAtDeadline,
  partMemberships,
  ruleOf,
  ruleRefOf,
  wasInPart,
} from "./applied-rule.ts";
import {
  asPast,
  close,
  reopenWithVotes,
  allVotes,
  votersOf,
  withApproval,
  withDenial,
  withPolicyDenial,
} from "./approval-transitions.ts";
import { withCall } from "./call.ts";
import { endClaimOf } from "./handling.ts";
import { extendedMs } from "./follow-up.ts";
import { callNotBefore } from "./follow-up-due.ts";
import type { Approval, ApprovalState, Decision } from "./approval.ts";
import { isInForce } from "./delivery-state.ts";
import { type NoLongerHeld, type Person, type Refusal, refusalToOpen } from "./authorization.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, PersonId } from "./ids.ts";
import { assignParts, type Part } from "./policy/named-people.ts";
import type { Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import { sortVotes, validityOfAll } from "./quorum.ts";
import { addNotices } from "./notice.ts";
import { findApproval, mapApprovals, replaceApproval, type Run } from "./run.ts";
import { refusalOfContent, type Submission } from "./submission.ts";
import { timeWords } from "./text/time-words.ts";

type Content = Pick<Submission, "verdict" | "reason" | "digest"> & {
  readonly by: Pick<Person, "team" | "user">;
};

/** Returns whether a person submits a stored decision again: the answer to their form was lost, or they pressed twice. */
export function isRecorded({ state, votes }: Approval, { by, ...content }: Content): boolean {
  const isSame = (stored: Decision): boolean =>
    (["verdict", "reason", "digest"] as const).every((field) => stored[field] === content[field]) &&
    stored.by?.user === by.user &&
    stored.by.team === by.team;
  if (state.type !== "decided") return votes.some(isSame);
  return isInForce(state.delivery) && allVotes(state.decision).some(isSame);
}

/**
 * Records the decision. The first decision on an open approval wins; any other is refused and changes nothing. If a person submits
 * their recorded decision again, the result is ok with the same run. `run` must have passed `asOfNow`.
 */
export function decide(run: Run, submission: Submission, ctx: Context): Result<Run, Refusal> {
  const { by, verdict } = submission;
  const approval = findApproval(run, submission.approval);
  if (approval === null) return err({ type: "unknown" });
  if (isRecorded(approval, submission)) return ok(run);
  const { voters = [] } = submission;
  const judging = judgingRules(ctx, run, approval);
  const { rule } = judging;
  const attempt = { ...judging, run, by, verdict, monotonic: ctx.monotonic, voters };
  const refusal =
    refusalToOpen(approval, attempt, submission) ?? refusalOfContent(approval, submission, rule);
  if (refusal !== null) return err(refusal);
  const decision = decisionOf(submission, rule, ctx);
  if (verdict === "deny") {
    const denied = withDenial(approval, decision);
    return ok(addNoticesOfVoidVotes(replaceApproval(run, denied), approval, denied, ctx));
  }
  const people = [by, ...voters];
  // The new approval comes first: it was just found to fill a part, so it keeps its place.
  const validities = validityOfAll([decision, ...approval.votes], approval, { run, rule, people });
  const earlier = [...validities].filter(([vote]) => vote !== decision);
  const { monotonic } = ctx;
  const approved = withApproval(approval, decision, { rule, monotonic }, sortVotes(earlier));
  const voids = approved.ok && approved.value.past.length > approval.past.length;
  // A rule that may not apply voids no vote.
  if (voids && judging.inDoubt.length > 0) return err({ type: "unverified", requester: run.requester });
  if (!approved.ok) return approved;
  const kept = endClaimOf(approved.value, by.user);
  return ok(addNoticesOfVoidVotes(replaceApproval(run, kept), approval, kept, ctx));
}

/**
 * Keeps fewer votes than the rule needs. If the policy has come to need no more approvals than were given, the newest become void: a
 * change of the policy sends nothing, and the person approves again under the new rule. Called at every save. Returns the same run if no
 * vote becomes void.
 */
export function withdrawSurplusVotes(run: Run, ctx: Context): Run {
  const withdrawn = mapApprovals(run, (approval) => {
    const { state, votes } = approval;
    if (state.type !== "pending" || votes.length === 0) return approval;
    const rule = ruleOf(ctx, run, approval);
    if (votes.length < rule.needs) return approval;
    // A vote under a rule without parts keeps no memberships. The last approval looks them up.
    const mayFill = (vote: Decision, part: Part): boolean =>
      vote.memberOf === undefined || wasInPart(vote, part);
    const { assigned } = assignParts(votes, rule, mayFill);
    const left = votes.filter((vote) => assigned.includes(vote)).slice(0, rule.needs - 1);
    const gone = votes.filter((vote) => !left.includes(vote)).map((vote) => asPast(vote, "rule-changed"));
    // A new version, so that the form behind a void vote does not decide if Slack redelivers it.
    return reopenWithVotes(approval, ctx.nonce(), { gone, left });
  });
  if (withdrawn === run) return run;
  return withdrawn.approvals.reduce((next, approval) => {
    const before = findApproval(run, approval.id);
    return before === null
      ? next
      : addNoticesOfVoidVotes(withoutOutdatedNotices(next, before, approval), before, approval, ctx);
  }, withdrawn);
}

/** Drops the notices "yours still counts" that are not sent yet, to the people whose vote has become void. */
function withoutOutdatedNotices(run: Run, before: Approval, { id, past }: Approval): Run {
  const voters = new Set(past.slice(before.past.length).map(({ decision }) => decision.by?.user));
  const isFalse = ({ to, state, says }: Run["notices"][number]): boolean =>
    state === "planned" &&
    says.type === "decision-void" &&
    says.cause === "others-needed" &&
    says.approval === id &&
    [...voters].some((user) => user === to);
  return { ...run, notices: run.notices.filter((notice) => !isFalse(notice)) };
}

function decisionOf({ verdict, reason, digest, by }: Submission, rule: Rule, ctx: Context): Decision {
  const policy = ruleRefOf(ctx.policy, rule);
  const { word } = rule.friction;
  const memberOf = partMemberships(rule, by.memberOf);
  return {
    verdict,
    reason,
    by: { team: by.team, user: by.user },
    at: ctx.now,
    digest,
    ...(verdict === "deny" || word === null ? {} : { word }),
    ...(verdict === "deny" || memberOf === undefined ? {} : { memberOf }),
    ...(policy === null ? {} : { policy }),
  };
}

/** Adds notices to the people whose earlier approval no longer counts, and to those whose held approval someone else denied. */
function addNoticesOfVoidVotes(run: Run, before: Approval, { past, state }: Approval, ctx: Context): Run {
  const wasHeld = before.state.type === "decided";
  const denier = state.type === "decided" ? state.decision.by?.user : undefined;
  return past.slice(before.past.length).reduce((next, { decision, cause }) => {
    const isOverruled = cause === "denied" && wasHeld && decision.by?.user !== denier;
    if (cause !== "voter-may-not" && cause !== "rule-changed" && !isOverruled) return next;
    const says = { type: "decision-void", approval: before.id, cause } as const;
    return addNotices(next, votersOf([decision]), says, ctx);
  }, run);
}

// While an approval is held, the person who gave it may undo it. Nothing was sent, so the approval is pending again.

export type UndoAttempt = {
  readonly approval: ApprovalId;
  readonly version: number;
  readonly by: PersonId;
};

/** Takes back a held approval. Returns the same run for a repeated click. */
export function undo(
  run: Run,
  { approval: id, version, by }: UndoAttempt,
  ctx: Context,
): Result<Run, Refusal> {
  const approval = findApproval(run, id);
  if (approval === null) return err({ type: "unknown" });
  const { state } = approval;
  const isTheirs = (given: Decision): boolean => given.by?.user === by.user && given.by.team === by.team;
  if (approval.votes.some(isTheirs)) return err({ type: "too-late", became: { type: "counts" } });
  if (approval.version !== version) {
    if (wasUndone(approval, isTheirs)) return ok(run);
    // An approval that the person has given since stands.
    const isInIt = state.type === "decided" && allVotes(state.decision).some(isTheirs);
    return err({ type: "too-late", became: isInIt ? noLongerHeld(state, ctx) : null });
  }
  if (state.type !== "decided" || state.delivery.type !== "held")
    return err({ type: "too-late", became: noLongerHeld(state, ctx) });
  const votes = allVotes(state.decision);
  const undone = votes.find(isTheirs);
  if (undone === undefined) return err({ type: "not-yours" });
  const left = votes.filter((vote) => vote !== undone);
  // This makes a new version, so that the submitted form does not decide again if Slack redelivers it.
  const open = reopenWithVotes(approval, ctx.nonce(), { gone: [asPast(undone, "undone")], left });
  const says = { type: "decision-void", approval: id, cause: "others-needed" } as const;
  return ok(addNotices(replaceApproval(run, open), votersOf(left), says, ctx));
}

function noLongerHeld(state: ApprovalState, ctx: Context): NoLongerHeld | null {
  if (state.type !== "decided") return null;
  const { decision, delivery } = state;
  if (decision.verdict === "deny") return { type: "denied" };
  switch (delivery.type) {
    case "held":
      return { type: "stands" };
    case "recorded":
      return { type: "due" };
    case "retry":
      return delivery.lost ? { type: "sent", at: null } : { type: "due" };
    case "confirmed":
      return { type: "sent", at: ctx.now - (ctx.monotonic - delivery.at) };
    default:
      return { type: "sent", at: null };
  }
}

function wasUndone({ state, past }: Approval, isTheirs: (decision: Decision) => boolean): boolean {
  const last = past.at(-1);
  return state.type === "pending" && last?.cause === "undone" && isTheirs(last.decision);
}

// Expiry of an approval, as its rule requires.

/** Closes or denies the expired approvals. Returns the same run if none has expired. */
export function expire(run: Run, ctx: Context): Run {
  return mapApprovals(run, (approval) => expireIfDue(approval, ctx));
}

function expireIfDue(approval: Approval, ctx: Context): Approval {
  const deadline = endsAt(approval);
  const { rule, version } = approval.appliedRule;
  if (deadline === null || ctx.monotonic < deadline || rule.expiry === null) return approval;
  const { now: at, monotonic: lookAt } = ctx;
  const announced = (expired: Approval): Approval =>
    hasExpiredBefore(approval)
      ? expired
      : withCall(expired, { says: "over", at, notBefore: callNotBefore(approval, ctx), lookAt, who: null });
  if (outcomeAtDeadline(approval) === "nothing") return announced(close(approval, "expired", ctx.now));
  const decision: Decision = {
    verdict: "deny",
    reason: `${BY_POLICY}not decided within ${timeWords(rule.expiry.afterMs + extendedMs(approval))}.`,
    by: null,
    at,
    digest: approval.request.digest,
    policy: version === null ? null : { version, rule: rule.name },
  };
  return announced(withPolicyDenial(approval, decision, "expired"));
}

/**
 * Returns whether people were already told that the time was over: a stop reopened the expired request to deny it, and the service refused
 * that denial.
 */
function hasExpiredBefore({ calls = [], past, requestVersion }: Approval): boolean {
  const last = calls.at(-1);
  const isToldAlready = last?.says === "over" && last.of === requestVersion;
  return isToldAlready && past.at(-1)?.decision.stoppedBy !== undefined;
}

/** Begins the reason of such a denial, because the agent sees nothing but the reason. */
export const BY_POLICY = "Denied by policy: ";
