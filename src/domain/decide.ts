// What a submitted decision, an undo or the expiry of an approval does to the approval. authorization.ts says whether a person may
// decide.

import { endsAt, partMemberships, ruleOf, ruleRefOf } from "./applied-rule.ts";
import {
  asPast,
  close,
  earlierVotes,
  reopenWithVotes,
  allVotes,
  withApproval,
  withDenial,
  withPolicyDenial,
} from "./approval-transitions.ts";
import { withCall } from "./call.ts";
import { extendedMs } from "./follow-up.ts";
import { overNotBefore } from "./follow-up-due.ts";
import type { Approval, Decision, Delivery, Request, Verdict } from "./approval.ts";
import { MAX_REASON_CHARS, type Person, type Refusal, refusalToOpen } from "./authorization.ts";
import type { Context } from "./context.ts";
import { applyBrake, wasDenialRefused } from "./brake.ts";
import type { ApprovalId, TeamId, UserId } from "./ids.ts";
import type { Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import { validityOfAll } from "./quorum.ts";
import { findApproval, mapApprovals, noticeToDecider, replaceApproval, type Run } from "./run.ts";
import { seenChars } from "./text/text.ts";
import { timeWords } from "./text/time-words.ts";

export type Submission = {
  readonly approval: ApprovalId;
  readonly version: number;
  /** The digest of the request that the modal showed. */
  readonly digest: string;
  readonly was: Request | null;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly by: Person;
  /** The word that was typed, where the rule requires one. */
  readonly word?: string;
  /** Fresh facts about the earlier approvers. */
  readonly voters?: readonly Person[];
};

const counts = ({ type: is }: Delivery): boolean =>
  is !== "refused" && is !== "elsewhere" && is !== "unconfirmed";

/** The same person submits the same decision again: the answer to their form was lost, or they pressed twice. */
function sameContent(decision: Decision, { verdict, reason, digest, by }: Submission): boolean {
  const same = decision.verdict === verdict && decision.reason === reason && decision.digest === digest;
  return same && decision.by?.user === by.user && decision.by.team === by.team;
}

function isKnown({ state, votes }: Approval, submission: Submission): boolean {
  if (state.type !== "decided") return votes.some((vote) => sameContent(vote, submission));
  if (!counts(state.delivery)) return false;
  return [...earlierVotes(state.decision), state.decision].some((each) => sameContent(each, submission));
}

/**
 * The first decision on an open approval wins; everything else is refused and changes nothing. A recorded
 * decision that the same person submits again is ok and returns the same run.
 */
export function decide(before: Run, submission: Submission, ctx: Context): Result<Run, Refusal> {
  const { by, verdict } = submission;
  const known = findApproval(before, submission.approval);
  if (known === null) return err({ type: "unknown" });
  if (isKnown(known, submission)) return ok(before);
  const run = applyBrake(before, ctx);
  const approval = findApproval(run, submission.approval) ?? known;
  const rule = ruleOf(ctx, run, approval);
  const no =
    refusalToOpen(approval, { run, rule, by, verdict, monotonic: ctx.monotonic }, submission) ??
    refusalOfContent(approval, submission, rule);
  if (no !== null) return err(no);
  const decision = decisionOf(submission, rule, ctx);
  if (verdict === "deny") return ok(replaceApproval(run, withDenial(approval, decision)));
  const { voters = [] } = submission;
  // The new approval was just found to fill a part, so it keeps its place.
  const worth = validityOfAll([decision, ...approval.votes], approval, {
    run,
    rule,
    people: [by, ...voters],
  });
  const approved = withApproval(
    approval,
    decision,
    { rule, monotonic: ctx.monotonic },
    (vote) => worth.get(vote) ?? "unverified",
  );
  return approved.ok
    ? ok(withNotices(replaceApproval(run, approved.value), approval, approved.value, ctx))
    : approved;
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

/** Notices for the people whose earlier approval no longer counts. */
function withNotices(run: Run, was: Approval, { past }: Approval, ctx: Context): Run {
  const notices = past.slice(was.past.length).flatMap(({ decision, cause }) => {
    if (cause !== "voter-may-not" && cause !== "rule-changed") return [];
    return noticeToDecider(decision, { type: "decision-void", approval: was.id, cause }, ctx);
  });
  return notices.length === 0 ? run : { ...run, notices: [...run.notices, ...notices] };
}

/** What is wrong with the submission itself. */
function refusalOfContent(approval: Approval, submission: Submission, rule: Rule): Refusal | null {
  const { verdict, reason, was, digest } = submission;
  if (approval.request.digest !== digest) return { type: "changed", was, now: approval.request };
  const noReason = refusalOfReason(reason, verdict, rule);
  if (noReason !== null) return noReason;
  const { word } = rule.friction;
  if (verdict === "deny" || word === null || submission.word?.trim() === word) return null;
  return { type: "word-needed", word };
}

/** Null: by this rule, the reason is long enough. */
export function refusalOfReason(reason: string, verdict: Verdict, rule: Rule): Refusal | null {
  const [chars, fewest] = [seenChars(reason), rule.reason[verdict]];
  if (chars === 0 && fewest > 0)
    return verdict === "deny" ? { type: "reason-needed" } : { type: "reason-needed", verdict };
  if (reason.length > MAX_REASON_CHARS) return { type: "reason-too-long", chars: reason.length };
  return chars < fewest ? { type: "reason-too-short", chars, fewest } : null;
}

// While an approval is held, the person who gave it may undo it. Nothing was sent, so the approval is pending again.

export type UndoAttempt = {
  readonly approval: ApprovalId;
  readonly version: number;
  readonly by: { readonly team: TeamId; readonly user: UserId };
};

/** Returns the same run for a repeated click. */
export function undo(
  run: Run,
  { approval: id, version, by }: UndoAttempt,
  ctx: Context,
): Result<Run, Refusal> {
  const approval = findApproval(run, id);
  if (approval === null) return err({ type: "unknown" });
  const isMine = (decision: Decision): boolean =>
    decision.by?.user === by.user && decision.by.team === by.team;
  if (approval.version !== version) return wasUndone(approval, isMine) ? ok(run) : err({ type: "too-late" });
  const { state } = approval;
  if (state.type !== "decided" || state.delivery.type !== "held") return err({ type: "too-late" });
  const given = allVotes(state.decision);
  const mine = given.find(isMine);
  if (mine === undefined) return err({ type: "not-yours" });
  // A new version, so that the submitted form does not decide again if Slack redelivers it.
  const left = given.filter((each) => each !== mine);
  const open = reopenWithVotes(approval, ctx.nonce(), { gone: [asPast(mine, "undone")], left });
  return ok(replaceApproval(run, open));
}

function wasUndone({ past }: Approval, isMine: (decision: Decision) => boolean): boolean {
  const last = past.at(-1);
  return last?.cause === "undone" && isMine(last.decision);
}

// What the policy does with an approval that expired.

/** The same object when nothing has expired. */
export function expire(run: Run, ctx: Context): Run {
  return mapApprovals(run, (approval) => expired(approval, ctx));
}

function expired(approval: Approval, ctx: Context): Approval {
  const deadline = endsAt(approval);
  const { rule, version } = approval.appliedRule;
  if (deadline === null || ctx.monotonic < deadline || rule.expiry === null) return approval;
  const told = (over: Approval): Approval => {
    return withCall(over, {
      says: "over",
      at: ctx.now,
      notBefore: overNotBefore(approval, ctx),
      lookAt: ctx.monotonic,
      who: null,
    });
  };
  if (rule.expiry.outcome === "nothing" || wasDenialRefused(approval))
    return told(close(approval, "expired", ctx.now));
  const decision: Decision = {
    verdict: "deny",
    reason: `${BY_POLICY}no decision within ${timeWords(rule.expiry.afterMs + extendedMs(approval))}.`,
    by: null,
    at: ctx.now,
    digest: approval.request.digest,
    policy: version === null ? null : { version, rule: rule.name },
  };
  return told(withPolicyDenial(approval, decision, "expired"));
}

/** For the agent, which sees only the reason. */
export const BY_POLICY = "Denied by policy: ";
