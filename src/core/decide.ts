// Who may decide, and what a submitted decision makes of an approval. One function each; nothing else answers these questions.

import type { Approval, ClosedBecause, Decision, Delivery, Request, Verdict } from "./approval.ts";
import { isSettled } from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, ChannelId, GroupId, Nonce, TeamId, UserId } from "./ids.ts";
import { BUILT_IN_RULE, type Circle, type Rule } from "./policy.ts";
import { err, ok, type Result } from "./result.ts";
import { markOf, ruleOf } from "./ruling.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { seenChars } from "./text.ts";

/** What Slack says of a person, looked up by id, never taken from a payload or a display name. */
export type Person = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly kind: "member" | "guest" | "outsider" | "bot" | "deactivated";
  /** In the run's channel, or able to open it: every full member sees a public channel. */
  readonly seesChannel: boolean;
  /** Of the user groups and channels that were asked about. What was not asked is not known. */
  readonly memberOf?: ReadonlyMap<GroupId | ChannelId, boolean>;
};

/** An expected «no», with its evidence. `slack/blocks/refusal.ts` puts each into words. */
export type Refusal =
  | { readonly because: "requester" }
  | { readonly because: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  /** The rule lets others decide. */
  | { readonly because: "not-approver"; readonly rule: Rule }
  /** The look-up failed, so nobody can say whether they may. */
  | { readonly because: "unverified" }
  | { readonly because: "already-decided"; readonly decision: Decision; readonly settled: boolean }
  | { readonly because: "closed"; readonly why: ClosedBecause }
  | { readonly because: "changed"; readonly was: Request | null; readonly is: Request }
  /** A button or a modal that we do not know, or that belongs to someone or somewhere else. */
  | { readonly because: "unknown" }
  /** A card that Slack shows, but has not confirmed to us yet. */
  | { readonly because: "being-posted" }
  /** `verdict` is left out for a denial. */
  | { readonly because: "reason-needed"; readonly verdict?: "approve" }
  | { readonly because: "reason-too-short"; readonly chars: number; readonly fewest: number }
  | { readonly because: "reason-too-long"; readonly chars: number };

/** Slack's own limit for one input (chars). */
export const MAX_REASON_CHARS = 3_000;

/** Null: they may. Asked at the click and again at the submit, by the rule of that moment. */
export function mayDecide(person: Person, run: Run, rule: Rule = BUILT_IN_RULE): Refusal | null {
  if (person.kind !== "member") return { because: person.kind };
  if (person.team !== run.team) return { because: "outsider" };
  if (person.user === run.requester && !rule.selfApproval) return { because: "requester" };
  if (!person.seesChannel) return { because: "not-in-channel" };
  const among = isAmong(person, rule.approvers);
  return among === true
    ? null
    : among === null
      ? { because: "unverified" }
      : { because: "not-approver", rule };
}

/** Null: it was not asked, so nobody can say. By ids only. */
export function isAmong(person: Person, circle: Circle): boolean | null {
  if (circle === "anyone" || circle.users.includes(person.user)) return true;
  const known = [...circle.groups, ...circle.channels].map((each) => person.memberOf?.get(each));
  if (known.includes(true)) return true;
  return known.includes(undefined) ? null : false;
}

/** Null: this version of the approval can be decided now. `was`: what the person saw, where that is still known. */
export function isOpen(approval: Approval | null, version: number, was: Request | null): Refusal | null {
  if (approval === null) return { because: "unknown" };
  const { state } = approval;
  if (state.is === "closed") return { because: "closed", why: state.because };
  if (state.is === "decided") {
    return { because: "already-decided", decision: state.decision, settled: isSettled(approval) };
  }
  if (approval.version !== version) return { because: "changed", was, is: approval.request };
  return null;
}

export type Submission = {
  readonly approval: ApprovalId;
  readonly version: number;
  /** Of the request that the modal showed. */
  readonly digest: string;
  readonly was: Request | null;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly by: Person;
};

const counts = ({ is }: Delivery): boolean => is !== "refused" && is !== "elsewhere" && is !== "unconfirmed";

/** The same person sends the very same thing again: their form's answer was lost, or they pressed twice. */
function sameContent(decision: Decision, { verdict, reason, digest, by }: Submission): boolean {
  const same = decision.verdict === verdict && decision.reason === reason && decision.digest === digest;
  return same && decision.by.user === by.user && decision.by.team === by.team;
}

/**
 * The first decision on an open approval wins; everything else is refused and changes nothing. What is recorded already, sent
 * again by the same person, is ok and yields the very same run.
 */
export function decide(run: Run, submission: Submission, ctx: Context): Result<Run, Refusal> {
  const { by, verdict, reason } = submission;
  const approval = findApproval(run, submission.approval);
  if (
    approval?.state.is === "decided" &&
    counts(approval.state.delivery) &&
    sameContent(approval.state.decision, submission)
  )
    return ok(run);
  if (approval === null) return err({ because: "unknown" });
  const rule = ruleOf(ctx.policy, run, approval.request);
  const no =
    mayDecide(by, run, rule) ??
    isOpen(approval, submission.version, submission.was) ??
    fault(approval, submission, rule);
  if (no !== null) return err(no);
  const policy = markOf(ctx.policy, rule);
  const who = { team: by.team, user: by.user };
  const content = { verdict, reason, by: who, at: ctx.now, digest: submission.digest };
  const decision: Decision = policy === null ? content : { ...content, policy };
  return ok(
    replaceApproval(run, { ...approval, state: { is: "decided", decision, delivery: { is: "recorded" } } }),
  );
}

/** What is wrong with the submission itself. */
function fault(approval: Approval, submission: Submission, rule: Rule): Refusal | null {
  const { verdict, reason, was, digest } = submission;
  if (approval.request.digest !== digest) return { because: "changed", was, is: approval.request };
  const [chars, fewest] = [seenChars(reason), rule.reason[verdict]];
  if (chars === 0 && fewest > 0)
    return verdict === "deny" ? { because: "reason-needed" } : { because: "reason-needed", verdict };
  if (reason.length > MAX_REASON_CHARS) return { because: "reason-too-long", chars: reason.length };
  return chars < fewest ? { because: "reason-too-short", chars, fewest } : null;
}

/** What a button or a modal stands for. */
export type Ticket = {
  readonly nonce: Nonce;
  readonly team: TeamId;
  readonly approval: ApprovalId;
  readonly version: number;
  /** For a modal: who opened it. */
  readonly user: UserId | null;
};
