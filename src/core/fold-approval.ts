// What one look at the service teaches about one approval. Called by `observe` alone.

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
import type { Said } from "./run.ts";

/** After a lost answer a decision goes again only when the approval is still pending this long after (ms); a service that
 * reads from a replica may call it pending for a moment although it was resolved. */
export const DECISION_LINGER_MS = 5_000;
/** A confirmed approval that is still listed after this long (ms) is remarked upon. */
export const STILL_LISTED_AFTER_MS = 60_000;

/** One look, as it concerns one approval. */
export type Sight =
  | { readonly is: "listed"; readonly request: Request; readonly askedAt: number }
  | { readonly is: "absent"; readonly because: ClosedBecause; readonly askedAt: number }
  /** An item of this id is listed, and nobody can read it. */
  | { readonly is: "unreadable"; readonly askedAt: number };

/** The approval after the look, and what its approver must be told, if anything. */
export type Folded = { readonly approval: Approval; readonly says: Said | null };

export function foldApproval(approval: Approval, sight: Sight, ctx: Context): Folded {
  if (sight.is === "unreadable") return foldUnreadable(approval, ctx);
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

type ReadableSight = Exclude<Sight, { is: "unreadable" }>;

/** Whoever has voted hears that it came to nothing. */
function foldPending(approval: Approval, sight: ReadableSight, ctx: Context): Folded {
  const told = (because: VoidBecause): Said | null =>
    approval.votes.length === 0 ? null : { is: "decision-void", approval: approval.id, because };
  if (sight.is === "absent") {
    const because = sight.because === "run-over" ? "run-over" : "no-longer-listed";
    return { approval: close(approval, sight.because, ctx.now), says: told(because) };
  }
  if (sight.request.digest === approval.request.digest) return quiet(approval);
  return { approval: reopenNew(approval, sight.request, null, ctx), says: told("request-changed") };
}

/** What has expired stays closed until another request comes under its id. */
function foldClosed(
  approval: Approval,
  because: ClosedBecause,
  sight: ReadableSight,
  ctx: Context,
): Approval {
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

type Look = { readonly sight: ReadableSight; readonly ctx: Context };

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
  if (sight.is === "absent") {
    const because = sight.because === "run-over" ? "run-over" : "no-longer-listed";
    return { approval: voidAndClose(approval, decision, sight.because, ctx.now), says: says(because) };
  }
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
  // A replica that lags behind may list too much for a moment, or too little.
  const early = delivery.is === "unsure" && sight.askedAt < delivery.since + DECISION_LINGER_MS;
  if (sight.is === "absent") {
    if (sight.because === "run-missing" || (early && sight.because !== "run-over")) return quiet(approval);
    return final("no-longer-listed");
  }
  if (early) return quiet(approval);
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
