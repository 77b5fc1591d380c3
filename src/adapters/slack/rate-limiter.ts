// Paces calls to Slack so that Slack has no reason to answer 429: about one message a second per channel and about fifty updates a
// minute in all, each with a burst, the most urgent first. After a 429 the calls of that kind wait as long as Slack asks.

import { type Alarm, type Clock, createAlarm } from "../../engine/clock.ts";
import type { MessageTs } from "../../domain/ids.ts";
import type { PacedEffect } from "../../ports.ts";

export type RateLimiter = {
  /** Resolves when the next call of this kind may go. */
  waitForTurn(effect: PacedEffect): Promise<void>;
  /** The call that waits for this message goes as if it had come with this urgency. A lower urgency changes nothing. */
  hasten(effect: PacedEffect): void;
  /** The update that waits for this message goes now: it needs no `chat.update`. */
  excuse(channel: PacedEffect["channel"], message: MessageTs): void;
  /** For a 429: no call of this kind begins for `ms`. */
  rest(kind: PacedEffect["kind"], channel: PacedEffect["channel"], ms: number): void;
};

/** docs.slack.dev, rate limits: chat.postMessage about 1 per second and channel, short bursts allowed. */
const POSTS = { intervalCap: 4, interval: 4_000 };
/**
 * docs.slack.dev: chat.update is Tier 3, 50 or more a minute for the whole workspace. Cards have a share of their own, so that
 * buttons disappear in time while updates of many runs are still queued.
 */
const CARD_UPDATES = { intervalCap: 6, interval: 14_400 };
const OTHER_UPDATES = { intervalCap: 10, interval: 24_000, kept: 4 };
/** conversations.history and .replies are Tier 3 as well: 50 a minute. The search for deleted cards gets fifteen of them. */
const READS = { intervalCap: 7, interval: 12_000 };
const SWEEPS = { intervalCap: 3, interval: 12_000 };
/** files.* and chat.postEphemeral are Tier 4, 100 or more a minute. */
const OTHERS = { intervalCap: 20, interval: 12_000 };

export function createRateLimiter(clock: Clock): RateLimiter {
  const pacers = new Map<string, Pacer>();

  function pacer([name, limits]: Named): Pacer {
    const known = pacers.get(name) ?? new Pacer(clock, limits);
    pacers.set(name, known);
    return known;
  }

  function pacerOf({ kind, channel, urgency }: PacedEffect): Pacer {
    const [card, other] = pacersOf(kind, channel);
    return pacer(urgency === 0 ? card : (other ?? card));
  }

  function takeOut(kind: PacedEffect["kind"], channel: PacedEffect["channel"], name: string): Waiting | null {
    for (const named of pacersOf(kind, channel)) {
      const found = pacer(named).takeOut(name);
      if (found !== null) return found;
    }
    return null;
  }

  return {
    waitForTurn: (effect) => pacerOf(effect).waitForTurn(effect.urgency, nameOf(effect)),
    hasten: (effect) => {
      const name = nameOf(effect);
      const found = name === null ? null : takeOut(effect.kind, effect.channel, name);
      if (found === null) return;
      const urgency = found.urgency <= effect.urgency ? found.urgency : effect.urgency;
      pacerOf({ ...effect, urgency }).add({ ...found, urgency });
    },
    excuse: (channel, message) => takeOut("update", channel, `${channel} ${message}`)?.go(),
    rest: (kind, channel, ms) => {
      for (const named of pacersOf(kind, channel)) pacer(named).rest(ms);
    },
  };
}

const nameOf = ({ channel, message }: PacedEffect): string | null =>
  message === undefined ? null : `${channel} ${message}`;

type Named = readonly [name: string, limits: Limits];

/** The pacers of a kind of call. If there are two, the first is for the most urgent calls: cards. */
function pacersOf(kind: PacedEffect["kind"], channel: PacedEffect["channel"]): readonly [Named, ...Named[]] {
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

// Keeps calls below a limit: the most urgent first, otherwise in order of arrival. We wrote our own because p-queue measures its
// sliding window by the wall clock: when that is set back by two minutes, p-queue starts no call for two minutes.

/** At most `intervalCap` calls begin in any window of `interval` ms, wherever the window starts. */
export type Limits = {
  readonly intervalCap: number;
  readonly interval: number;
  /** Of `intervalCap`: so many are not for calls of the lowest urgency. */
  readonly kept?: number;
};

const LOWEST = 3;
type Urgency = PacedEffect["urgency"];
type Waiting = { readonly urgency: Urgency; readonly name: string | null; readonly go: () => void };

export class Pacer {
  readonly #clock: Clock;
  readonly #limits: Limits;
  /** When the last `intervalCap` calls began (monotonic), the oldest first. */
  #begun: number[] = [];
  #waiting: Waiting[] = [];
  #restUntil = 0;
  /** Going off too early does no harm: `#letGo` sets it again. */
  readonly #alarm: Alarm;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#alarm = createAlarm(clock, () => this.#letGo());
  }

  /** Resolves when the call may begin. An urgency of 0 is the highest. */
  waitForTurn(urgency: Urgency, name: string | null): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    this.add({ urgency, name, go });
    return promise;
  }

  add(one: Waiting): void {
    const behind = this.#waiting.findIndex((each) => each.urgency > one.urgency);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, one);
    this.#letGo();
  }

  takeOut(name: string): Waiting | null {
    const at = this.#waiting.findIndex((each) => each.name === name);
    return at < 0 ? null : (this.#waiting.splice(at, 1)[0] ?? null);
  }

  /** No call begins for `ms`. If another rest is still running, the one that ends later counts. */
  rest(ms: number): void {
    this.#restUntil = Math.max(this.#restUntil, this.#clock.monotonic() + ms);
    this.#alarm.setBy(this.#restUntil);
  }

  #letGo(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const now = this.#clock.monotonic();
      const at = this.#nextAt(next.urgency);
      if (at > now) return this.#alarm.setBy(at);
      this.#waiting.shift();
      this.#begun = [...this.#begun, now].slice(-this.#limits.intervalCap);
      next.go();
    }
  }

  #nextAt(urgency: Urgency): number {
    const { intervalCap, interval, kept = 0 } = this.#limits;
    const oldest = this.#begun.at(-(urgency === LOWEST ? intervalCap - kept : intervalCap));
    return Math.max(this.#restUntil, oldest === undefined ? 0 : oldest + interval);
  }
}
