// Paces calls to Slack so that Slack has no reason to answer 429: about one message a second per channel and about fifty updates a
// minute in all, each with a burst, the most urgent first. After a 429 the calls of that kind wait as long as Slack asks.
// Slack counts what arrives, we count what begins, so the windows here are longer than a minute, and stay below its numbers.

import { type Alarm, type Clock, createAlarm } from "../../engine/clock.ts";
import type { MessageTs } from "../../domain/ids.ts";
import type { PacedEffect } from "../../ports.ts";

export type RateLimiter = {
  /** Resolves when the next call of this kind may go. `isWanted` is asked then; if not, this resolves too, and uses up no turn. */
  waitForTurn(effect: PacedEffect, isWanted?: () => boolean): Promise<void>;
  /** The calls that go before one that joins now, as far as they are known, and how long it waits for its turn (ms). */
  queueBefore(effect: PacedEffect): { readonly calls: number; readonly ms: number };
  /** The call that waits for this message goes as if it had come with this urgency. A lower urgency changes nothing. */
  hasten(effect: PacedEffect): void;
  /** The update that waits for this message goes now: it needs no `chat.update`. */
  excuse(channel: PacedEffect["channel"], message: MessageTs): void;
  /** For a 429: no call of this kind begins for `ms`. */
  rest(kind: PacedEffect["kind"], channel: PacedEffect["channel"], ms: number): void;
  /** How many calls wait for their turn. */
  waiting(kind: PacedEffect["kind"]): number;
  /** So many processes share what Slack allows the workspace. A channel's messages all come from one of them. */
  share(among: number): void;
};

/** Slack counts by the minute. A call may be on its way for so much longer than another one (ms). */
const MINUTE = 60_000 + 1_500;
/** docs.slack.dev, rate limits: chat.postMessage about 1 per second and channel, short bursts allowed. */
const POSTS: Limits = [[{ most: 4, within: 4_000 }]];
/**
 * docs.slack.dev: chat.update is Tier 3, 50 or more a minute for the whole workspace. What is more urgent may use a larger part, so that
 * buttons go off at once while updates of many runs are still queued.
 */
const UPDATES: Limits = [
  [{ most: 46, within: MINUTE }],
  [{ most: 34, within: MINUTE }],
  [
    { most: 24, within: MINUTE },
    { most: 10, within: 20_000 },
  ],
  [
    { most: 18, within: MINUTE },
    { most: 6, within: 20_000 },
  ],
];
/** conversations.history and .replies are Tier 3 as well: 50 a minute. The search for deleted cards gets fifteen of them. */
const READS: Limits = [
  [
    { most: 30, within: MINUTE },
    { most: 7, within: 12_000 },
  ],
];
const SWEEPS: Limits = [
  [
    { most: 15, within: MINUTE },
    { most: 3, within: 12_000 },
  ],
];
/** files.* and chat.postEphemeral are Tier 4, 100 or more a minute. */
const OTHERS: Limits = [
  [
    { most: 90, within: MINUTE },
    { most: 20, within: 12_000 },
  ],
];

/**
 * The look-ups of people. docs.slack.dev, rate limits: users.info is Tier 4, 100 or more a minute for the workspace. Of a burst the first
 * ones ask by themselves (our choice): a hundred calls at once take longer than the people who wait for them have.
 */
export const SINGLE_PEOPLE: Limits = [
  [
    { most: 90, within: MINUTE },
    { most: 20, within: 2_000 },
  ],
];
/** users.conversations is Tier 3, 50 or more a minute. */
export const CHANNELS_OF_PEOPLE: Limits = [[{ most: 42, within: MINUTE }]];
/** conversations.info is Tier 3. */
export const CHANNELS: Limits = [[{ most: 42, within: MINUTE }]];
/** conversations.members is Tier 4, 100 or more a minute. */
export const MEMBERS_OF_CHANNELS: Limits = [[{ most: 90, within: MINUTE }]];
/** usergroups.users.list is Tier 2, 20 or more a minute. */
export const GROUPS: Limits = [[{ most: 18, within: MINUTE }]];
/** users.list is Tier 2. A second apart, so that more people share an answer. */
export const LISTS_OF_PEOPLE: Limits = [
  [
    { most: 17, within: MINUTE },
    { most: 1, within: 1_000 },
  ],
];

export function createRateLimiter(clock: Clock): RateLimiter {
  const pacers = new Map<string, Pacer>();
  let sharers = 1;

  function pacerOf({ kind, channel }: Pick<PacedEffect, "kind" | "channel">): Pacer {
    const name = kind === "post" ? `post ${channel}` : kind;
    const known = pacers.get(name);
    if (known !== undefined) return known;
    const pacer = new Pacer(clock, LIMITS[kind]);
    if (kind !== "post") pacer.share(sharers);
    pacers.set(name, pacer);
    return pacer;
  }

  return {
    waitForTurn: (effect, isWanted) => pacerOf(effect).waitForTurn(effect.urgency, nameOf(effect), isWanted),
    queueBefore: (effect) => pacerOf(effect).queueBefore(effect.urgency),
    hasten: (effect) => {
      const name = nameOf(effect);
      const found = name === null ? null : pacerOf(effect).takeOut(name);
      if (found === null) return;
      const urgency = found.urgency <= effect.urgency ? found.urgency : effect.urgency;
      pacerOf(effect).add({ ...found, urgency });
    },
    excuse: (channel, message) => pacerOf({ kind: "update", channel }).takeOut(`${channel} ${message}`)?.go(),
    rest: (kind, channel, ms) => pacerOf({ kind, channel }).rest(ms),
    waiting: (kind) =>
      [...pacers].reduce(
        (sum, [name, pacer]) => sum + (name.split(" ", 1)[0] === kind ? pacer.waiting : 0),
        0,
      ),
    share: (among) => {
      if (among === sharers) return;
      sharers = among;
      for (const [name, pacer] of pacers) if (!name.startsWith("post ")) pacer.share(among);
    },
  };
}

const nameOf = ({ channel, message }: PacedEffect): string | null =>
  message === undefined ? null : `${channel} ${message}`;

// Keeps calls below a limit: the most urgent first, otherwise in order of arrival. We wrote our own because p-queue measures its
// sliding window by the wall clock: when that is set back by two minutes, p-queue starts no call for two minutes.

/** At most `most` calls begin in any window of `within` ms, wherever the window starts. */
export type Window = { readonly most: number; readonly within: number };
/**
 * By urgency, the most urgent first; the last entry is also for all that are less urgent. A less urgent call counts all calls, so it must
 * have the smaller windows.
 */
export type Limits = readonly [readonly Window[], ...(readonly Window[])[]];

const LIMITS: { readonly [kind in PacedEffect["kind"]]: Limits } = {
  post: POSTS,
  update: UPDATES,
  read: READS,
  sweep: SWEEPS,
  other: OTHERS,
};

/** Makes pacers whose limits several processes share. */
export type Pacers = { readonly make: (limits: Limits) => Pacer; readonly share: (among: number) => void };

export function createPacers(clock: Clock): Pacers {
  const made: Pacer[] = [];
  return {
    make(limits) {
      const pacer = new Pacer(clock, limits);
      made.push(pacer);
      return pacer;
    },
    share: (among) => made.forEach((pacer) => pacer.share(among)),
  };
}

type Urgency = PacedEffect["urgency"];
type Waiting = {
  readonly urgency: Urgency;
  readonly name: string | null;
  readonly isWanted: () => boolean;
  readonly go: () => void;
};

export class Pacer {
  readonly #clock: Clock;
  readonly #limits: Limits;
  readonly #remembered: number;
  /** When the last `#remembered` calls began (monotonic), the oldest first. */
  #begun: number[] = [];
  #waiting: Waiting[] = [];
  #restUntil = 0;
  #sharers = 1;
  /** Going off too early does no harm: `#letGo` sets it again. */
  readonly #alarm: Alarm;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#remembered = Math.max(...limits.flat().map(({ most }) => most));
    this.#alarm = createAlarm(clock, () => this.#letGo());
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Resolves when the call may begin. An urgency of 0 is the highest. */
  waitForTurn(urgency: Urgency, name: string | null, isWanted = (): boolean => true): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    this.add({ urgency, name, isWanted, go });
    return promise;
  }

  add(one: Waiting): void {
    const behind = this.#waiting.findIndex((each) => each.urgency > one.urgency);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, one);
    this.#letGo();
  }

  queueBefore(urgency: Urgency): { readonly calls: number; readonly ms: number } {
    const now = this.#clock.monotonic();
    const before = this.#waiting.filter((each) => each.urgency <= urgency);
    const calls = before.length;
    const begins = [...this.#begun];
    for (const each of [...before.map((waiting) => waiting.urgency), urgency])
      begins.push(Math.max(now, begins.at(-1) ?? now, this.#nextAt(each, begins)));
    return { calls, ms: (begins.at(-1) ?? now) - now };
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

  /** So many processes share the limits. */
  share(among: number): void {
    this.#sharers = among;
    this.#letGo();
  }

  #letGo(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const now = this.#clock.monotonic();
      const isWanted = next.isWanted();
      const at = isWanted ? this.#nextAt(next.urgency) : now;
      if (at > now) return this.#alarm.setBy(at);
      this.#waiting.shift();
      if (isWanted) this.#begun = [...this.#begun, now].slice(-this.#remembered);
      next.go();
    }
  }

  #nextAt(urgency: Urgency, begun: readonly number[] = this.#begun): number {
    const windows = this.#limits[Math.min(urgency, this.#limits.length - 1)] ?? this.#limits[0];
    const ends = windows.map(({ most, within }) => {
      const own = Math.max(Math.floor(most / this.#sharers), 1);
      return (begun.at(-own) ?? -Infinity) + within;
    });
    return Math.max(this.#restUntil, ...ends);
  }
}

/** False: the next call of this kind would have to wait. True: it counts as begun. */
export function beginsNow(pacer: Pacer): boolean {
  if (pacer.queueBefore(0).ms > 0) return false;
  void pacer.waitForTurn(0, null);
  return true;
}
