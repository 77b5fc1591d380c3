// Checks a press of "Review" on a message in a channel or a thread: on the notice of many waiting requests, or on a message that calls
// people to a request. The press is trusted only for who pressed, and where: it must be on a message of ours. What the person may see and
// decide is looked up when their queue is read.

import { callSlot, callsOf } from "../domain/call.ts";
import { channelOf, gatheredSlots } from "../domain/gathered-call.ts";
import type { ChannelId, MessageTs, RunKey, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import { ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { stormSlots } from "../domain/storm.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

type ReviewPress = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  /** Null if the button carried no valid key. */
  readonly run: RunKey | null;
};

/** Resolves to ok, with the channel of the run, if the person pressed a message of ours. Rejects with PortError. */
export type CheckReviewPress = (press: ReviewPress) => Promise<Result<ChannelId, RefusedAttempt>>;

export function createCheckReviewPress(deps: DecideDeps): CheckReviewPress {
  return async (press) => {
    const { team, channel, ts, run: key } = press;
    const run = key === null ? null : ((await deps.store.load(key))?.run ?? null);
    const messages = run === null ? [] : messagesWithReview(run, channel);
    // People see a message a moment before we know where it is. This check is enough, because the button only opens their own queue.
    const isPressed = (post: PostedMessage | undefined): boolean =>
      post?.type === "sending" || post?.type === "unsure" || (post?.type === "up" && post.ts === ts);
    if (run?.team === team && messages.some(isPressed)) return ok(run.channel);
    return refused(deps, { refusal: { type: "unknown" }, run: null }, press, { step: "click" });
  };
}

/** Returns the run's messages in this channel that have "Review": notices of a storm, and messages that call people to a request. */
function messagesWithReview(run: Run, channel: ChannelId): readonly (PostedMessage | undefined)[] {
  const calls = callsOf(run).map(({ approval, call }) => callSlot(approval, call));
  const slots = [...stormSlots(run), ...gatheredSlots(run), ...calls].filter(
    (slot) => channelOf(run, slot) === channel,
  );
  return slots.map((slot) => run.posts[slot]);
}
