// Paces what goes to Slack before Slack says 429: about one message a second per channel, about fifty updates a minute in all,
// each with a burst; the most urgent first. What stays too fast all the same rests as long as Slack asks.

import PQueue from "p-queue";
import type { Clock } from "../flow/clock.ts";
import type { PacedEffect } from "../flow/ports.ts";

export type Lane = {
  /** Resolves when the next call of this kind may go. */
  turn(effect: PacedEffect): Promise<void>;
  /** Slack said 429: nothing of this kind goes for `ms`. */
  rest(kind: PacedEffect["kind"], channel: PacedEffect["channel"], ms: number): void;
};

/** docs.slack.dev, rate limits: chat.postMessage about 1 per second and channel, short bursts allowed. */
const POSTS = { intervalCap: 4, interval: 4_000 };
/**
 * docs.slack.dev: chat.update is Tier 3, 50 and more a minute for the whole workspace. Cards have a share of their own: buttons
 * go off while the states of many runs still wait to be drawn.
 */
const CARD_UPDATES = { intervalCap: 6, interval: 14_400 };
const OTHER_UPDATES = { intervalCap: 10, interval: 24_000 };
/** conversations.history and .replies are Tier 3 as well. */
const READS = { intervalCap: 10, interval: 12_000 };
/** files.* and chat.postEphemeral are Tier 4, 100 and more a minute. */
const OTHERS = { intervalCap: 20, interval: 12_000 };

type Limits = { readonly intervalCap: number; readonly interval: number };

export function createLane(clock: Clock): Lane {
  const lanes = new Map<string, PQueue>();
  const rests = new Map<PQueue, number>();

  function lane(name: string, limits: Limits): PQueue {
    const existing = lanes.get(name);
    if (existing !== undefined) return existing;
    // A sliding window: two bursts can't meet at the border of two intervals.
    const created = new PQueue({ ...limits, strict: true });
    lanes.set(name, created);
    return created;
  }

  function rest(queue: PQueue, ms: number): void {
    rests.set(queue, Math.max(rests.get(queue) ?? 0, clock.now() + ms));
    queue.pause();
    clock.after(ms, () => goOn(queue));
  }

  /** A timer may ring a moment before its time, and another rest may have been longer: then it waits for what is left. */
  function goOn(queue: PQueue): void {
    const left = (rests.get(queue) ?? 0) - clock.now();
    if (left <= 0) queue.start();
    else clock.after(left, () => goOn(queue));
  }

  return {
    turn: async ({ kind, channel, urgency }) => {
      const [card, other] = namesOf(kind, channel);
      const [name, limits] = urgency === 0 ? card : (other ?? card);
      await lane(name, limits).add(() => undefined, { priority: -urgency });
    },
    rest: (kind, channel, ms) => {
      for (const [name, limits] of namesOf(kind, channel)) rest(lane(name, limits), ms);
    },
  };
}

type Named = readonly [name: string, limits: Limits];

/** The lanes of a kind of call: the first is for cards, or for all. */
function namesOf(kind: PacedEffect["kind"], channel: PacedEffect["channel"]): readonly [Named, ...Named[]] {
  switch (kind) {
    case "post":
      return [[`post ${channel}`, POSTS]];
    case "update":
      return [
        ["update cards", CARD_UPDATES],
        ["update others", OTHER_UPDATES],
      ];
    case "read":
      return [["read", READS]];
    case "other":
      return [["other", OTHERS]];
  }
}
