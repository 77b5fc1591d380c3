// Decides what a run needs next. `reconcile` compares what we remember with what is shown and sent, and returns the difference as
// effects. It performs nothing, and returns no effects once everything is shown and sent. (notifications/outbox.ts does the same for
// notifications.)

import { STILL_LISTED_AFTER_MS } from "./apply-snapshot.ts";
import type { Approval } from "./approval.ts";
import { isFinal } from "./delivery-state.ts";
import { countAt, endsAt, ruleTurnsAt } from "./applied-rule.ts";
import { type CallIn, callRenderKey, callSlot, callsOf, isCurrent } from "./call.ts";
import { carriesOpenCall, gatheredRenderKey, gatheredSlots } from "./gathered-call.ts";
import { waitingReason } from "./decision-gate.ts";
import { nextFollowUpAt } from "./follow-up-due.ts";
import { claimOf, followUpMessageKey, followUpSlots } from "./handling.ts";
import { listingPages, listingRenderKey } from "./listing.ts";
import { stoppedRenderKey } from "./stop-report.ts";
import { isStorming, stormRenderKey, stormSlots } from "./storm.ts";
import { type Effect, markedEffects } from "./effect.ts";
import { holdEnd } from "./hold.ts";
import { isHopeless } from "./kept-messages.ts";
import { nextMessageAct } from "./message-transitions.ts";
import { isFresh, type PostedMessage, REFUSED_TRIES, refusalsOf, type Upload } from "./posted-message.ts";
import { wantsPrecedents } from "./same-request.ts";
import {
  cardRenderKey,
  isPassing,
  missingRenderKey,
  openingRenderKey,
  outageSlots,
  outcomeRenderKey,
  unreadableRenderKey,
} from "./render-key.ts";
import {
  MISSING,
  STOPPED,
  cardSlot,
  listingSlot,
  OPENING,
  OUTCOME,
  OUTPUT,
  requestSlot,
  type Slot,
  UNREADABLE,
} from "./slot.ts";
import { isOutputForgotten, isWatched, type Run } from "./run.ts";
import { requesterLookUpAt } from "./rule-facts.ts";
import { DECISION_LINGER_MS, nextLookAt } from "./snapshot.ts";
import { needsFile } from "./text/request-text.ts";

export type Plan = {
  readonly effects: readonly Effect[];
  /** When the run must be reconciled again even if nothing happens (monotonic). Null if never. */
  readonly wakeAt: number | null;
  /** When a fetch of the run would settle something (monotonic). Null if none would. */
  readonly fetchAt: number | null;
};

/** Something that the run needs: `effect` if it is due now, or the time `at` (monotonic) when it will be. Neither if it needs nothing. */
type Due = { readonly effect: Effect | null; readonly at: number | null };
const NOTHING: Due = { effect: null, at: null };

export function reconcile(run: Run, monotonic: number): Plan {
  const needs = [
    ...dueMessages(run, monotonic),
    ...dueFiles(run, monotonic),
    ...dueOtherEffects(run, monotonic),
  ];
  const effects = needs.flatMap(({ effect }) => (effect === null ? [] : [effect]));
  const fetches = [
    ...fetchTimesOfRun(run),
    ...run.approvals.flatMap((approval) => fetchTimesOf(run, approval)),
  ];
  return { effects, wakeAt: earliest(needs.map(({ at }) => at)), fetchAt: earliest(fetches) };
}

/** Returns whether the run will never need an effect, a wait or a fetch again. */
export const isFinished = (run: Run, monotonic: number): boolean =>
  isFinishedWith(run, reconcile(run, monotonic));

/** Like `isFinished`, for the run's plan of this moment. */
export function isFinishedWith(run: Run, plan: Plan): boolean {
  const hasWork = plan.effects.length > 0 || plan.wakeAt !== null || plan.fetchAt !== null;
  const awaitsRequester = run.creation.type === "unknown" && run.creation.again === "asked";
  return !hasWork && !awaitsRequester && !isWatched(run) && !awaitsOutcomeOrEnd(run);
}

/** Returns whether a marked effect awaits its outcome, a notice waits to be sent, or a message is still to report the end of something. */
function awaitsOutcomeOrEnd(run: Run): boolean {
  // An outage notice still needs its "back again", and the notice of a storm or a combined call its end.
  const awaitsEnd =
    (run.outage !== null && run.outage.until === null) || isStorming(run) || carriesOpenCall(run);
  return markedEffects(run).length > 0 || run.notices.length > 0 || awaitsEnd;
}

function dueMessages(run: Run, monotonic: number): Due[] {
  const message = (slot: Slot, wanted: string | null): Due => dueMessage(run, slot, wanted, monotonic);
  const opening = message(OPENING, openingRenderKey(run));
  const messages = [
    ...stormSlots(run).map((slot) => message(slot, stormRenderKey(run, slot))),
    ...listingPages(run).map((page) => message(listingSlot(page), listingRenderKey(run, page))),
    ...run.approvals.map((approval) => message(cardSlot(approval.id), cardRenderKey(run, approval))),
    ...followUpSlots(run).map((slot) => message(slot, followUpMessageKey(run, slot))),
    message(UNREADABLE, unreadableRenderKey(run)),
    message(OUTCOME, wantedOutcome(run)),
    opening,
    message(MISSING, missingRenderKey(run)),
    message(STOPPED, stoppedRenderKey(run)),
    ...gatheredSlots(run).map((slot) => message(slot, gatheredRenderKey(run, slot))),
    ...callsOf(run).map((call) => dueCall(run, call, monotonic)),
    ...outageSlots(run).map((slot) => message(slot, slot)),
  ];
  if (run.posts[OPENING]?.type === "up") return messages;
  // Replies need their thread. Posted messages are updated all the same, because buttons must disappear without delay.
  return messages.filter((due) => due === opening || due.effect?.type === "update");
}

/** A message whose output was forgotten stays as it is, because drawing it again would erase the output. */
function wantedOutcome(run: Run): string | null {
  const ended = run.seen?.ended ?? null;
  return ended !== null && isOutputForgotten(ended) ? null : outcomeRenderKey(run);
}

/** Delays the first post of a call until `notBefore`, so that other calls can join it, or until the hours of its rule. */
function dueCall(run: Run, call: CallIn, monotonic: number): Due {
  const slot = callSlot(call.approval, call.call);
  const wanted = callRenderKey(run, call);
  const isEarly = wanted !== null && isFresh(run.posts[slot]) && monotonic < call.call.notBefore;
  return isEarly ? { effect: null, at: call.call.notBefore } : dueMessage(run, slot, wanted, monotonic);
}

/** `wanted`: the render key of what the slot should show, or null if it should be empty. */
function dueMessage(run: Run, slot: Slot, wanted: string | null, monotonic: number): Due {
  const post = run.posts[slot];
  if ((post?.type === "up" || post?.type === "unsure") && isHopeless(run, post.tries, nextTryAt(post)))
    return NOTHING;
  const isGivenUp = post?.type === "refused" && !canRetryRefused(run, refusalsOf(post));
  const isPassingState = slot === OPENING && isPassing(run);
  const next = nextMessageAct(post, isGivenUp ? null : wanted, isPassingState);
  return next === null ? NOTHING : due({ type: next.act, slot }, next.at, monotonic);
}

const nextTryAt = (post: Extract<PostedMessage, { type: "up" | "unsure" }>): number =>
  post.type === "up" ? post.notBefore : post.lookAt;

/** Retries a refused message while the run is watched, and a few times after that. A run that never began gets no retries. */
function canRetryRefused(run: Run, refusals: number): boolean {
  return run.creation.type === "created" && (isWatched(run) || refusals < REFUSED_TRIES);
}

function dueFiles(run: Run, monotonic: number): Due[] {
  if (run.posts[OPENING]?.type !== "up") return [];
  const requests = run.approvals
    .filter((approval) => approval.state.type === "pending" && needsFile(approval.request))
    .map((approval) => dueUpload(requestSlot(approval), run.uploads[requestSlot(approval)], monotonic));
  // Without its file, a request cannot be decided here. A refused output is not tried again: its message says that the service has it.
  const output =
    run.posts[OUTCOME]?.type === "up" &&
    run.seen?.ended?.asFile === true &&
    run.uploads[OUTPUT]?.type !== "refused";
  return output ? [...requests, dueUpload(OUTPUT, run.uploads[OUTPUT], monotonic)] : requests;
}

function dueUpload(slot: Slot, upload: Upload | undefined, monotonic: number): Due {
  switch (upload?.type) {
    case undefined:
      return due({ type: "upload", slot }, 0, monotonic);
    case "planned":
      return due({ type: "upload", slot }, upload.notBefore, monotonic);
    case "uploaded":
      return due({ type: "share", slot }, upload.notBefore, monotonic);
    case "unsure":
      return due({ type: "find-file", slot }, upload.lookAt, monotonic);
    case "refused":
      return due({ type: "upload", slot }, upload.retryAt ?? 0, monotonic);
    case "sharing":
    case "up":
      return NOTHING;
  }
}

function dueOtherEffects(run: Run, monotonic: number): Due[] {
  const create =
    run.creation.type === "planned" && run.posts[OPENING]?.type === "up"
      ? due({ type: "create-run" }, run.creation.notBefore, monotonic)
      : NOTHING;
  const decisions = run.approvals.map((approval) => dueDecision(run, approval, monotonic));
  const notices = run.notices
    .filter((notice) => notice.state === "planned")
    .map(({ id, notBefore }) => due({ type: "send-notice", notice: id }, notBefore, monotonic));
  // Expiry and the end of a claim have no effect of their own. They only wake the run; `expire` and `lapseClaims` do the rest.
  const ends = run.approvals.flatMap((approval): Due[] => [
    { effect: null, at: endsAt(approval) },
    { effect: null, at: claimOf(approval)?.until ?? null },
  ]);
  const counts = run.approvals.map((approval): Due => {
    const at = countAt(approval);
    return at === null ? NOTHING : due({ type: "count-approvers", approval: approval.id }, at, monotonic);
  });
  // Precedents are looked up after the card is posted. The post must not wait, because only a post notifies the people it names; an
  // update does not.
  const precedents = run.approvals
    .filter((approval) => wantsPrecedents(approval) && run.posts[cardSlot(approval.id)]?.type === "up")
    .map(({ id }) => due({ type: "look-up-precedents", approval: id }, 0, monotonic));
  const ruleChanges = run.approvals.map((approval): Due => ({ effect: null, at: ruleTurnsAt(approval) }));
  const lookUpAt = requesterLookUpAt(run);
  const requester = lookUpAt === null ? NOTHING : due({ type: "look-up-requester" }, lookUpAt, monotonic);
  const lookUps = [...counts, ...precedents, requester];
  return [
    create,
    ...decisions,
    ...notices,
    ...ends,
    ...ruleChanges,
    ...lookUps,
    ...dueFollowUps(run, monotonic),
  ];
}

function dueDecision(run: Run, approval: Approval, monotonic: number): Due {
  const { id, state } = approval;
  if (state.type !== "decided" || waitingReason(run, approval) !== null) return NOTHING;
  const effect: Effect = { type: "send-decision", approval: id };
  const hold = holdEnd(approval);
  if (hold !== null) return hold.sendAt === null ? NOTHING : due(effect, hold.sendAt, monotonic);
  if (state.delivery.type === "recorded") return due(effect, 0, monotonic);
  return state.delivery.type === "retry" ? due(effect, state.delivery.notBefore, monotonic) : NOTHING;
}

/** Wakes the run for a reminder or a stage, which `applyFollowUp` then records. */
function dueFollowUps(run: Run, monotonic: number): Due[] {
  const moments = run.approvals.map((approval): Due => ({ effect: null, at: nextFollowUpAt(run, approval) }));
  const people = callsOf(run).map(({ approval, call }): Due => {
    if (call.who !== null || call.held === true || !isCurrent({ approval, call })) return NOTHING;
    return due({ type: "find-people", approval: approval.id, call: call.n }, call.lookAt, monotonic);
  });
  return [...moments, ...people];
}

/** Returns when to fetch the run again after a 404. */
function fetchTimesOfRun({ watch }: Run): number[] {
  return watch.type === "missing" && watch.absence !== null ? [nextLookAt(watch.absence)] : [];
}

/** Returns when a fetch can settle an absence, a lost answer or a refusal, because the service then lists the approval or does not. */
function fetchTimesOf(run: Run, { state, unlisted }: Approval): number[] {
  if (run.watch.type !== "on" || !isWatched(run)) return [];
  if (unlisted !== null) return unlisted === "in-doubt" ? [] : [nextLookAt(unlisted)];
  if (state.type !== "decided") return [];
  const { delivery } = state;
  if (delivery.type === "unsure") return [Math.max(delivery.since + DECISION_LINGER_MS, delivery.notBefore)];
  if (isFinal(delivery) && (delivery.stillListed ?? null) === null)
    return [delivery.at + STILL_LISTED_AFTER_MS];
  return delivery.type === "refused" && !delivery.absent ? [delivery.at] : [];
}

function due(effect: Effect, notBefore: number, monotonic: number): Due {
  return notBefore <= monotonic ? { effect, at: null } : { effect: null, at: notBefore };
}

function earliest(times: readonly (number | null)[]): number | null {
  const set = times.filter((time) => time !== null);
  return set.length === 0 ? null : Math.min(...set);
}
