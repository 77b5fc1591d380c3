// Authority at the moment of use: a decision that was held, or that waited, is judged again right before it leaves.

import { type Approval, answeredBefore, type Decision, type Delivery } from "./approval.ts";
import { reopen, withDelivery } from "./approval-moves.ts";
import type { Context } from "./context.ts";
import type { Person } from "./decide.ts";
import type { ApprovalId, UserId } from "./ids.ts";
import { ruleOf } from "./ruling.ts";
import { findApproval, replaceApproval, type Run, type Said } from "./run.ts";
import { tellGiver } from "./tell-giver.ts";
import { gaveWay, voices } from "./vote.ts";
import { type Fallen, worthOf } from "./worth.ts";

export type Judged =
  /** It may leave. */
  | { readonly is: "stands" }
  /** Of these people nobody can say just now whether they still may. */
  | { readonly is: "unverified"; readonly of: readonly UserId[] }
  /** It may not: `run` is what becomes of it. */
  | { readonly is: "void"; readonly run: Run };

export const STANDS: Judged = { is: "stands" };

/**
 * `people`: facts about everybody whose approval the decision rests on. A denial always stands: it was allowed when it was given,
 * and were it to fall with its giver, taking somebody out of a group would open again what they had stopped.
 */
export function judge(run: Run, id: ApprovalId, people: readonly Person[], ctx: Context): Judged {
  const approval = findApproval(run, id);
  if (approval?.state.is !== "decided" || approval.state.decision.verdict === "deny") return STANDS;
  const { decision, delivery } = approval.state;
  const rule = ruleOf(ctx.policy, run, approval.request);
  const given = voices(decision).map((vote) => ({
    vote,
    worth: worthOf(vote, approval, { run, rule, people }),
  }));
  const fallen = given.flatMap(({ vote, worth }) =>
    worth === "counts" || worth === "unverified" ? [] : [{ vote, worth }],
  );
  const unsure = given.flatMap(({ vote, worth }) =>
    worth === "unverified" && vote.by !== null ? [vote.by.user] : [],
  );
  if (fallen.length === 0 && given.length >= rule.needs)
    return unsure.length === 0 ? STANDS : { is: "unverified", of: unsure };
  const left = given
    .filter(({ worth }) => worth === "counts" || worth === "unverified")
    .map(({ vote }) => vote);
  const lost = delivery.is === "retry" && delivery.lost;
  return {
    is: "void",
    run: lost ? stopped(run, approval, approval.state, ctx) : reopened(run, approval, { fallen, left }, ctx),
  };
}

type Sifted = {
  readonly fallen: readonly { readonly vote: Decision; readonly worth: Fallen }[];
  readonly left: readonly Decision[];
};

/** Nothing of it has left: whose approval still counts need not give it again. */
function reopened(run: Run, approval: Approval, { fallen, left }: Sifted, ctx: Context): Run {
  const open = reopen(approval, approval.request, ctx.nonce(), null);
  const gone = fallen.map(({ vote, worth }) => gaveWay(vote, worth));
  const next = replaceApproval(run, { ...open, past: [...open.past, ...gone], votes: left });
  const says = (because: Fallen | "others-needed"): Said => ({
    is: "decision-void",
    approval: approval.id,
    because,
  });
  const tells = [
    ...fallen.flatMap(({ vote, worth }) => tellGiver(vote, says(worth), ctx)),
    ...left.flatMap((vote) => tellGiver(vote, says("others-needed"), ctx)),
  ];
  return { ...next, tells: [...next.tells, ...tells] };
}

type Decided = { readonly decision: Decision; readonly delivery: Delivery };

/** It was sent once and may have arrived, so nothing else may be decided here; and it is not sent again. */
function stopped(run: Run, approval: Approval, { decision, delivery }: Decided, ctx: Context): Run {
  const because = "no-longer-authorised";
  const over = { is: "unconfirmed", at: ctx.now, because, ...answeredBefore(delivery) } as const;
  const next = replaceApproval(run, withDelivery(approval, decision, over));
  const says = { is: "decision-stopped", approval: approval.id } as const;
  const tells = voices(decision).flatMap((vote) => tellGiver(vote, says, ctx));
  return { ...next, tells: [...next.tells, ...tells] };
}
