// Paces what goes to Slack before Slack says 429: about one message a second per channel, about fifty updates a minute in all,
// each with a burst; the most urgent first. What stays too fast all the same rests as long as Slack asks.

import type { Clock } from "../flow/clock.ts";
import type { PacedEffect } from "../flow/ports.ts";
import { type Limits, Pacer } from "./pacer.ts";

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
/** conversations.history and .replies are Tier 3 as well: 50 a minute, of which cards are looked for with fifteen. */
const READS = { intervalCap: 7, interval: 12_000 };
const SWEEPS = { intervalCap: 3, interval: 12_000 };
/** files.* and chat.postEphemeral are Tier 4, 100 and more a minute. */
const OTHERS = { intervalCap: 20, interval: 12_000 };

export function createLane(clock: Clock): Lane {
  const pacers = new Map<string, Pacer>();

  function pacer([name, limits]: Named): Pacer {
    const known = pacers.get(name) ?? new Pacer(clock, limits);
    pacers.set(name, known);
    return known;
  }

  return {
    turn: ({ kind, channel, urgency }) => {
      const [card, other] = namesOf(kind, channel);
      return pacer(urgency === 0 ? card : (other ?? card)).turn(urgency);
    },
    rest: (kind, channel, ms) => {
      for (const named of namesOf(kind, channel)) pacer(named).rest(ms);
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
    case "sweep":
      return [["sweep", SWEEPS]];
    case "other":
      return [["other", OTHERS]];
  }
}
