// The one place that says what is to be done next: compares what we remember with what is shown and sent, and asks for the
// difference. It never does anything, and for a world that has obeyed it asks for nothing.

import { nextLookAt } from "./absence.ts";
import type { Approval } from "./approval.ts";
import { countAt } from "./audience.ts";
import type { Effect } from "./effect.ts";
import { STILL_LISTED_AFTER_MS } from "./fold-approval.ts";
import { heldBack } from "./hold-back.ts";
import { type Post, REFUSED_TRIES, type Upload } from "./post.ts";
import { needsFile } from "./request-text.ts";
import { DECISION_LINGER_MS } from "./reused-id.ts";
import {
  cardSlot,
  isWatched,
  OPENING,
  OUTCOME,
  OUTPUT,
  requestSlot,
  type Run,
  type Slot,
  UNREADABLE,
} from "./run.ts";
import { endsAt } from "./schedule.ts";
import {
  cardShows,
  MISSING,
  missingShows,
  noticeSlots,
  openingShows,
  outcomeShows,
  unreadableShows,
} from "./shows.ts";

export type Plan = {
  readonly effects: readonly Effect[];
  /** When the run must be reconciled again although nothing happens (monotonic), if ever. */
  readonly wakeAt: number | null;
  /** When a look at the service would settle something (monotonic), if one would. */
  readonly lookAt: number | null;
};

type Wish = { readonly effect: Effect | null; readonly at: number | null };
const NOTHING: Wish = { effect: null, at: null };

/** `now`: monotonic, as all waits of a run. */
export function reconcile(run: Run, now: number): Plan {
  const wishes = [...messageWishes(run, now), ...fileWishes(run, now), ...workWishes(run, now)];
  const effects = wishes.flatMap((wish) => (wish.effect === null ? [] : [wish.effect]));
  const looks = [...runLookWanted(run), ...run.approvals.flatMap((each) => lookWanted(run, each))];
  return { effects, wakeAt: earliest(wishes.map((wish) => wish.at)), lookAt: earliest(looks) };
}

/** Nothing is to be done, awaited or asked for ever again. */
export function isFinished(run: Run, now: number): boolean {
  const plan = reconcile(run, now);
  const waits = plan.effects.length > 0 || plan.wakeAt !== null || plan.lookAt !== null;
  const asks = run.creation.is === "unknown" && run.creation.again === "asked";
  return !waits && !asks && !isWatched(run) && !underWay(run);
}

function underWay(run: Run): boolean {
  // The notice that the service is away wants its «back again».
  const awaitsEnd = run.outage !== null && run.outage.until === null;
  const posts = Object.values(run.posts).some((post) => post.is === "sending");
  const uploads = Object.values(run.uploads).some((upload) => upload.is === "sharing");
  const sending = run.approvals.some(
    ({ state }) => state.is === "decided" && state.delivery.is === "sending",
  );
  return posts || uploads || sending || run.creation.is === "sending" || run.tells.length > 0 || awaitsEnd;
}

function messageWishes(run: Run, now: number): Wish[] {
  const wish = (slot: Slot, want: string | null): Wish => {
    const post = run.posts[slot];
    if (post !== undefined && isHopeless(run, post)) return NOTHING;
    return postWish(slot, post, post?.is === "refused" && !triesAgain(run, post.tries) ? null : want, now);
  };
  const opening = wish(OPENING, openingShows(run));
  const notices = noticeSlots(run).map((slot) => wish(slot, slot));
  const cards = run.approvals.map((approval) => wish(cardSlot(approval.id), cardShows(run, approval)));
  const rest = [
    ...cards,
    wish(UNREADABLE, unreadableShows(run)),
    wish(OUTCOME, outcomeShows(run)),
    opening,
    wish(MISSING, missingShows(run)),
    ...notices,
  ];
  if (run.posts[OPENING]?.is === "up") return rest;
  // Replies need their thread. What is up already is changed all the same: buttons must go off without waiting.
  return rest.filter((each) => each === opening || each.effect?.do === "update");
}

function isHopeless({ creation, watch }: Run, post: Post): boolean {
  const ended =
    "at" in watch ? watch.at : NEVER_FOLLOWED.has(creation.is) && "at" in creation ? creation.at : null;
  if (ended === null || (post.is !== "up" && post.is !== "unsure") || post.tries < REFUSED_TRIES)
    return false;
  return (post.is === "up" ? post.notBefore : post.lookAt) > ended + LET_BE_AFTER_MS;
}
const NEVER_FOLLOWED: ReadonlySet<Run["creation"]["is"]> = new Set(["refused", "unknown", "taken"]);
const LET_BE_AFTER_MS = 24 * 60 * 60_000;

/** What Slack refuses is tried as long as the run is watched, and a few times more. A run that never began is let be. */
function triesAgain(run: Run, tries: number): boolean {
  return run.creation.is === "created" && (isWatched(run) || tries < REFUSED_TRIES);
}

function postWish(slot: Slot, post: Post | undefined, want: string | null, now: number): Wish {
  if (post === undefined) return want === null ? NOTHING : due({ do: "post", slot }, 0, now);
  switch (post.is) {
    case "planned":
      return want === null ? NOTHING : due({ do: "post", slot }, post.notBefore, now);
    case "sending":
      return NOTHING;
    case "refused":
      return want === null ? NOTHING : due({ do: "post", slot }, post.retryAt, now);
    case "unsure":
      return due({ do: "find", slot }, post.lookAt, now);
    case "up":
      if (want !== null && want !== post.shows) return due({ do: "update", slot }, post.notBefore, now);
      return post.sweepAt === null ? NOTHING : due({ do: "sweep", slot }, post.sweepAt, now);
  }
}

function fileWishes(run: Run, now: number): Wish[] {
  if (run.posts[OPENING]?.is !== "up") return [];
  const requests = run.approvals
    .filter((approval) => approval.state.is === "pending" && needsFile(approval.request))
    .map((approval) => uploadWish(requestSlot(approval), run.uploads[requestSlot(approval)], now));
  const output = run.posts[OUTCOME]?.is === "up" && (run.seen?.ended?.asFile ?? false);
  return output ? [...requests, uploadWish(OUTPUT, run.uploads[OUTPUT], now)] : requests;
}

function uploadWish(slot: Slot, upload: Upload | undefined, now: number): Wish {
  switch (upload?.is) {
    case undefined:
      return due({ do: "upload", slot }, 0, now);
    case "planned":
      return due({ do: "upload", slot }, upload.notBefore, now);
    case "uploaded":
      return due({ do: "share", slot }, upload.notBefore, now);
    case "unsure":
      return due({ do: "find-file", slot }, upload.lookAt, now);
    case "sharing":
    case "up":
    case "refused":
      return NOTHING;
  }
}

function workWishes(run: Run, now: number): Wish[] {
  const create =
    run.creation.is === "planned" && run.posts[OPENING]?.is === "up"
      ? due({ do: "create-run" }, run.creation.notBefore, now)
      : NOTHING;
  const decisions = run.approvals.map((approval) => {
    const { id, state } = approval;
    if (state.is !== "decided" || heldBack(run, approval) !== null) return NOTHING;
    const effect: Effect = { do: "send-decision", approval: id };
    if (state.delivery.is === "held") return due(effect, state.delivery.sendAt, now);
    if (state.delivery.is === "recorded") return due(effect, 0, now);
    return state.delivery.is === "retry" ? due(effect, state.delivery.notBefore, now) : NOTHING;
  });
  const tells = run.tells
    .filter((tell) => tell.state === "planned")
    .map((tell) => due({ do: "tell", tell: tell.id }, tell.notBefore, now));
  // Nothing is sent when time is up: the run is looked after, and `expire` makes of it what the rule says.
  const ends = run.approvals.map((approval): Wish => ({ effect: null, at: endsAt(approval) }));
  const counts = run.approvals.map((approval): Wish => {
    const at = countAt(approval);
    return at === null ? NOTHING : due({ do: "count-approvers", approval: approval.id }, at, now);
  });
  return [create, ...decisions, ...tells, ...ends, ...counts];
}

/** A 404 is soon asked about again. */
function runLookWanted({ watch }: Run): number[] {
  return watch.is === "missing" && watch.absence !== null ? [nextLookAt(watch.absence)] : [];
}

/** An absence, a lost answer and a refusal are settled by what the service lists afterwards. */
function lookWanted(run: Run, { state, unlisted }: Approval): number[] {
  if (run.watch.is !== "on" || !isWatched(run)) return [];
  if (unlisted !== null) return unlisted === "in-doubt" ? [] : [nextLookAt(unlisted)];
  if (state.is !== "decided") return [];
  const { delivery } = state;
  if (delivery.is === "unsure") return [Math.max(delivery.since + DECISION_LINGER_MS, delivery.notBefore)];
  if (delivery.is === "confirmed" && delivery.stillListed === null)
    return [delivery.at + STILL_LISTED_AFTER_MS];
  return delivery.is === "refused" && !delivery.absent ? [delivery.at] : [];
}

function due(effect: Effect, notBefore: number, now: number): Wish {
  return notBefore <= now ? { effect, at: null } : { effect: null, at: notBefore };
}

function earliest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}
