// Says how urgent an effect is. Slack accepts about one message a second per channel and fifty updates a minute, so urgent effects go first.

import { channelOf } from "../domain/gathered-call.ts";
import type { Effect } from "../domain/effect.ts";
import { ChannelId, parsed } from "../domain/ids.ts";
import { listingPageOf } from "../domain/listing.ts";
import { isPassing, mayShowButtons } from "../domain/render-key.ts";
import { STOPPED, cardSlot, OPENING, type Slot, UNREADABLE } from "../domain/slot.ts";
import { isStoppable, isStopped, type Run } from "../domain/run.ts";
import { isStopShown } from "../domain/stop-report.ts";
import { isStormSlot } from "../domain/storm.ts";
import type { PacedEffect } from "../ports.ts";

/** Returns null if the effect does not go to Slack. */
export function paceOf(run: Run, effect: Effect): PacedEffect | null {
  const channel = "slot" in effect ? channelOf(run, effect.slot) : run.channel;
  switch (effect.type) {
    case "create-run":
    case "send-decision":
    case "count-approvers":
    case "look-up-precedents":
    case "look-up-requester":
    case "find-people":
      return null;
    case "post":
      return { channel, kind: "post", urgency: postUrgencyOf(run, effect.slot) };
    case "update":
      return {
        channel,
        kind: "update",
        urgency: urgencyOf(run, effect.slot),
        ...messageAt(run, effect.slot),
      };
    case "find":
    case "sweep":
    case "find-file":
      return { channel, kind: "read", urgency: 1 };
    case "share":
      return { channel, kind: "post", urgency: 1 };
    case "upload":
      return { channel, kind: "other", urgency: 1 };
    case "send-notice":
      return paceOfNotice(run, effect.notice);
  }
}

function urgencyOf(run: Run, slot: Slot): PacedEffect["urgency"] {
  const card = run.approvals.find((approval) => cardSlot(approval.id) === slot);
  if (slot === UNREADABLE || listingPageOf(run, slot) !== null) return 0;
  // If a storm notice waited behind the openings of all the runs that now await approval, its number would be wrong in the meantime.
  if (isStormSlot(slot)) return 1;
  if (card !== undefined && card.state.type !== "pending") return mayShowButtons(run.posts[slot]) ? 0 : 1;
  // The button of a stop that is over does nothing, and no button lifts a stop that is not shown. Otherwise, the update only changes the count
  // of its denials.
  if (slot === STOPPED) return isStopped(run) && isStoppable(run) && isStopShown(run) ? 3 : 1;
  if (slot !== OPENING) return 2;
  return isPassing(run) ? 3 : (run.seen?.ended ?? null) === null ? 2 : 1;
}

/** A notice is paced like any other post to that person or channel. */
function paceOfNotice({ channel, notices }: Run, id: string): PacedEffect {
  const to = notices.find((notice) => notice.id === id)?.to ?? channel;
  return { channel: to, kind: "post", urgency: parsed(ChannelId, to) === null ? 1 : 2 };
}

function messageAt({ posts }: Run, slot: Slot): Pick<PacedEffect, "message"> {
  const post = posts[slot];
  return post?.type === "up" ? { message: post.ts } : {};
}

/**
 * A message that lists many requests is posted before the card of a single request. If a listing showed an approval until it was decided,
 * its card is posted after everything that can still be decided.
 */
function postUrgencyOf(run: Run, slot: Slot): PacedEffect["urgency"] {
  if (slot === UNREADABLE || listingPageOf(run, slot) !== null || isStormSlot(slot)) return 0;
  const card = run.approvals.find((approval) => cardSlot(approval.id) === slot);
  if (card === undefined) return 2;
  return card.state.type === "pending" || card.listing === undefined ? 1 : 3;
}
