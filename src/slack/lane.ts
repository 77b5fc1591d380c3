// Paces what goes to Slack before Slack says 429: about one message a second per channel, about fifty updates a minute in all,
// each with a burst; the most urgent first. What stays too fast all the same rests as long as Slack asks.

import PQueue from "p-queue";
import type { ChannelId } from "../core/ids.ts";
import type { Clock } from "../flow/clock.ts";
import type { PacedEffect } from "../flow/ports.ts";

export type Lane = {
  /** Resolves when the next call of this kind may go. */
  turn(effect: PacedEffect): Promise<void>;
  /** Slack said 429: nothing of this kind goes for `ms`. */
  rest(kind: PacedEffect["kind"], channel: ChannelId, ms: number): void;
};

/** docs.slack.dev, rate limits: chat.postMessage about 1 per second and channel, short bursts allowed. */
const POSTS = { intervalCap: 4, interval: 4_000 };
/** docs.slack.dev: chat.update is Tier 3, 50 and more a minute for the whole workspace. */
const UPDATES = { intervalCap: 12, interval: 14_400 };
/** conversations.history and .replies are Tier 3 as well. */
const READS = { intervalCap: 10, interval: 12_000 };
/** files.* and chat.postEphemeral are Tier 4, 100 and more a minute. */
const OTHERS = { intervalCap: 20, interval: 12_000 };

export function createLane(clock: Clock): Lane {
  const lanes = new Map<string, PQueue>();
  const rests = new Map<PQueue, number>();

  function lane(kind: PacedEffect["kind"], channel: ChannelId): PQueue {
    const name = kind === "post" ? `post ${channel}` : kind;
    const limits = { post: POSTS, update: UPDATES, read: READS, other: OTHERS }[kind];
    const existing = lanes.get(name);
    if (existing !== undefined) return existing;
    // A sliding window: two bursts can't meet at the border of two intervals.
    const created = new PQueue({ ...limits, strict: true });
    lanes.set(name, created);
    return created;
  }

  return {
    turn: async ({ kind, channel, urgency }) => {
      await lane(kind, channel).add(() => undefined, { priority: -urgency });
    },
    rest: (kind, channel, ms) => {
      const queue = lane(kind, channel);
      const until = Math.max(rests.get(queue) ?? 0, clock.now() + ms);
      rests.set(queue, until);
      queue.pause();
      clock.after(ms, () => {
        if (clock.now() >= (rests.get(queue) ?? 0)) queue.start();
      });
    },
  };
}
