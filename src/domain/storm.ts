// The notice in a channel with requests of many runs at once. It says how many wait. Its Review button opens the reader's own queue, so
// people can decide before a card is posted. The notice itself has no buttons of a request.
//
// A run of the channel carries the notice, as with an outage, so it is posted, found again and updated like every other message.

import type { Approval } from "./approval.ts";
import { isListed } from "./listing.ts";
import { isFresh } from "./posted-message.ts";
import { isWatched, type Run, type Storm } from "./run.ts";
import { cardSlot, listingSlot, type Slot } from "./slot.ts";

const STORM = "storm ";
export const isStormSlot = (slot: Slot): boolean => slot.startsWith(STORM);
/** Returns when the storm of this notice began. */
export const stormSince = (slot: Slot): number => Number(slot.slice(STORM.length));
const slotOf = ({ since }: Storm): Slot => `${STORM}${since}`;

/** Counts the pending requests whose message with buttons is not posted yet. A message that Slack refused does not wait for its turn. */
export function waitingForCards(run: Run): number {
  if (!isWatched(run)) return 0;
  return run.approvals.filter((approval) => approval.state.type === "pending" && !hasMessage(run, approval))
    .length;
}

function hasMessage({ posts }: Run, approval: Approval): boolean {
  const card = posts[cardSlot(approval.id)];
  const { listing } = approval;
  const post =
    isListed(approval) && listing !== undefined && isFresh(card) ? posts[listingSlot(listing.page)] : card;
  return post?.type === "up" || post?.type === "refused";
}

export const isStorming = ({ storm }: Pick<Run, "storm">): boolean =>
  storm !== undefined && storm.until === null;

/** Returns the slots of the notices that the run carries or has carried. */
export function stormSlots({ storm, posts }: Run): readonly Slot[] {
  const posted = Object.keys(posts).filter(isStormSlot);
  return storm === undefined ? posted : [...new Set([...posted, slotOf(storm)])];
}

/** Returns the storm that this notice is about. Returns null once the storm is over. */
export function activeStorm({ storm }: Pick<Run, "storm">, slot: Slot): Storm | null {
  return storm !== undefined && storm.until === null && slotOf(storm) === slot ? storm : null;
}

/** Returns null if no notice is wanted. */
export function stormRenderKey(run: Run, slot: Slot): string | null {
  const storm = activeStorm(run, slot);
  if (storm !== null) return `waiting ${storm.waiting} at ${storm.at}`;
  return isFresh(run.posts[slot]) ? null : "over";
}
