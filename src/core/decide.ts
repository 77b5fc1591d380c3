// Who may decide, and what a submitted decision makes of an approval. One function each; nothing else answers these questions.

import type { Approval, ClosedBecause, Decision, Delivery, Request, Verdict } from "./approval.ts";
import { isSettled } from "./approval.ts";
import type { Context } from "./context.ts";
import type { ApprovalId, Nonce, TeamId, UserId } from "./ids.ts";
import { err, ok, type Result } from "./result.ts";
import { findApproval, replaceApproval, type Run } from "./run.ts";
import { isBlank } from "./text.ts";

/** What Slack says of a person, looked up by id, never taken from a payload or a display name. */
export type Person = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly kind: "member" | "guest" | "outsider" | "bot" | "deactivated";
  /** In the run's channel, or able to open it: every full member sees a public channel. */
  readonly seesChannel: boolean;
};

/** An expected «no», with its evidence. `slack/blocks/refusal.ts` puts each into words. */
export type Refusal =
  | { readonly because: "requester" }
  | { readonly because: "guest" | "outsider" | "bot" | "deactivated" | "not-in-channel" }
  /** The look-up failed, so nobody can say whether they may. */
  | { readonly because: "unverified" }
  | { readonly because: "already-decided"; readonly decision: Decision; readonly settled: boolean }
  | { readonly because: "closed"; readonly why: ClosedBecause }
  | { readonly because: "changed"; readonly was: Request | null; readonly is: Request }
  /** A button or a modal that we do not know, or that belongs to someone or somewhere else. */
  | { readonly because: "unknown" }
  /** A card that Slack shows, but has not confirmed to us yet. */
  | { readonly because: "being-posted" }
  | { readonly because: "reason-needed" }
  | { readonly because: "reason-too-long"; readonly chars: number };

/** Slack's own limit for one input (chars). */
export const MAX_REASON_CHARS = 3_000;

/** Null: they may. Asked at the click and again at the submit. */
export function mayDecide(person: Person, run: Run): Refusal | null {
  if (person.kind !== "member") return { because: person.kind };
  if (person.team !== run.team) return { because: "outsider" };
  if (person.user === run.requester) return { because: "requester" };
  return person.seesChannel ? null : { because: "not-in-channel" };
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
  const no = mayDecide(by, run) ?? isOpen(approval, submission.version, submission.was);
  if (no !== null || approval === null) return err(no ?? { because: "unknown" });
  if (approval.request.digest !== submission.digest) {
    return err({ because: "changed", was: submission.was, is: approval.request });
  }
  if (verdict === "deny" && isBlank(reason)) return err({ because: "reason-needed" });
  if (reason.length > MAX_REASON_CHARS) return err({ because: "reason-too-long", chars: reason.length });
  const { digest } = submission;
  const decision: Decision = { verdict, reason, by: { team: by.team, user: by.user }, at: ctx.now, digest };
  return ok(
    replaceApproval(run, { ...approval, state: { is: "decided", decision, delivery: { is: "recorded" } } }),
  );
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
