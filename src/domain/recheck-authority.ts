// Authority at the moment of use: a decision that was held, or that waited, is judged again right before it is sent.

import { asPast, reopenWithVotes, voices, withDelivery } from "./approval-transitions.ts";
import { answeredBefore, type Approval, type Decision, type Delivery } from "./approval.ts";
import type { Context } from "./context.ts";
import type { Person } from "./authorization.ts";
import type { ApprovalId, UserId } from "./ids.ts";
import { ruleOf } from "./applied-rule.ts";
import { findApproval, type NoticeContent, replaceApproval, type Run } from "./run.ts";
import { noticeToDecider } from "./notice-to-decider.ts";
import { validityOf, type VoidReason } from "./vote-validity.ts";

export type AuthorityCheck =
  /** It may be sent. */
  | { readonly type: "stands" }
  /** Slack does not say now whether these people still may decide. */
  | { readonly type: "unverified"; readonly of: readonly UserId[] }
  /** It may not be sent; `run` is the run without it. */
  | { readonly type: "void"; readonly run: Run };

export const STANDS: AuthorityCheck = { type: "stands" };

/**
 * `people`: facts about everybody whose approval the decision rests on. A denial always stands: it was allowed when it was given. If it
 * fell with its author, removing somebody from a group would reopen what they had stopped.
 */
export function recheckAuthority(
  run: Run,
  id: ApprovalId,
  people: readonly Person[],
  ctx: Context,
): AuthorityCheck {
  const approval = findApproval(run, id);
  if (approval?.state.type !== "decided" || approval.state.decision.verdict === "deny") return STANDS;
  const { decision, delivery } = approval.state;
  const rule = ruleOf(ctx.policy, run, approval.request);
  const given = voices(decision).map((vote) => ({
    vote,
    worth: validityOf(vote, approval, { run, rule, people }),
  }));
  const fallen = given.flatMap(({ vote, worth }) =>
    worth === "counts" || worth === "unverified" ? [] : [{ vote, worth }],
  );
  const unsure = given.flatMap(({ vote, worth }) =>
    worth === "unverified" && vote.by !== null ? [vote.by.user] : [],
  );
  if (fallen.length === 0 && given.length >= rule.needs)
    return unsure.length === 0 ? STANDS : { type: "unverified", of: unsure };
  const left = given
    .filter(({ worth }) => worth === "counts" || worth === "unverified")
    .map(({ vote }) => vote);
  const lost = delivery.type === "retry" && delivery.lost;
  return {
    type: "void",
    run: lost
      ? stopDelivery(run, approval, approval.state, ctx)
      : reopenWithValidVotes(run, approval, { fallen, left }, ctx),
  };
}

type SortedVotes = {
  readonly fallen: readonly { readonly vote: Decision; readonly worth: VoidReason }[];
  readonly left: readonly Decision[];
};

/** Nothing was sent, so approvals that still count are kept. */
function reopenWithValidVotes(
  run: Run,
  approval: Approval,
  { fallen, left }: SortedVotes,
  ctx: Context,
): Run {
  const gone = fallen.map(({ vote, worth }) => asPast(vote, worth));
  const next = replaceApproval(run, reopenWithVotes(approval, ctx.nonce(), { gone, left }));
  const says = (cause: VoidReason | "others-needed"): NoticeContent => ({
    type: "decision-void",
    approval: approval.id,
    cause,
  });
  const notices = [
    ...fallen.flatMap(({ vote, worth }) => noticeToDecider(vote, says(worth), ctx)),
    ...left.flatMap((vote) => noticeToDecider(vote, says("others-needed"), ctx)),
  ];
  return { ...next, notices: [...next.notices, ...notices] };
}

type Decided = { readonly decision: Decision; readonly delivery: Delivery };

/** It was sent once and may have arrived, so nothing else may be decided here, and it is not sent again. */
function stopDelivery(run: Run, approval: Approval, { decision, delivery }: Decided, ctx: Context): Run {
  const cause = "no-longer-authorised";
  const over = { type: "unconfirmed", at: ctx.now, cause, ...answeredBefore(delivery) } as const;
  const next = replaceApproval(run, withDelivery(approval, decision, over));
  const says = { type: "decision-stopped", approval: approval.id } as const;
  const notices = voices(decision).flatMap((vote) => noticeToDecider(vote, says, ctx));
  return { ...next, notices: [...next.notices, ...notices] };
}
