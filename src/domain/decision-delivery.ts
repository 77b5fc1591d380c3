// The delivery of a decision: what the outcome of one POST means for it, and whether the decision may be sent at all. The same content
// is sent again only if it was certainly not applied, or if the service still lists the approval well after a lost answer.

import { ruleOf } from "./applied-rule.ts";
import {
  asPast,
  votersOf,
  reopenWithVotes,
  allVotes,
  unconfirmed,
  type UnconfirmedCause,
  voidAndClose,
  withDelivery,
} from "./approval-transitions.ts";
import type { Approval, DecidedState, Decision } from "./approval.ts";
import {
  answeredBefore,
  type Delivery,
  isOnItsWay,
  isOpenDelivery,
  isSurelyUnapplied,
  type OpenDelivery,
} from "./delivery-state.ts";
import type { Person } from "./authorization.ts";
import type { Context } from "./context.ts";
import { backoffMs, type Outcome } from "./effect.ts";
import { holdEnd } from "./hold.ts";
import type { ApprovalId } from "./ids.ts";
import { isSameJson } from "./json.ts";
import { sortVotes, validityOfComplete, type VoidReason } from "./quorum.ts";
import { isRequesterUnknown } from "./rule-facts.ts";
import { addNotices, type NoticeContent } from "./notice.ts";
import { findApproval, isWatched, mapApprovals, replaceApproval, type Run } from "./run.ts";

/** A decision that is on its way to the service: its delivery has begun or is due, and the service has not confirmed it yet. */
export type Undelivered = Approval & { readonly state: DecidedState };

/** Returns whether the approval is decided, and the service is still to confirm that. A held decision does not count. */
export function isUndelivered(approval: Approval): approval is Undelivered {
  const { state } = approval;
  return state.type === "decided" && isOnItsWay(state.delivery);
}

export function applyDecisionOutcome(run: Run, id: ApprovalId, outcome: Outcome, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (approval?.state.type !== "decided") return run;
  const { decision, delivery } = approval.state;
  // While the hold runs, an outcome can only belong to an earlier decision that was undone.
  const hold = holdEnd(approval);
  if (hold !== null && ctx.monotonic < (hold.sendAt ?? Infinity)) return run;
  if (!isOpenDelivery(delivery)) return run;
  if (outcome.type === "later" && outcome.mark !== undefined && !isSameTry(approval.state, outcome.mark))
    return run;
  const next = nextDelivery(delivery, outcome, isWatched(run), ctx);
  if (next === null) return run;
  const settled =
    next === "void" || next === "tampered"
      ? voidAndClose(approval, decision, next === "void" ? "run-over" : next, ctx.now)
      : withDelivery(approval, decision, next);
  const settledRun = replaceApproval(run, settled);
  const says = noticeContentFor(settled);
  return says === null ? settledRun : addNotices(settledRun, votersOf(allVotes(decision)), says, ctx);
}

/** Returns whether the mark is of this decision and this try. A standby that lacks the mark may number the next try alike, so its time counts too. */
const isSameTry = ({ decision, delivery }: DecidedState, mark: DecidedState): boolean =>
  delivery.type === "sending" &&
  mark.delivery.type === "sending" &&
  delivery.tries === mark.delivery.tries &&
  delivery.at === mark.delivery.at &&
  isSameJson(decision, mark.decision);

function nextDelivery(
  before: OpenDelivery,
  outcome: Outcome,
  watched: boolean,
  { monotonic, slowestRetryMs }: Context,
): Delivery | "void" | "tampered" | null {
  const tries = triesWith(before);
  const lost = "lost" in before && before.lost;
  const again = { type: "retry", tries, lost, ...answeredBefore(before) } as const;
  switch (outcome.type) {
    case "confirmed":
      // A POST names no content, so the service may have applied it to the other request.
      return before.type === "sending" && before.otherListed === true
        ? { type: "unconfirmed", at: monotonic, cause: "request-changed", accepted: true }
        : { type: "confirmed", at: monotonic, stillListed: null };
    case "elsewhere":
      // After a lost answer, "already resolved" may be the effect of our own POST.
      if (lost) return unconfirmed(before, "no-longer-listed", monotonic, outcome.said ?? outcome.words);
      return { ...outcome, at: monotonic };
    case "later": {
      if (!watched) return lost ? unconfirmed(before, "no-longer-listed", monotonic) : "void";
      const wait = Math.max(Math.min(backoffMs(tries, null), slowestRetryMs), outcome.afterMs ?? 0);
      return { ...again, notBefore: monotonic + wait, ...whyLater(before, outcome) };
    }
    case "unproven":
      // The stored decision must not be sent, but an earlier POST may have arrived.
      return lost ? unconfirmed(before, "tampered", monotonic) : "tampered";
    case "refused":
      if (lost) return unconfirmed(before, "refused-after-lost-answer", monotonic);
      return { type: "refused", at: monotonic, words: outcome.words, absent: false };
    case "unsure":
      // Only a POST in flight can have arrived. Other deliveries stay as they are.
      return before.type === "sending" ? unclear(outcome, watched, { monotonic, tries }) : null;
    default:
      return null;
  }
}

/** Returns the number of tries, with the one whose outcome has arrived. */
function triesWith(before: OpenDelivery): number {
  if (before.type === "held" || before.type === "recorded") return 1;
  return before.type === "retry" ? before.tries + 1 : before.tries;
}

/** Sets `notSent` only while no POST of this decision has left, or for a try after a lost answer in which none left. */
function whyLater(
  before: OpenDelivery,
  { why, heldBack, notSent }: Extract<Outcome, { type: "later" }>,
): Pick<Extract<Delivery, { type: "retry" }>, "why" | "heldBack" | "notSent"> {
  const isFirstTry = before.type === "held" || before.type === "recorded";
  const noneLeft = isFirstTry || before.lost || before.notSent === true;
  return {
    why,
    ...(heldBack === true ? { heldBack } : {}),
    ...(notSent === true && noneLeft ? { notSent } : {}),
  };
}

/** Handles a missing answer, or one that says neither yes nor no. While the run is watched, we ask the service what it lists. */
function unclear(
  { why, afterMs, answered, failedWith }: Extract<Outcome, { type: "unsure" }>,
  watched: boolean,
  { monotonic, tries }: { monotonic: number; tries: number },
): Delivery {
  const answer = {
    ...(answered === undefined ? {} : { answered }),
    ...(failedWith === undefined ? {} : { failedWith }),
  };
  if (!watched) return { type: "unconfirmed", at: monotonic, cause: "no-longer-listed", ...answer };
  return {
    type: "unsure",
    since: monotonic,
    notBefore: monotonic + (afterMs ?? 0),
    tries,
    why,
    ...answer,
  };
}

/**
 * Lets decisions whose answer was lost wait their whole time again in another process, as if the answer was lost now: if the wall clock was
 * set forward before a restart, or the clock of this replica is ahead, less time has really passed. Returns the same run if there is none.
 */
export function lingerAgain(run: Run, monotonic: number): Run {
  return mapApprovals(run, (approval) => {
    if (approval.state.type !== "decided") return approval;
    const { decision, delivery } = approval.state;
    if (delivery.type !== "unsure" || delivery.since >= monotonic) return approval;
    return withDelivery(approval, decision, { ...delivery, since: monotonic });
  });
}

/** Tells the deciders privately that the decision did not take effect, or may not have. Everyone else sees it on the card. */
function noticeContentFor({ id, state }: Approval): NoticeContent | null {
  if (state.type === "closed") {
    const cause = state.cause === "tampered" ? "tampered" : "run-over";
    return { type: "decision-void", approval: id, cause };
  }
  if (state.type !== "decided") return null;
  if (state.delivery.type === "refused")
    return { type: "decision-refused", approval: id, words: state.delivery.words };
  if (state.delivery.type === "elsewhere") {
    const { words, said } = state.delivery;
    return { type: "decision-elsewhere", approval: id, words, ...(said === undefined ? {} : { said }) };
  }
  if (state.delivery.type === "unconfirmed") return { type: "decision-unconfirmed", approval: id };
  return null;
}

// Authority at the moment of use: a decision that was held, or that had to wait, is checked again right before it is sent.

export type AuthorityCheck =
  /** The decision may be sent. */
  | { readonly type: "stands" }
  /** Slack cannot say now whether the people whose approvals it rests on may still decide. */
  | { readonly type: "unverified" }
  /** The decision may not be sent. `run` is the run without it. */
  | { readonly type: "void"; readonly run: Run };

export const STANDS: AuthorityCheck = { type: "stands" };

/**
 * Checks whether the decision may be sent. `people`: facts about everyone whose approval it rests on. A denial always stands, because it
 * was allowed when it was given. Otherwise, removing a person from a group would reopen the requests that they had denied.
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
  const rule = ruleOf(ctx, run, approval);
  const votes = allVotes(decision);
  const { unverified, gone } = sortVotes(validityOfComplete(votes, approval, { run, rule, people }));
  if (gone.length === 0 && votes.length >= rule.needs)
    return unverified.length === 0 ? STANDS : { type: "unverified" };
  // Slack cannot say now which groups the requester is in, and only therefore does the strictest rule apply. That voids no approval.
  if (isRequesterUnknown(run, approval, ctx)) return { type: "unverified" };
  const left = votes.filter((vote) => gone.every((each) => each.vote !== vote));
  const lost = delivery.type === "retry" && delivery.lost;
  return {
    type: "void",
    run: lost
      ? stopDelivery(run, approval, approval.state, { cause: "no-longer-authorised", ctx })
      : reopenWithValidVotes(run, approval, { voidVotes: gone, left }, ctx),
  };
}

type WithdrawalCause = "stopped" | "frozen" | "restored";

/** Withdraws an approval that was certainly not applied: after a stop, a freeze or a restore. Returns the same run if there is none. */
export function withdrawApproval(run: Run, id: ApprovalId, cause: WithdrawalCause, ctx: Context): Run {
  const approval = findApproval(run, id);
  if (approval?.state.type !== "decided" || approval.state.decision.verdict === "deny") return run;
  const { decision, delivery } = approval.state;
  if (delivery.type === "retry" && delivery.lost)
    return cause === "restored" ? run : stopDelivery(run, approval, approval.state, { cause, ctx });
  if (!isSurelyUnapplied(delivery)) return run;
  const voidVotes = allVotes(decision).map((vote) => ({ vote, cause }));
  return reopenWithValidVotes(run, approval, { voidVotes, left: [] }, ctx);
}

/** Withdraws those approvals of a waiting request that a restored copy contains. Returns the same run if there are none. */
export function withdrawVotes(
  run: Run,
  id: ApprovalId,
  isCopied: (vote: Decision) => boolean,
  ctx: Context,
): Run {
  const approval = findApproval(run, id);
  const gone = approval?.votes.filter(isCopied) ?? [];
  if (approval?.state.type !== "pending" || gone.length === 0) return run;
  const voidVotes = gone.map((vote) => ({ vote, cause: "restored" }) as const);
  const left = approval.votes.filter((vote) => !isCopied(vote));
  return reopenWithValidVotes(run, approval, { voidVotes, left }, ctx);
}

type VoidVote = { readonly vote: Decision; readonly cause: VoidReason | WithdrawalCause };

/** Reopens the approval. Its decision was certainly not applied, so the votes in `left` still count. */
function reopenWithValidVotes(
  run: Run,
  approval: Approval,
  { voidVotes, left }: { readonly voidVotes: readonly VoidVote[]; readonly left: readonly Decision[] },
  ctx: Context,
): Run {
  const gone = voidVotes.map(({ vote, cause }) => asPast(vote, cause));
  const next = replaceApproval(run, reopenWithVotes(approval, ctx.nonce(), { gone, left }));
  const says = (cause: VoidVote["cause"] | "others-needed"): NoticeContent => ({
    type: "decision-void",
    approval: approval.id,
    cause,
  });
  const told = voidVotes.reduce(
    (run, { vote, cause }) => addNotices(run, votersOf([vote]), says(cause), ctx),
    next,
  );
  return addNotices(told, votersOf(left), says("others-needed"), ctx);
}

type Decided = { readonly decision: Decision; readonly delivery: Delivery };

/** Ends the delivery as unconfirmed. The decision was sent and may have arrived, so we neither resend it nor accept another. */
function stopDelivery(
  run: Run,
  approval: Approval,
  { decision, delivery }: Decided,
  { cause, ctx }: { readonly cause: UnconfirmedCause; readonly ctx: Context },
): Run {
  const next = replaceApproval(
    run,
    withDelivery(approval, decision, unconfirmed(delivery, cause, ctx.monotonic)),
  );
  const says = { type: "decision-stopped", approval: approval.id } as const;
  return addNotices(next, votersOf(allVotes(decision)), says, ctx);
}
