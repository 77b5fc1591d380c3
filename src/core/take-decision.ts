// What a submitted decision makes of an approval. Whether its person may is asked of decide.ts.

import type { Approval, Decision, Delivery, Request, Verdict } from "./approval.ts";
import type { Context } from "./context.ts";
import { MAX_REASON_CHARS, mayOpen, type Person, type Refusal } from "./decide.ts";
import type { ApprovalId } from "./ids.ts";
import type { Rule } from "./policy.ts";
import { err, ok, type Result } from "./result.ts";
import { markOf, ruleOf } from "./ruling.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { tellGiver } from "./tell-giver.ts";
import { seenChars } from "./text.ts";
import { earlier, withApproval, withDenial } from "./vote.ts";
import { worthOf } from "./worth.ts";

export type Submission = {
  readonly approval: ApprovalId;
  readonly version: number;
  /** Of the request that the modal showed. */
  readonly digest: string;
  readonly was: Request | null;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly by: Person;
  /** What was typed where the rule wants a word. */
  readonly word?: string;
  /** Facts about who approved before, looked up afresh. */
  readonly voters?: readonly Person[];
};

const counts = ({ is }: Delivery): boolean => is !== "refused" && is !== "elsewhere" && is !== "unconfirmed";

/** The same person sends the very same thing again: their form's answer was lost, or they pressed twice. */
function sameContent(decision: Decision, { verdict, reason, digest, by }: Submission): boolean {
  const same = decision.verdict === verdict && decision.reason === reason && decision.digest === digest;
  return same && decision.by?.user === by.user && decision.by.team === by.team;
}

function isKnown({ state, votes }: Approval, submission: Submission): boolean {
  if (state.is !== "decided") return votes.some((vote) => sameContent(vote, submission));
  if (!counts(state.delivery)) return false;
  return [...earlier(state.decision), state.decision].some((each) => sameContent(each, submission));
}

/**
 * The first decision on an open approval wins; everything else is refused and changes nothing. What is recorded already, sent
 * again by the same person, is ok and yields the very same run.
 */
export function decide(run: Run, submission: Submission, ctx: Context): Result<Run, Refusal> {
  const { by, verdict } = submission;
  const approval = findApproval(run, submission.approval);
  if (approval === null) return err({ because: "unknown" });
  if (isKnown(approval, submission)) return ok(run);
  const rule = ruleOf(ctx.policy, run, approval.request);
  const no =
    mayOpen(approval, { run, rule, by, verdict, monotonic: ctx.monotonic }, submission) ??
    fault(approval, submission, rule);
  if (no !== null) return err(no);
  const decision = decisionOf(submission, rule, ctx);
  if (verdict === "deny") return ok(replaceApproval(run, withDenial(approval, decision)));
  const { voters: people = [] } = submission;
  const approved = withApproval(approval, decision, { rule, monotonic: ctx.monotonic }, (vote) =>
    worthOf(vote, approval, { run, rule, people }),
  );
  return approved.ok
    ? ok(told(replaceApproval(run, approved.value), approval, approved.value, ctx))
    : approved;
}

function decisionOf({ verdict, reason, digest, by }: Submission, rule: Rule, ctx: Context): Decision {
  const policy = markOf(ctx.policy, rule);
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

/** Whose earlier approval did not count any more hears it. */
function told(run: Run, was: Approval, { past }: Approval, ctx: Context): Run {
  const tells = past.slice(was.past.length).flatMap(({ decision, because }) => {
    if (because !== "voter-may-not" && because !== "rule-changed") return [];
    return tellGiver(decision, { is: "decision-void", approval: was.id, because }, ctx);
  });
  return tells.length === 0 ? run : { ...run, tells: [...run.tells, ...tells] };
}

/** What is wrong with the submission itself. */
function fault(approval: Approval, submission: Submission, rule: Rule): Refusal | null {
  const { verdict, reason, was, digest } = submission;
  if (approval.request.digest !== digest) return { because: "changed", was, is: approval.request };
  const [chars, fewest] = [seenChars(reason), rule.reason[verdict]];
  if (chars === 0 && fewest > 0)
    return verdict === "deny" ? { because: "reason-needed" } : { because: "reason-needed", verdict };
  if (reason.length > MAX_REASON_CHARS) return { because: "reason-too-long", chars: reason.length };
  if (chars < fewest) return { because: "reason-too-short", chars, fewest };
  const { word } = rule.friction;
  if (verdict === "deny" || word === null || submission.word?.trim() === word) return null;
  return { because: "word-needed", word };
}
