// What a submitted decision does to an approval. authorization.ts says whether its person may decide.

import { earlierVotes, withApproval, withDenial } from "./approval-transitions.ts";
import type { Approval, Decision, Delivery, Request, Verdict } from "./approval.ts";
import type { Context } from "./context.ts";
import { MAX_REASON_CHARS, type Person, type Refusal, refusalToOpen } from "./authorization.ts";
import type { ApprovalId } from "./ids.ts";
import type { Rule } from "./policy/policy.ts";
import { err, ok, type Result } from "./result.ts";
import { ruleOf, ruleRefOf } from "./applied-rule.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { noticeToDecider } from "./notice-to-decider.ts";
import { seenChars } from "./text/text.ts";
import { validityOf } from "./vote-validity.ts";

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
export function decide(run: Run, submission: Submission, ctx: Context): Result<Run, Refusal> {
  const { by, verdict } = submission;
  const approval = findApproval(run, submission.approval);
  if (approval === null) return err({ type: "unknown" });
  if (isKnown(approval, submission)) return ok(run);
  const rule = ruleOf(ctx.policy, run, approval.request);
  const no =
    refusalToOpen(approval, { run, rule, by, verdict, monotonic: ctx.monotonic }, submission) ??
    refusalOfContent(approval, submission, rule);
  if (no !== null) return err(no);
  const decision = decisionOf(submission, rule, ctx);
  if (verdict === "deny") return ok(replaceApproval(run, withDenial(approval, decision)));
  const { voters: people = [] } = submission;
  const approved = withApproval(approval, decision, { rule, monotonic: ctx.monotonic }, (vote) =>
    validityOf(vote, approval, { run, rule, people }),
  );
  return approved.ok
    ? ok(told(replaceApproval(run, approved.value), approval, approved.value, ctx))
    : approved;
}

function decisionOf({ verdict, reason, digest, by }: Submission, rule: Rule, ctx: Context): Decision {
  const policy = ruleRefOf(ctx.policy, rule);
  const { word } = rule.friction;
  return {
    verdict,
    reason,
    by: { team: by.team, user: by.user },
    at: ctx.now,
    digest,
    ...(verdict === "deny" || word === null ? {} : { word }),
    ...(policy === null ? {} : { policy }),
  };
}

/** Notices for the people whose earlier approval no longer counts. */
function told(run: Run, was: Approval, { past }: Approval, ctx: Context): Run {
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
  const [chars, fewest] = [seenChars(reason), rule.reason[verdict]];
  if (chars === 0 && fewest > 0)
    return verdict === "deny" ? { type: "reason-needed" } : { type: "reason-needed", verdict };
  if (reason.length > MAX_REASON_CHARS) return { type: "reason-too-long", chars: reason.length };
  if (chars < fewest) return { type: "reason-too-short", chars, fewest };
  const { word } = rule.friction;
  if (verdict === "deny" || word === null || submission.word?.trim() === word) return null;
  return { type: "word-needed", word };
}
