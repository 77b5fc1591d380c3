// What happens to a run after an older copy of the store is restored. What the run was about to do when the copy was made may have been
// done or taken back since. So an approval or a start that was only planned in the copy is not sent; people are asked again. A denial
// is still sent, because it can only stop something.

import type { Context } from "./context.ts";
import { withdrawApproval } from "./decision-delivery.ts";
import type { ChannelId, MessageTs, RunId, RunKey } from "./ids.ts";
import { isFresh, type PostedMessage } from "./posted-message.ts";
import { cardSlot, isWatched, OPENING, type Run, type Slot } from "./run.ts";

/** `copiedAt`: the wall time of the copy. What was intended later is not touched, so this may be done again. */
export function afterRestore(run: Run, copiedAt: number, ctx: Context): Run {
  const asked = askAboutStart(run, copiedAt, ctx);
  return asked.approvals.reduce((next, { id, state }) => {
    if (state.type !== "decided" || state.decision.at > copiedAt) return next;
    return withdrawApproval(next, id, "restored", ctx);
  }, asked);
}

function askAboutStart(run: Run, copiedAt: number, { monotonic }: Context): Run {
  if (run.creation.type !== "planned" || run.askedAt > copiedAt) return run;
  const { why: words } = run.creation;
  return { ...run, creation: { type: "unknown", words, at: monotonic, again: "asked", restored: true } };
}

// The copy has forgotten the messages that were posted since. Slack keeps them, with buttons that decide nothing any more. Such a
// message is an orphan: Countersign posted it, and the stored run does not know it.

/** A message of a run that this installation posted, as Slack has it now. */
export type OwnMessage = {
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  readonly run: RunKey;
  /** As the message names it. Null: it was not known then, or must not stand in a message unmasked. */
  readonly runId: RunId | null;
  /** Names the run and its slot; only a process that can compute it knows which. */
  readonly mark: string;
  readonly kind: OrphanKind;
  /** What its notification said, without markup: which request or run it is about. Untrusted. */
  readonly about: string;
  /** It has buttons, or it is the card of something unsettled. */
  readonly isLive: boolean;
};

export type OrphanKind = "card" | "opening" | "other";

/** What the closed message says. */
export type Orphan = {
  readonly kind: OrphanKind;
  /** As in `OwnMessage`. */
  readonly about: string;
  readonly runId: RunId | null;
  /** The run is stored, and its thread goes on. */
  readonly isFollowed: boolean;
  /** The message that stands in its place now. */
  readonly current: MessageTs | null;
  /** When the copy was made that was restored (ms). Null: not known. */
  readonly copiedAt: number | null;
};

/** "undecided": the run may still post this message, adopt it, or post another in its place. */
export type Judged = "known" | "undecided" | { readonly current: MessageTs | null };

/** The slots that a message of this run can have. */
export function slotsOf(run: Run): readonly Slot[] {
  return [...new Set([OPENING, ...Object.keys(run.posts), ...run.approvals.map(({ id }) => cardSlot(id))])];
}

/**
 * `run` must have been read after the message was found, because a run records a post before its first byte leaves. `slot` null: the run
 * has none for this message. `since`: the monotonic time from which a fetch of the run counts; Infinity where no person waits for one.
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
  // Bytes have left, so this may be the message that a lost answer was about.
  if (!isFresh(post)) return "undecided";
  if (waitsFor === null) return { current: null };
  const isFetched = (run.seen?.askedAt ?? -Infinity) >= waitsFor.fetchSince;
  const comesNext = post !== undefined || (slot !== null && isPending(run, slot));
  return isWatched(run) && (!isFetched || comesNext) ? "undecided" : { current: null };
}

function judgePosted({ ts }: Pick<OwnMessage, "ts">, post: PostedMessage & { type: "up" }): Judged {
  if (post.ts === ts) return "known";
  // Until the sweep a late copy of its own post may turn up, which the run itself removes.
  return post.sweepAt === null ? { current: post.ts } : "undecided";
}

const isPending = (run: Run, slot: Slot): boolean =>
  run.approvals.some(({ id, state }) => cardSlot(id) === slot && state.type === "pending");
