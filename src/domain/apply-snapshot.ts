// What one snapshot of the service says about one approval. Only `observe` calls this.

import { close, reopen, voidAndClose, withDelivery } from "./approval-transitions.ts";
import {
  answeredBefore,
  type Approval,
  type ClosedCause,
  type Decision,
  type Delivery,
  type PastDecision,
  type Request,
} from "./approval.ts";
import type { Context } from "./context.ts";
import { backoffMs } from "./posted-message.ts";
import { DECISION_LINGER_MS } from "./reused-id.ts";
import type { NoticeContent } from "./run.ts";
import { isGone, missedOnceMore } from "./snapshot.ts";

/** If a confirmed approval is still listed after this time (ms), its card says so. */
export const STILL_LISTED_AFTER_MS = 60_000;

/** What one snapshot says about one approval. */
export type ApprovalSighting =
  | { readonly type: "listed"; readonly request: Request; readonly askedAt: number }
  | {
      readonly type: "absent";
      readonly cause: Extract<ClosedCause, "no-longer-listed" | "run-missing" | "run-over">;
      readonly askedAt: number;
    }
  /** An item with this id is listed, but cannot be read. */
  | { readonly type: "unreadable"; readonly askedAt: number }
  /** It may be one of the items that cannot be read, so the snapshot says nothing about it. */
  | { readonly type: "in-doubt"; readonly askedAt: number };

/** The approval after the snapshot, and the notice for its approver, if there is one. */
export type SightingResult = { readonly approval: Approval; readonly says: NoticeContent | null };

export function applySighting(approval: Approval, sighting: ApprovalSighting, ctx: Context): SightingResult {
  if (sighting.type === "unreadable") return foldUnreadable(approval, ctx);
  const awaited = isAwaited(approval, sighting);
  if (sighting.type === "in-doubt") return quiet(awaited ? withUnlisted(approval, "in-doubt") : approval);
  if (sighting.type === "absent" && sighting.cause === "no-longer-listed" && awaited) {
    const unlisted = missedOnceMore(approval.unlisted, ctx);
    if (!isGone(unlisted, sighting.askedAt)) return quiet(withUnlisted(approval, unlisted));
  }
  return foldState(withUnlisted(approval, null), sighting, ctx);
}

function withUnlisted(approval: Approval, unlisted: Approval["unlisted"]): Approval {
  return approval.unlisted === unlisted ? approval : { ...approval, unlisted };
}

/** Its absence would settle something. */
function isAwaited({ state }: Approval, { askedAt }: ApprovalSighting): boolean {
  if (state.type !== "decided") return state.type === "pending";
  const { delivery } = state;
  if (delivery.type === "unsure") return askedAt >= delivery.since;
  if (delivery.type === "refused") return !delivery.absent && askedAt >= delivery.at;
  return delivery.type === "held" || delivery.type === "recorded" || delivery.type === "retry";
}

function foldState(approval: Approval, sighting: ReadableSighting, ctx: Context): SightingResult {
  switch (approval.state.type) {
    case "pending":
      return applyToPending(approval, sighting, ctx);
    case "closed":
      return quiet(applyToClosed(approval, approval.state.cause, sighting, ctx));
    case "decided":
      return applyToDecided(approval, approval.state.decision, approval.state.delivery, { sighting, ctx });
  }
}

type VoidCause = Extract<NoticeContent, { type: "decision-void" }>["cause"];

const quiet = (approval: Approval): SightingResult => ({ approval, says: null });

/** The request is unknown now, so it cannot be decided. A decision that was not sent is withdrawn; one that was sent stays. */
function foldUnreadable(approval: Approval, ctx: Context): SightingResult {
  const { id, state, votes } = approval;
  const says: NoticeContent = { type: "decision-void", approval: id, cause: "unreadable" };
  if (state.type === "pending") {
    return { approval: close(approval, "unreadable", ctx.now), says: votes.length === 0 ? null : says };
  }
  if (state.type !== "decided" || !isUnsent(state.delivery)) return quiet(approval);
  return { approval: voidAndClose(approval, state.decision, "unreadable", ctx.now), says };
}

const isUnsent = (delivery: Delivery): boolean =>
  delivery.type === "held" || delivery.type === "recorded" || (delivery.type === "retry" && !delivery.lost);

type ReadableSighting = Exclude<ApprovalSighting, { type: "unreadable" | "in-doubt" }>;

/** The voters are told that their votes do not count. */
function applyToPending(approval: Approval, sighting: ReadableSighting, ctx: Context): SightingResult {
  const voidNotice = (cause: VoidCause): NoticeContent | null =>
    approval.votes.length === 0 ? null : { type: "decision-void", approval: approval.id, cause };
  if (sighting.type === "absent")
    return { approval: close(approval, sighting.cause, ctx.now), says: voidNotice(sighting.cause) };
  if (sighting.request.digest === approval.request.digest) return quiet(approval);
  return { approval: reopenNew(approval, sighting.request, null, ctx), says: voidNotice("request-changed") };
}

/** An expired approval stays closed until the service lists another request under its id. */
function applyToClosed(
  approval: Approval,
  cause: ClosedCause,
  sighting: ReadableSighting,
  ctx: Context,
): Approval {
  if (sighting.type === "absent") return approval;
  if (cause === "expired" && sighting.request.digest === approval.request.digest) return approval;
  return reopenNew(approval, sighting.request, null, ctx);
}

/** A new request gets its own time to be decided. The same request gets no more time, however often it returns. */
function reopenNew(approval: Approval, request: Request, past: PastDecision | null, ctx: Context): Approval {
  const same = request.digest === approval.request.digest;
  const since = same ? approval.since : ctx.now;
  const waitsSince = same ? approval.waitsSince : ctx.monotonic;
  return { ...reopen(approval, request, ctx.nonce(), past), since, waitsSince };
}

type Look = { readonly sighting: ReadableSighting; readonly ctx: Context };

function applyToDecided(
  approval: Approval,
  decision: Decision,
  delivery: Delivery,
  fetched: Look,
): SightingResult {
  const to = (next: Delivery): SightingResult => quiet(withDelivery(approval, decision, next));
  switch (delivery.type) {
    case "held":
    case "recorded":
      return applyToUnsent(approval, decision, fetched);
    case "retry":
      return delivery.lost
        ? applyToLost(approval, decision, delivery, fetched)
        : applyToUnsent(approval, decision, fetched);
    case "unsure":
      return applyToLost(approval, decision, delivery, fetched);
    case "refused":
      return applyToRefused(approval, decision, delivery, fetched);
    case "confirmed": {
      if (fetched.sighting.askedAt < delivery.at + STILL_LISTED_AFTER_MS) return quiet(approval);
      const stillListed = fetched.sighting.type === "listed";
      return stillListed === delivery.stillListed ? quiet(approval) : to({ ...delivery, stillListed });
    }
    case "sending":
    case "elsewhere":
    case "unconfirmed":
      return quiet(approval);
  }
}

/** The decision was never applied, so it gives way to what the service now says. */
function applyToUnsent(approval: Approval, decision: Decision, { sighting, ctx }: Look): SightingResult {
  const says = (cause: VoidCause): NoticeContent => ({
    type: "decision-void",
    approval: approval.id,
    cause,
  });
  if (sighting.type === "absent")
    return {
      approval: voidAndClose(approval, decision, sighting.cause, ctx.now),
      says: says(sighting.cause),
    };
  if (sighting.request.digest === decision.digest) return quiet(approval);
  const past: PastDecision = { decision, cause: "request-changed", words: "" };
  return { approval: reopenNew(approval, sighting.request, past, ctx), says: says("request-changed") };
}

/** A POST had no clear answer. Whether the approval is listed afterwards decides if the same content may be sent again. */
function applyToLost(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { type: "unsure" | "retry" }>,
  { sighting, ctx }: Look,
): SightingResult {
  const answered = answeredBefore(delivery);
  const final = (cause: "no-longer-listed" | "request-changed"): SightingResult => ({
    approval: withDelivery(approval, decision, { type: "unconfirmed", at: ctx.now, cause, ...answered }),
    says: { type: "decision-unconfirmed", approval: approval.id },
  });
  if (delivery.type === "unsure" && sighting.askedAt < delivery.since) return quiet(approval);
  if (sighting.type === "absent")
    return sighting.cause === "run-missing" ? quiet(approval) : final("no-longer-listed");
  // A replica that lags behind may list it for a moment although it is resolved.
  if (delivery.type === "unsure" && sighting.askedAt < delivery.since + DECISION_LINGER_MS)
    return quiet(approval);
  if (sighting.request.digest !== decision.digest) return final("request-changed");
  if (delivery.type === "retry") return quiet(approval);
  const { since, tries, why } = delivery;
  // The first time at once. After repeated unclear answers it is sent less often, counted from the answer that was missed.
  const wait = tries > 1 ? Math.min(backoffMs(tries, null), ctx.slowestRetryMs) : 0;
  const notBefore = Math.max(ctx.monotonic, since + wait, delivery.notBefore);
  return quiet(
    withDelivery(approval, decision, { type: "retry", notBefore, tries, lost: true, why, ...answered }),
  );
}

/** The service refused a first, clean POST. The approval reopens only when the service lists it after that. */
function applyToRefused(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { type: "refused" }>,
  { sighting, ctx }: Look,
): SightingResult {
  if (sighting.askedAt < delivery.at) return quiet(approval);
  if (sighting.type === "absent") {
    const absent = sighting.cause === "no-longer-listed";
    return quiet(
      absent === delivery.absent ? approval : withDelivery(approval, decision, { ...delivery, absent }),
    );
  }
  const past: PastDecision = { decision, cause: "refused", words: delivery.words };
  return quiet(reopenNew(approval, sighting.request, past, ctx));
}
