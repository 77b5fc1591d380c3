// Many requests at once in one channel, of many runs. Slack takes about one message a second there, so their cards come for minutes.
// Meanwhile one notice in the channel says how many wait. Its Review opens the reader's own queue, so people can decide before a card is
// posted. The notice decides nothing: it has no buttons of a request. (Many requests of one run: digest.ts.)
//
// A run of the channel carries the notice, as with an outage, so it is posted, found again and updated like every other message.

import type { Approval } from "./approval.ts";
import { isListed } from "./digest.ts";
import { isFresh } from "./posted-message.ts";
import { cardSlot, digestSlot, isWatched, type Run, type Slot, type Storm } from "./run.ts";

const STORM = "storm ";
export const isStormSlot = (slot: Slot): boolean => slot.startsWith(STORM);
/** Since when the storm of this notice goes on. */
export const stormSince = (slot: Slot): number => Number(slot.slice(STORM.length));
const slotOf = ({ since }: Storm): Slot => `${STORM}${since}`;

/** Its requests that wait for a message with buttons because Slack takes no more messages. One that Slack refuses waits for no turn. */
export function waitingForCards(run: Run): number {
  if (!isWatched(run)) return 0;
  return run.approvals.filter((approval) => approval.state.type === "pending" && !hasMessage(run, approval))
    .length;
}

function hasMessage({ posts }: Run, approval: Approval): boolean {
  const card = posts[cardSlot(approval.id)];
  const { listing } = approval;
  const post =
    isListed(approval) && listing !== undefined && isFresh(card) ? posts[digestSlot(listing.page)] : card;
  return post?.type === "up" || post?.type === "refused";
}

export const isStorming = ({ storm }: Pick<Run, "storm">): boolean =>
  storm !== undefined && storm.until === null;

/** The notices that the run carries, and those that it has carried. */
export function stormSlots({ storm, posts }: Run): readonly Slot[] {
  const before = Object.keys(posts).filter(isStormSlot);
  return storm === undefined ? before : [...new Set([...before, slotOf(storm)])];
}

/** The storm that this notice tells of, as long as it goes on. */
export function stormIn({ storm }: Pick<Run, "storm">, slot: Slot): Storm | null {
  return storm !== undefined && storm.until === null && slotOf(storm) === slot ? storm : null;
}

/** Null: no notice is wanted. */
export function stormRenderKey(run: Run, slot: Slot): string | null {
  const storm = stormIn(run, slot);
  if (storm !== null) return `waiting ${storm.waiting} at ${storm.at}`;
  return isFresh(run.posts[slot]) ? null : "over";
}
