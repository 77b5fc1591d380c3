// What one look at the service teaches about one approval. Called by `observe` alone.

import { isGone, missedOnceMore } from "./absence.ts";
import {
  answeredBefore,
  type Approval,
  type ClosedBecause,
  type Decision,
  type Delivery,
  type PastDecision,
  type Request,
} from "./approval.ts";
import { close, reopen, voidAndClose, withDelivery } from "./approval-moves.ts";
import type { Context } from "./context.ts";
import { backoffMs } from "./post.ts";
import { DECISION_LINGER_MS } from "./reused-id.ts";
import type { Said } from "./run.ts";

/** A confirmed approval that is still listed after this long (ms) is remarked upon. */
export const STILL_LISTED_AFTER_MS = 60_000;

/** One look, as it concerns one approval. */
export type Sight =
  | { readonly is: "listed"; readonly request: Request; readonly askedAt: number }
  | {
      readonly is: "absent";
      readonly because: Extract<ClosedBecause, "no-longer-listed" | "run-missing" | "run-over">;
      readonly askedAt: number;
    }
  /** An item of this id is listed, and nobody can read it. */
  | { readonly is: "unreadable"; readonly askedAt: number }
  /** It may be one of the items that cannot be read, so the look says nothing of it. */
  | { readonly is: "in-doubt"; readonly askedAt: number };

/** The approval after the look, and what its approver must be told, if anything. */
export type Folded = { readonly approval: Approval; readonly says: Said | null };

export function foldApproval(approval: Approval, sight: Sight, ctx: Context): Folded {
  if (sight.is === "unreadable") return foldUnreadable(approval, ctx);
  const awaited = isAwaited(approval, sight);
  if (sight.is === "in-doubt") return quiet(awaited ? withUnlisted(approval, "in-doubt") : approval);
  if (sight.is === "absent" && sight.because === "no-longer-listed" && awaited) {
    const unlisted = missedOnceMore(approval.unlisted, ctx);
    if (!isGone(unlisted, sight.askedAt)) return quiet(withUnlisted(approval, unlisted));
  }
  return foldState(withUnlisted(approval, null), sight, ctx);
}

function withUnlisted(approval: Approval, unlisted: Approval["unlisted"]): Approval {
  return approval.unlisted === unlisted ? approval : { ...approval, unlisted };
}

/** Its absence would settle something. */
function isAwaited({ state }: Approval, { askedAt }: Sight): boolean {
  if (state.is !== "decided") return state.is === "pending";
  const { delivery } = state;
  if (delivery.is === "unsure") return askedAt >= delivery.since;
  if (delivery.is === "refused") return !delivery.absent && askedAt >= delivery.at;
  return delivery.is === "held" || delivery.is === "recorded" || delivery.is === "retry";
}

function foldState(approval: Approval, sight: PlainSight, ctx: Context): Folded {
  switch (approval.state.is) {
    case "pending":
      return foldPending(approval, sight, ctx);
    case "closed":
      return quiet(foldClosed(approval, approval.state.because, sight, ctx));
    case "decided":
      return foldDecided(approval, approval.state.decision, approval.state.delivery, { sight, ctx });
  }
}

type VoidBecause = Extract<Said, { is: "decision-void" }>["because"];

const quiet = (approval: Approval): Folded => ({ approval, says: null });

/** What is asked now, nobody knows: it cannot be decided, and what has not left does not leave. What has is not touched. */
function foldUnreadable(approval: Approval, ctx: Context): Folded {
  const { id, state, votes } = approval;
  const says: Said = { is: "decision-void", approval: id, because: "unreadable" };
  if (state.is === "pending") {
    return { approval: close(approval, "unreadable", ctx.now), says: votes.length === 0 ? null : says };
  }
  if (state.is !== "decided" || !isUnsent(state.delivery)) return quiet(approval);
  return { approval: voidAndClose(approval, state.decision, "unreadable", ctx.now), says };
}

const isUnsent = (delivery: Delivery): boolean =>
  delivery.is === "held" || delivery.is === "recorded" || (delivery.is === "retry" && !delivery.lost);

type PlainSight = Exclude<Sight, { is: "unreadable" | "in-doubt" }>;

/** Whoever has voted hears that it came to nothing. */
function foldPending(approval: Approval, sight: PlainSight, ctx: Context): Folded {
  const told = (because: VoidBecause): Said | null =>
    approval.votes.length === 0 ? null : { is: "decision-void", approval: approval.id, because };
  if (sight.is === "absent")
    return { approval: close(approval, sight.because, ctx.now), says: told(sight.because) };
  if (sight.request.digest === approval.request.digest) return quiet(approval);
  return { approval: reopenNew(approval, sight.request, null, ctx), says: told("request-changed") };
}

/** What has expired stays closed until another request comes under its id. */
function foldClosed(approval: Approval, because: ClosedBecause, sight: PlainSight, ctx: Context): Approval {
  if (sight.is === "absent") return approval;
  if (because === "expired" && sight.request.digest === approval.request.digest) return approval;
  return reopenNew(approval, sight.request, null, ctx);
}

/** A new request has its own time to be decided; the same one, however often it comes back, has no more than it had. */
function reopenNew(approval: Approval, request: Request, past: PastDecision | null, ctx: Context): Approval {
  const same = request.digest === approval.request.digest;
  const since = same ? approval.since : ctx.now;
  const waitsSince = same ? approval.waitsSince : ctx.monotonic;
  return { ...reopen(approval, request, ctx.nonce(), past), since, waitsSince };
}

type Look = { readonly sight: PlainSight; readonly ctx: Context };

function foldDecided(approval: Approval, decision: Decision, delivery: Delivery, look: Look): Folded {
  const to = (next: Delivery): Folded => quiet(withDelivery(approval, decision, next));
  switch (delivery.is) {
    case "held":
    case "recorded":
      return foldUnsent(approval, decision, look);
    case "retry":
      return delivery.lost
        ? foldLost(approval, decision, delivery, look)
        : foldUnsent(approval, decision, look);
    case "unsure":
      return foldLost(approval, decision, delivery, look);
    case "refused":
      return foldRefused(approval, decision, delivery, look);
    case "confirmed": {
      if (look.sight.askedAt < delivery.at + STILL_LISTED_AFTER_MS) return quiet(approval);
      const stillListed = look.sight.is === "listed";
      return stillListed === delivery.stillListed ? quiet(approval) : to({ ...delivery, stillListed });
    }
    case "sending":
    case "elsewhere":
    case "unconfirmed":
      return quiet(approval);
  }
}

/** Nothing of it was ever applied: it gives way to what the service now says. */
function foldUnsent(approval: Approval, decision: Decision, { sight, ctx }: Look): Folded {
  const says = (because: VoidBecause): Said => ({
    is: "decision-void",
    approval: approval.id,
    because,
  });
  if (sight.is === "absent")
    return { approval: voidAndClose(approval, decision, sight.because, ctx.now), says: says(sight.because) };
  if (sight.request.digest === decision.digest) return quiet(approval);
  const past: PastDecision = { decision, because: "request-changed", words: "" };
  return { approval: reopenNew(approval, sight.request, past, ctx), says: says("request-changed") };
}

/** A POST had no clear answer. What is listed after that tells whether the same content may go again. */
function foldLost(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { is: "unsure" | "retry" }>,
  { sight, ctx }: Look,
): Folded {
  const answered = answeredBefore(delivery);
  const final = (because: "no-longer-listed" | "request-changed"): Folded =>
    quiet(withDelivery(approval, decision, { is: "unconfirmed", at: ctx.now, because, ...answered }));
  if (delivery.is === "unsure" && sight.askedAt < delivery.since) return quiet(approval);
  if (sight.is === "absent")
    return sight.because === "run-missing" ? quiet(approval) : final("no-longer-listed");
  // A replica that lags behind may list it for a moment although it is resolved.
  if (delivery.is === "unsure" && sight.askedAt < delivery.since + DECISION_LINGER_MS) return quiet(approval);
  if (sight.request.digest !== decision.digest) return final("request-changed");
  if (delivery.is === "retry") return quiet(approval);
  const { since, tries, why } = delivery;
  // The first time at once; what is unclear again and again goes more seldom, counted from the answer that was missed.
  const wait = tries > 1 ? Math.min(backoffMs(tries, null), ctx.slowestRetryMs) : 0;
  const notBefore = Math.max(ctx.monotonic, since + wait, delivery.notBefore);
  return quiet(
    withDelivery(approval, decision, { is: "retry", notBefore, tries, lost: true, why, ...answered }),
  );
}

/** The service refused a first, clean POST: reopened only when it lists the approval after that. */
function foldRefused(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { is: "refused" }>,
  { sight, ctx }: Look,
): Folded {
  if (sight.askedAt < delivery.at) return quiet(approval);
  if (sight.is === "absent") {
    const absent = sight.because === "no-longer-listed";
    return quiet(
      absent === delivery.absent ? approval : withDelivery(approval, decision, { ...delivery, absent }),
    );
  }
  const past: PastDecision = { decision, because: "refused", words: delivery.words };
  return quiet(reopenNew(approval, sight.request, past, ctx));
}
