// Applies what one snapshot of the service says about one approval. Only observe.ts and end-run.ts call `applySighting`.

import { onlyPeopleMayDeny } from "./applied-rule.ts";
import { close, reopen, unconfirmed, voidAndClose, withDelivery, withSaid } from "./approval-transitions.ts";
import type { Approval, ClosedCause, Decision, PastDecision, Request } from "./approval.ts";
import { answeredBefore, type Delivery, isSurelyUnapplied } from "./delivery-state.ts";
import type { Context } from "./context.ts";
import { backoffMs } from "./effect.ts";
import { callToReopened } from "./follow-up-due.ts";
import { isSameJson, type Json } from "./json.ts";
import type { DecisionNotice } from "./notice.ts";
import { withoutFields } from "./policy/policy.ts";
import type { Run } from "./run.ts";
import { DECISION_LINGER_MS, isGone, withMissedFetch } from "./snapshot.ts";

/** If the service still lists an approval this long after its decision reached its last state (ms), the card says so. */
export const STILL_LISTED_AFTER_MS = 60_000;

/** What one snapshot says about one approval. */
export type ApprovalSighting =
  /** `isDenied`: the run is stopped, and the stop denies what the service lists. `posts`: those of the run. */
  | {
      readonly type: "listed";
      readonly request: Request;
      readonly askedAt: number;
      readonly isDenied: boolean;
      readonly posts: Run["posts"];
    }
  | {
      readonly type: "absent";
      readonly cause: Extract<ClosedCause, "no-longer-listed" | "run-missing" | "run-over">;
      readonly askedAt: number;
      /** The service's word for what became of it (untrusted). It does not say whose decision that was, so it confirms none. */
      readonly said?: string;
    }
  /** The service lists an item with this id, but we cannot read it. */
  | { readonly type: "unreadable"; readonly askedAt: number }
  /** The approval may be one of the unreadable items, so the snapshot says nothing about it. */
  | { readonly type: "in-doubt"; readonly askedAt: number };

/** The approval after the snapshot, and the notice for its deciders, if there is one. */
export type SightingResult = { readonly approval: Approval; readonly says: DecisionNotice | null };

export function applySighting(approval: Approval, sighting: ApprovalSighting, ctx: Context): SightingResult {
  if (sighting.type === "unreadable") return applyUnreadable(approval, sighting, ctx);
  if (sighting.type === "in-doubt") return applyInDoubt(approval, sighting);
  const isMissed = sighting.type === "absent" && sighting.cause === "no-longer-listed";
  if (isMissed && doesAbsenceMatter(approval, sighting)) {
    const unlisted = withMissedFetch(approval.unlisted, ctx);
    if (!isGone(unlisted, sighting.askedAt)) return withoutNotice(withUnlisted(approval, unlisted));
  }
  return applyByState(withUnlisted(approval, null), sighting, ctx);
}

function withUnlisted(approval: Approval, unlisted: Approval["unlisted"]): Approval {
  return approval.unlisted === unlisted ? approval : { ...approval, unlisted };
}

/** Returns whether the approval's absence from this snapshot would settle something. */
function doesAbsenceMatter({ state }: Approval, { askedAt }: ApprovalSighting): boolean {
  if (state.type !== "decided") return state.type === "pending";
  const { delivery } = state;
  if (delivery.type === "unsure") return askedAt >= delivery.since;
  if (delivery.type === "refused") return !delivery.absent && askedAt >= delivery.at;
  return delivery.type === "held" || delivery.type === "recorded" || delivery.type === "retry";
}

function applyByState(approval: Approval, sighting: ReadableSighting, ctx: Context): SightingResult {
  switch (approval.state.type) {
    case "pending":
      return applyToPending(approval, sighting, ctx);
    case "closed":
      return withoutNotice(applyToClosed(approval, approval.state.cause, sighting, ctx));
    case "decided":
      return applyToDecided(approval, approval.state.decision, approval.state.delivery, { sighting, ctx });
  }
}

type VoidCause = Extract<DecisionNotice, { type: "decision-void" }>["cause"];

const withoutNotice = (approval: Approval): SightingResult => ({ approval, says: null });

/** We do not know what the service lists now, so a decision that has not arrived waits. */
function applyInDoubt(approval: Approval, sighting: ApprovalSighting): SightingResult {
  const matters = doesAbsenceMatter(approval, sighting);
  return withoutNotice(matters ? withUnlisted(approval, "in-doubt") : approval);
}

/** The request is now unknown, so it cannot be decided. A decision that was certainly not applied is withdrawn; any other stays. */
function applyUnreadable(approval: Approval, sighting: ApprovalSighting, ctx: Context): SightingResult {
  const { id, state, votes } = approval;
  const says: DecisionNotice = { type: "decision-void", approval: id, cause: "unreadable" };
  if (state.type === "pending") {
    return { approval: close(approval, "unreadable", ctx.now), says: votes.length === 0 ? null : says };
  }
  if (state.type !== "decided" || !isSurelyUnapplied(state.delivery)) return applyInDoubt(approval, sighting);
  return { approval: voidAndClose(approval, state.decision, "unreadable", ctx.now), says };
}

type ReadableSighting = Exclude<ApprovalSighting, { type: "unreadable" | "in-doubt" }>;

/** Notifies the voters if their votes no longer count. */
function applyToPending(approval: Approval, sighting: ReadableSighting, ctx: Context): SightingResult {
  const voidNotice = (cause: VoidCause): DecisionNotice | null =>
    approval.votes.length === 0 ? null : { type: "decision-void", approval: approval.id, cause };
  if (sighting.type === "absent")
    return {
      approval: withSaid(close(approval, sighting.cause, ctx.now), sighting.said),
      says: voidNotice(sighting.cause),
    };
  if (sighting.request.digest === approval.request.digest) return withoutNotice(approval);
  return {
    approval: reopenAsListed(approval, sighting.request, null, ctx),
    says: voidNotice("request-changed"),
  };
}

/** An expired approval stays closed until the service lists another request under its id, or a stop denies the one that it lists. */
function applyToClosed(
  approval: Approval,
  cause: ClosedCause,
  sighting: ReadableSighting,
  ctx: Context,
): Approval {
  if (sighting.type === "absent") return approval;
  const isSame = sighting.request.digest === approval.request.digest;
  const isDenied = sighting.isDenied && !onlyPeopleMayDeny(approval);
  if (cause === "expired" && isSame && !isDenied) return approval;
  const open = reopenAsListed(approval, sighting.request, null, ctx);
  return isDenied ? open : callToReopened(sighting, open, ctx);
}

/** Reopens the approval. A new request starts a new waiting time. The same request gets no extra time, however often it returns. */
function reopenAsListed(
  approval: Approval,
  request: Request,
  past: PastDecision | null,
  ctx: Context,
): Approval {
  const isSame = request.digest === approval.request.digest;
  const since = isSame ? approval.since : ctx.now;
  const waitsSince = isSame ? approval.waitsSince : ctx.monotonic;
  return { ...reopen(approval, request, ctx.nonce(), past), since, waitsSince };
}

type Fetched = { readonly sighting: ReadableSighting; readonly ctx: Context };

function applyToDecided(
  approval: Approval,
  decision: Decision,
  delivery: Delivery,
  fetched: Fetched,
): SightingResult {
  switch (delivery.type) {
    case "held":
    case "recorded":
      return applyToUnapplied(approval, decision, fetched);
    case "retry":
      return delivery.lost
        ? applyToLost(approval, decision, delivery, fetched)
        : applyToUnapplied(approval, decision, fetched);
    case "unsure":
      return applyToLost(approval, decision, delivery, fetched);
    case "refused":
      return applyToRefused(approval, decision, delivery, fetched);
    case "confirmed":
    case "elsewhere":
    case "unconfirmed":
      return applyToFinal(approval, decision, delivery, fetched);
    case "sending":
      return isOther(fetched.sighting, approval.request) && delivery.otherListed !== true
        ? withoutNotice(withDelivery(approval, decision, { ...delivery, otherListed: true }))
        : withoutNotice(approval);
  }
}

/** Notifies the deciders once if the run may wait for ever. If replicas of the service disagree, the answer may change with every look. */
function applyToFinal(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { type: "confirmed" | "elsewhere" | "unconfirmed" }>,
  { sighting }: Fetched,
): SightingResult {
  const stillListed = sighting.type === "listed";
  const isTooEarly = sighting.askedAt < delivery.at + STILL_LISTED_AFTER_MS;
  if (isTooEarly || stillListed === delivery.stillListed) return withoutNotice(approval);
  if (!stillListed || delivery.told)
    return withoutNotice(withDelivery(approval, decision, { ...delivery, stillListed }));
  return {
    approval: withDelivery(approval, decision, { ...delivery, stillListed, told: true }),
    says: { type: "decision-still-listed", approval: approval.id },
  };
}

/** A service may change these fields while it works on our decision. The request stays the same. */
const PROGRESS = ["status", "resolved_at", "updated_at"];

/** Returns whether another request is listed. */
function isOther(sighting: ReadableSighting, decided: Request): boolean {
  if (sighting.type !== "listed" || sighting.request.digest === decided.digest) return false;
  const { request } = sighting;
  const ignored = [...PROGRESS, ...(decided.volatile ?? []), ...(request.volatile ?? [])];
  const lasting = ({ content }: Request): Json => withoutFields(content, [...new Set(ignored)]);
  return decided.context !== request.context || !isSameJson(lasting(decided), lasting(request));
}

/** Voids a decision that was certainly not applied, if the approval is gone or its request has changed. */
function applyToUnapplied(
  approval: Approval,
  decision: Decision,
  { sighting, ctx }: Fetched,
): SightingResult {
  const says = (cause: VoidCause): DecisionNotice => ({
    type: "decision-void",
    approval: approval.id,
    cause,
  });
  if (sighting.type === "absent")
    return {
      approval: withSaid(voidAndClose(approval, decision, sighting.cause, ctx.now), sighting.said),
      says: says(sighting.cause),
    };
  if (sighting.request.digest === decision.digest) return withoutNotice(approval);
  const past: PastDecision = { decision, cause: "request-changed", words: "" };
  return { approval: reopenAsListed(approval, sighting.request, past, ctx), says: says("request-changed") };
}

/** A POST got no clear answer. The same content may be sent again only if the service still lists the approval afterwards. */
function applyToLost(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { type: "unsure" | "retry" }>,
  { sighting, ctx }: Fetched,
): SightingResult {
  const final = (cause: "no-longer-listed" | "request-changed", said?: string): SightingResult => ({
    approval: withDelivery(approval, decision, unconfirmed(delivery, cause, ctx.monotonic, said)),
    says: { type: "decision-unconfirmed", approval: approval.id },
  });
  if (delivery.type === "unsure" && sighting.askedAt < delivery.since) return withoutNotice(approval);
  if (sighting.type === "absent")
    return sighting.cause === "run-missing"
      ? withoutNotice(approval)
      : final("no-longer-listed", sighting.said);
  // A lagging replica of the service may still list a resolved approval for a moment.
  if (delivery.type === "unsure" && sighting.askedAt < delivery.since + DECISION_LINGER_MS)
    return withoutNotice(approval);
  if (sighting.request.digest !== decision.digest) return final("request-changed");
  if (delivery.type === "retry") return withoutNotice(approval);
  const { since, tries, why } = delivery;
  // The first retry is immediate. After several unclear answers, the waits grow, counted from the missing answer.
  const wait = tries > 1 ? Math.min(backoffMs(tries, null), ctx.slowestRetryMs) : 0;
  const notBefore = Math.max(ctx.monotonic, since + wait, delivery.notBefore);
  const retry: Delivery = { type: "retry", notBefore, tries, lost: true, why, ...answeredBefore(delivery) };
  return withoutNotice(withDelivery(approval, decision, retry));
}

/** The service refused the decision, and no earlier POST can have arrived. The approval reopens only if the service lists it afterwards. */
function applyToRefused(
  approval: Approval,
  decision: Decision,
  delivery: Extract<Delivery, { type: "refused" }>,
  { sighting, ctx }: Fetched,
): SightingResult {
  if (sighting.askedAt < delivery.at) return withoutNotice(approval);
  if (sighting.type === "absent") {
    // The end of the run, or a 404 for it, does not say that the request is listed again.
    const absent = delivery.absent || sighting.cause === "no-longer-listed";
    const said = delivery.said ?? sighting.said;
    if (absent === delivery.absent && said === delivery.said) return withoutNotice(approval);
    const next = { ...delivery, absent, ...(said === undefined ? {} : { said }) };
    return withoutNotice(withDelivery(approval, decision, next));
  }
  const past: PastDecision = { decision, cause: "refused", words: delivery.words };
  return withoutNotice(reopenAsListed(approval, sighting.request, past, ctx));
}
