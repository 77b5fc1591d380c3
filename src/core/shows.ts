// What each message of a run should say now, as a short key. A message whose key differs is stale and is drawn anew.
// The card builders draw from the same state; a key must change whenever the drawing would.

import { answeredBefore, type Approval, type Delivery } from "./approval.ts";
import { tooFew } from "./audience.ts";
import { heldBack } from "./hold-back.ts";
import { needsFile } from "./request-text.ts";
import {
  cardSlot,
  isMissing,
  isWatched,
  OPENING,
  OUTCOME,
  OUTPUT,
  requestSlot,
  type Run,
  type Slot,
  UNREADABLE,
  unreadableNow,
} from "./run.ts";
import { meaning } from "./unreadable.ts";

export const MISSING: Slot = "missing";

export function openingShows(run: Run): string {
  switch (run.creation.is) {
    case "planned":
      return run.creation.why === "" ? "starting" : "starting, waiting";
    case "sending":
      return "starting";
    case "refused":
    case "unknown":
    case "taken":
      return run.creation.is;
    case "created":
      if (run.watch.is === "missing" && isMissing(run)) return "missing";
      if (unreadableNow(run)?.what === "answer") return "unreadable";
      if (run.watch.is === "given-up" || run.watch.is === "dropped" || run.watch.is === "tampered")
        return run.watch.is;
      return `run ${run.seen?.status ?? "not seen"}${deniedShows(run)}`;
  }
}

/** Null: nothing to be posted. */
export function outcomeShows(run: Run): string | null {
  if (run.creation.is === "refused") return "not started";
  if (run.creation.is === "taken") return "taken";
  if (run.creation.is === "unknown") return `unknown, ${run.creation.again}`;
  if (run.seen?.ended === undefined || run.seen.ended === null) return null;
  const file = run.seen.ended.asFile ? `, file ${fileState(run, OUTPUT)}` : "";
  return `ended${file}${deniedShows(run)}`;
}

/** How many of its requests were denied, as the service confirmed: «succeeded» alone would hide that something was not done. */
export function denials({ approvals }: Pick<Run, "approvals">): number {
  return approvals.filter(
    ({ state }) =>
      state.is === "decided" && state.decision.verdict === "deny" && state.delivery.is === "confirmed",
  ).length;
}

function deniedShows(run: Run): string {
  const denied = run.seen?.status === "succeeded" ? denials(run) : 0;
  return denied === 0 ? "" : `, ${denied} denied`;
}

export function missingShows(run: Run): string | null {
  if (run.watch.is === "given-up") return "given up";
  if (run.watch.is === "tampered") return "tampered";
  if (isMissing(run)) return "missing";
  if (run.watch.is === "dropped") return null;
  return run.posts[MISSING] === undefined ? null : "back";
}

export function unreadableShows(run: Run): string | null {
  const unreadable = unreadableNow(run);
  if (unreadable !== null) return `unreadable ${meaning(unreadable)}`;
  if (run.posts[UNREADABLE] === undefined) return null;
  return isWatched(run) ? "readable" : "over";
}

/** The notices about the service being away go to the channel itself: one when it is, one when it is back. */
export function noticeSlots(run: Run): Slot[] {
  if (run.outage === null) return [];
  const down = `${DOWN} ${run.outage.since}`;
  return run.outage.until === null ? [down] : [down, `${BACK} ${run.outage.since}`];
}

export const DOWN = "service-down";
export const BACK = "service-back";

export function cardShows(run: Run, approval: Approval): string | null {
  const post = run.posts[cardSlot(approval.id)];
  const never = post === undefined || post.is === "planned" || post.is === "refused";
  if (approval.state.is === "closed" && never) return null;
  const file = needsFile(approval.request) ? ` file ${fileState(run, requestSlot(approval))}` : "";
  const audited = approval.audited === undefined ? "" : ` audit ${approval.audited.seq}`;
  return `v${approval.version}${file} ${stateShows(run, approval)}${audited}`;
}

/** As people are told it: on its way, there, or impossible. */
export function fileState(run: Run, slot: Slot): "coming" | "there" | "refused" {
  const is = run.uploads[slot]?.is;
  return is === "up" ? "there" : is === "refused" ? "refused" : "coming";
}

function stateShows(run: Run, approval: Approval): string {
  const { state, past, votes, ruling, version, requestVersion } = approval;
  switch (state.is) {
    case "pending": {
      const rule = ruling.version === null ? "" : ` ${ruling.version} ${ruling.rule.name}`;
      const voted = votes.map(({ by }) => ` vote ${by?.user}`).join("");
      const few = tooFew(approval);
      const able = few === null ? "" : ` only ${few.able}${few.grows ? " yet" : ""}`;
      const changed = version > 1 && version === requestVersion ? " changed" : "";
      return `pending ${past.length}${changed}${voted}${able}${rule}`;
    }
    case "closed":
      return `closed ${state.because}`;
    case "decided":
      return deliveryShows(run, approval, state.delivery);
  }
}

function deliveryShows(run: Run, approval: Approval, delivery: Delivery): string {
  const { answered } = answeredBefore(delivery);
  const answer = answered === undefined ? "" : `, answered ${answered}`;
  const back = heldBack(run, approval);
  const waits = back === null ? "" : ` ${back}`;
  switch (delivery.is) {
    case "held":
      return `held ${delivery.until}${waits}`;
    case "recorded":
      return `recorded${waits}`;
    case "sending":
      return delivery.lost ? `sending again${answer}` : "recorded";
    case "retry":
      return delivery.lost ? `sending again${waits}${answer}` : `waiting ${back ?? delivery.why}`;
    case "confirmed":
      return delivery.stillListed ? "confirmed, still listed" : "confirmed";
    case "unconfirmed":
      return `unconfirmed ${delivery.because}${answer}`;
    case "refused":
      return `refused ${delivery.absent ? "absent" : ""} ${isWatched(run) ? "" : "over"}`;
    case "unsure":
      return `unsure${answer}`;
    case "elsewhere":
      return delivery.is;
  }
}

/** What a slot should show; null when it should not be there, or is not a message. */
export function shows(run: Run, slot: Slot): string | null {
  if (slot === OPENING) return openingShows(run);
  if (slot === OUTCOME) return outcomeShows(run);
  if (slot === MISSING) return missingShows(run);
  if (slot === UNREADABLE) return unreadableShows(run);
  if (noticeSlots(run).includes(slot)) return slot;
  const approval = run.approvals.find((each) => cardSlot(each.id) === slot);
  return approval === undefined ? null : cardShows(run, approval);
}
