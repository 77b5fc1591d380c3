// Review on the notice of a channel in which many requests wait. The press is trusted only for who pressed, and where: it must be on a
// notice of ours. What the person may see and decide is looked up when their queue is read.

import type { ChannelId, MessageTs, RunKey, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import { ok, type Result } from "../domain/result.ts";
import { stormSlots } from "../domain/storm.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

export type StormPress = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  /** Null: the button carried no valid key. */
  readonly run: RunKey | null;
};

/** Ok: the person pressed a notice of this channel. Rejects with PortError. */
export type OpenStorm = (press: StormPress) => Promise<Result<null, RefusedAttempt>>;

export function createOpenStorm(deps: DecideDeps): OpenStorm {
  return async (press) => {
    const { team, channel, ts, run: key } = press;
    const run = key === null ? null : ((await deps.store.load(key))?.run ?? null);
    const notices = run === null ? [] : stormSlots(run).map((slot) => run.posts[slot]);
    const isHere = run?.team === team && run.channel === channel;
    // People see a notice a moment before we know where it is. It only opens their own queue, so that is near enough.
    const isPressed = (post: PostedMessage | undefined): boolean =>
      post?.type === "sending" || post?.type === "unsure" || (post?.type === "up" && post.ts === ts);
    if (isHere && notices.some(isPressed)) return ok(null);
    return refused(deps, { refusal: { type: "unknown" }, run: null }, press, { step: "click" });
  };
}
