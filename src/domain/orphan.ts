// Orphans: messages of ours that were posted after the restored copy of the store was made, so the restored run does not know them. Slack
// still shows them, with buttons that no longer decide anything.

import type { ChannelId, MessageTs, RunId, RunKey } from "./ids.ts";
import { isFresh, type PostedMessage } from "./posted-message.ts";
import { isWatched, type Run } from "./run.ts";
import { cardSlot, OPENING, type Slot } from "./slot.ts";

/** A message of a run that this installation posted, as Slack shows it now. */
export type OwnMessage = {
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  readonly run: RunKey;
  /** The run id that the message names. Null if it was unknown then, or must not appear in a message unmasked. */
  readonly runId: RunId | null;
  /** Identifies the run and the slot, but only for a process that can compute it. */
  readonly mark: string;
  readonly kind: OrphanKind;
  /** The text of its notification, without markup. It says which request or run the message is about. Untrusted. */
  readonly about: string;
  /** The message has buttons, or is the card of an unsettled approval. */
  readonly isLive: boolean;
};

export type OrphanKind = "card" | "opening" | "other";

/** What an orphan says after it is closed. */
export type Orphan = {
  readonly kind: OrphanKind;
  /** As in `OwnMessage`. */
  readonly about: string;
  readonly runId: RunId | null;
  /** The run is stored, and its thread continues. */
  readonly isFollowed: boolean;
  /** The message that replaces it. */
  readonly current: MessageTs | null;
  /** When the restored copy was made (ms). Null if unknown. */
  readonly copiedAt: number | null;
};

/** "undecided": the run may still adopt this message or post one in its place. With `current`: the message is an orphan. */
export type Judged = "known" | "undecided" | { readonly current: MessageTs | null };

/** Returns the slots that a message of this run can have. */
export function slotsOf(run: Run): readonly Slot[] {
  return [...new Set([OPENING, ...Object.keys(run.posts), ...run.approvals.map(({ id }) => cardSlot(id))])];
}

/**
 * Judges whether the message is an orphan. `run` must have been read after the message was found, because a run records a post before its
 * first byte is sent. `slot` is null if the run has none for this message. `waitsFor.fetchSince`: the monotonic time from which a fetch of
 * the run counts. `waitsFor` is null if no fetch is awaited.
 */
export function judgeMessage(
  message: Pick<OwnMessage, "ts">,
  run: Run,
  slot: Slot | null,
  waitsFor: { readonly fetchSince: number } | null,
): Judged {
  const post = slot === null ? undefined : run.posts[slot];
  if (post?.type === "up") return judgePosted(message, post);
  if (post?.type === "refused") return { current: null };
  // Bytes were sent, so this may be the message whose answer was lost.
  if (!isFresh(post)) return "undecided";
  if (waitsFor === null) return { current: null };
  const isFetched = (run.seen?.askedAt ?? -Infinity) >= waitsFor.fetchSince;
  const isExpected = post !== undefined || (slot !== null && isPending(run, slot));
  return isWatched(run) && (!isFetched || isExpected) ? "undecided" : { current: null };
}

function judgePosted({ ts }: Pick<OwnMessage, "ts">, post: PostedMessage & { type: "up" }): Judged {
  if (post.ts === ts) return "known";
  // Until the sweep, this may be a late copy of the run's own post, which the run itself removes.
  return post.sweepAt === null ? { current: post.ts } : "undecided";
}

const isPending = (run: Run, slot: Slot): boolean =>
  run.approvals.some(({ id, state }) => cardSlot(id) === slot && state.type === "pending");
