// Decides what a run needs next: compares what we remember with what is shown and sent, and returns the difference as effects. It
// performs nothing, and returns no effects once everything is shown and sent. (Notifications have notifications/outbox.ts.)

import { STILL_LISTED_AFTER_MS } from "./apply-snapshot.ts";
import type { Approval } from "./approval.ts";
import { countAt, endsAt, ruleTurnsAt } from "./applied-rule.ts";
import {
  type CallIn,
  callRenderKey,
  callSlot,
  callsOf,
  carriesOpen,
  gatheredRenderKey,
  gatheredSlots,
  isCurrent,
} from "./call.ts";
import { nextFollowUpAt } from "./follow-up-due.ts";
import { claimOf, followUpMessageKey, followUpSlots } from "./handling.ts";
import { digestPages, digestRenderKey, isStorming, stormRenderKey, stormSlots } from "./storm.ts";
import type { Effect } from "./effect.ts";
import { nextMessageAct } from "./message-transitions.ts";
import { isFresh, type PostedMessage, REFUSED_TRIES, refusalsOf, type Upload } from "./posted-message.ts";
import { wantsPrecedents } from "./same-request.ts";
import {
  cardRenderKey,
  isPassing,
  MISSING,
  missingRenderKey,
  noticeSlots,
  openingRenderKey,
  outcomeRenderKey,
  STOPPED,
  stoppedRenderKey,
  unreadableShows,
  waitingReason,
} from "./render-key.ts";
import { DECISION_LINGER_MS } from "./reused-id.ts";
import {
  cardSlot,
  digestSlot,
  isWatched,
  OPENING,
  OUTCOME,
  OUTPUT,
  requestSlot,
  type Run,
  type Slot,
  UNREADABLE,
} from "./run.ts";
import { requesterLookUpAt } from "./rule-facts.ts";
import { nextLookAt } from "./snapshot.ts";
import { needsFile } from "./text/request-text.ts";

export type Plan = {
  readonly effects: readonly Effect[];
  /** When the run must be reconciled again although nothing happens (monotonic), if ever. */
  readonly wakeAt: number | null;
  /** When fetching the run would settle something (monotonic), if it would. */
  readonly fetchAt: number | null;
};

type Due = { readonly effect: Effect | null; readonly at: number | null };
const NOTHING: Due = { effect: null, at: null };

/** `now`: monotonic, like all waits of a run. */
export function reconcile(run: Run, now: number): Plan {
  const wishes = [...dueMessages(run, now), ...dueFiles(run, now), ...dueWork(run, now)];
  const effects = wishes.flatMap((wish) => (wish.effect === null ? [] : [wish.effect]));
  const looks = [...runLookWanted(run), ...run.approvals.flatMap((each) => fetchWantedAt(run, each))];
  return { effects, wakeAt: earliest(wishes.map((wish) => wish.at)), fetchAt: earliest(looks) };
}

/** The run will never need an effect, a wait or a fetch again. */
export function isFinished(run: Run, now: number): boolean {
  const plan = reconcile(run, now);
  const waits = plan.effects.length > 0 || plan.wakeAt !== null || plan.fetchAt !== null;
  const asks = run.creation.type === "unknown" && run.creation.again === "asked";
  return !waits && !asks && !isWatched(run) && !underWay(run);
}

function underWay(run: Run): boolean {
  // The outage notice still needs its "back again", and a storm its end.
  const awaitsEnd = (run.outage !== null && run.outage.until === null) || isStorming(run) || carriesOpen(run);
  const posts = Object.values(run.posts).some((post) => post.type === "sending");
  const uploads = Object.values(run.uploads).some((upload) => upload.type === "sharing");
  const sending = run.approvals.some(
    ({ state }) => state.type === "decided" && state.delivery.type === "sending",
  );
  return (
    posts || uploads || sending || run.creation.type === "sending" || run.notices.length > 0 || awaitsEnd
  );
}

function dueMessages(run: Run, now: number): Due[] {
  const wish = (slot: Slot, want: string | null): Due => {
    const post = run.posts[slot];
    if (post !== undefined && isHopeless(run, post)) return NOTHING;
    return dueMessage(
      slot,
      post,
      post?.type === "refused" && !triesAgain(run, refusalsOf(post)) ? null : want,
      {
        now,
        passing: slot === OPENING && isPassing(run),
      },
    );
  };
  const opening = wish(OPENING, openingRenderKey(run));
  const notices = noticeSlots(run).map((slot) => wish(slot, slot));
  const storms = stormSlots(run).map((slot) => wish(slot, stormRenderKey(run, slot)));
  const cards = run.approvals.map((approval) => wish(cardSlot(approval.id), cardRenderKey(run, approval)));
  const digests = digestPages(run).map((page) => wish(digestSlot(page), digestRenderKey(run, page)));
  const asked = followUpSlots(run).map((slot) => wish(slot, followUpMessageKey(run, slot)));
  const rest = [
    ...storms,
    ...digests,
    ...cards,
    ...asked,
    wish(UNREADABLE, unreadableShows(run)),
    wish(OUTCOME, outcomeRenderKey(run)),
    opening,
    wish(MISSING, missingRenderKey(run)),
    wish(STOPPED, stoppedRenderKey(run)),
    ...gatheredSlots(run).map((slot) => wish(slot, gatheredRenderKey(run, slot))),
    ...callsOf(run).map((each) => wishedCall(run, each, wish, now)),
    ...notices,
  ];
  if (run.posts[OPENING]?.type === "up") return rest;
  // Replies need their thread. Posted messages are updated all the same, because buttons must go off without waiting.
  return rest.filter((each) => each === opening || each.effect?.type === "update");
}

/** Before it is posted, others may join it, or it waits for the hours of its rule. */
function wishedCall(
  run: Run,
  each: CallIn,
  wish: (slot: Slot, want: string | null) => Due,
  now: number,
): Due {
  const slot = callSlot(each.approval, each.call);
  const want = callRenderKey(run, each);
  const early = want !== null && isFresh(run.posts[slot]) && now < each.call.notBefore;
  return early ? { effect: null, at: each.call.notBefore } : wish(slot, want);
}

function isHopeless({ creation, watch }: Run, post: PostedMessage): boolean {
  const ended =
    "at" in watch ? watch.at : NEVER_FOLLOWED.has(creation.type) && "at" in creation ? creation.at : null;
  if (ended === null || (post.type !== "up" && post.type !== "unsure") || post.tries < REFUSED_TRIES)
    return false;
  return (post.type === "up" ? post.notBefore : post.lookAt) > ended + LET_BE_AFTER_MS;
}
const NEVER_FOLLOWED: ReadonlySet<Run["creation"]["type"]> = new Set(["refused", "unknown", "taken"]);
const LET_BE_AFTER_MS = 24 * 60 * 60_000;

/** A refused message is tried again while the run is watched, and a few times more; not for a run that never began. */
function triesAgain(run: Run, refusals: number): boolean {
  return run.creation.type === "created" && (isWatched(run) || refusals < REFUSED_TRIES);
}

function dueMessage(
  slot: Slot,
  post: PostedMessage | undefined,
  want: string | null,
  { now, passing }: { readonly now: number; readonly passing: boolean },
): Due {
  const next = nextMessageAct(post, want, passing);
  return next === null ? NOTHING : due({ type: next.act, slot }, next.at, now);
}

function dueFiles(run: Run, now: number): Due[] {
  if (run.posts[OPENING]?.type !== "up") return [];
  const requests = run.approvals
    .filter((approval) => approval.state.type === "pending" && needsFile(approval.request))
    .map((approval) => dueUpload(requestSlot(approval), run.uploads[requestSlot(approval)], now));
  const output = run.posts[OUTCOME]?.type === "up" && (run.seen?.ended?.asFile ?? false);
  return output ? [...requests, dueUpload(OUTPUT, run.uploads[OUTPUT], now)] : requests;
}

function dueUpload(slot: Slot, upload: Upload | undefined, now: number): Due {
  switch (upload?.type) {
    case undefined:
      return due({ type: "upload", slot }, 0, now);
    case "planned":
      return due({ type: "upload", slot }, upload.notBefore, now);
    case "uploaded":
      return due({ type: "share", slot }, upload.notBefore, now);
    case "unsure":
      return due({ type: "find-file", slot }, upload.lookAt, now);
    case "sharing":
    case "up":
    case "refused":
      return NOTHING;
  }
}

function dueWork(run: Run, now: number): Due[] {
  const create =
    run.creation.type === "planned" && run.posts[OPENING]?.type === "up"
      ? due({ type: "create-run" }, run.creation.notBefore, now)
      : NOTHING;
  const decisions = run.approvals.map((approval) => {
    const { id, state } = approval;
    if (state.type !== "decided" || waitingReason(run, approval) !== null) return NOTHING;
    const effect: Effect = { type: "send-decision", approval: id };
    if (state.delivery.type === "held") return due(effect, state.delivery.sendAt, now);
    if (state.delivery.type === "recorded") return due(effect, 0, now);
    return state.delivery.type === "retry" ? due(effect, state.delivery.notBefore, now) : NOTHING;
  });
  const notices = run.notices
    .filter((tell) => tell.state === "planned")
    .map(({ id, notBefore }) => due({ type: "send-notice", notice: id }, notBefore, now));
  // Expiry and the end of a claim have no effect of their own: they wake the run, and `expire` and `lapseClaims` do the rest.
  const ends = run.approvals.flatMap((approval): Due[] => [
    { effect: null, at: endsAt(approval) },
    { effect: null, at: claimOf(approval)?.until ?? null },
  ]);
  const counts = run.approvals.map((approval): Due => {
    const at = countAt(approval);
    return at === null ? NOTHING : due({ type: "count-approvers", approval: approval.id }, at, now);
  });
  // After the card's post, which waits for nothing, and notifies the people whom it names: an update does not.
  const precedents = run.approvals
    .filter((approval) => wantsPrecedents(approval) && run.posts[cardSlot(approval.id)]?.type === "up")
    .map(({ id }) => due({ type: "look-up-precedents", approval: id }, 0, now));
  const turns = run.approvals.map((approval): Due => ({ effect: null, at: ruleTurnsAt(approval) }));
  const asks = requesterLookUpAt(run);
  const requester = asks === null ? NOTHING : due({ type: "look-up-requester" }, asks, now);
  const looks = [...counts, ...precedents, requester];
  return [create, ...decisions, ...notices, ...ends, ...turns, ...looks, ...dueFollowUps(run, now)];
}

/** A reminder and a stage wake the run, and `applyFollowUp` records them. */
function dueFollowUps(run: Run, now: number): Due[] {
  const moments = run.approvals.map((each): Due => ({ effect: null, at: nextFollowUpAt(run, each) }));
  const people = callsOf(run).map(({ approval, call }): Due => {
    if (call.who !== null || !isCurrent({ approval, call })) return NOTHING;
    return due({ type: "find-people", approval: approval.id, call: call.n }, call.lookAt, now);
  });
  return [...moments, ...people];
}

/** After a 404 the run is fetched again soon. */
function runLookWanted({ watch }: Run): number[] {
  return watch.type === "missing" && watch.absence !== null ? [nextLookAt(watch.absence)] : [];
}

/** What the service lists afterwards settles an absence, a lost answer and a refusal. */
function fetchWantedAt(run: Run, { state, unlisted }: Approval): number[] {
  if (run.watch.type !== "on" || !isWatched(run)) return [];
  if (unlisted !== null) return unlisted === "in-doubt" ? [] : [nextLookAt(unlisted)];
  if (state.type !== "decided") return [];
  const { delivery } = state;
  if (delivery.type === "unsure") return [Math.max(delivery.since + DECISION_LINGER_MS, delivery.notBefore)];
  if (delivery.type === "confirmed" && delivery.stillListed === null)
    return [delivery.at + STILL_LISTED_AFTER_MS];
  return delivery.type === "refused" && !delivery.absent ? [delivery.at] : [];
}

function due(effect: Effect, notBefore: number, now: number): Due {
  return notBefore <= now ? { effect, at: null } : { effect: null, at: notBefore };
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
