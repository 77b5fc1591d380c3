// Paces calls to Slack so that Slack has no reason to answer 429. It allows about one message a second per channel and about fifty updates
// a minute in all, with bursts, and sends the most urgent calls first. After a 429, calls of that kind wait as long as Slack asks. Slack
// counts calls when they arrive, but we count them when they begin. So our windows are longer than a minute, and our numbers lower.

import { type Alarm, type Clock, createAlarm } from "../../engine/clock.ts";
import type { MessageTs } from "../../domain/ids.ts";
import type { PacedEffect } from "../../ports.ts";

export type RateLimiter = {
  /** Resolves when the call may begin. Asks `isWanted` at that moment; if it returns false, the promise resolves without using a turn. */
  waitForTurn(effect: PacedEffect, isWanted?: () => boolean): Promise<void>;
  /** Returns how many known calls are ahead of a call that joins now, and how long that call will wait (ms). */
  queueBefore(effect: PacedEffect): { readonly calls: number; readonly ms: number };
  /** Raises the call that waits for this message to this urgency. A lower urgency changes nothing. */
  raiseUrgency(effect: PacedEffect): void;
  /** Releases the update that waits for this message at once, because it does not need `chat.update`. */
  releaseUpdate(channel: PacedEffect["channel"], message: MessageTs): void;
  /** Used after a 429: no call of this kind begins for `ms`. */
  rest(kind: PacedEffect["kind"], channel: PacedEffect["channel"], ms: number): void;
  /** Returns the number of calls that wait for their turn. */
  waiting(kind: PacedEffect["kind"]): number;
  /**
   * Sets how many processes share Slack's limits for the workspace. Limits for posts are not shared: one process posts all of a channel.
   */
  share(among: number): void;
  /** Returns how many processes share the limits. */
  sharers(): number;
};

/** Slack's minute, plus the most by which the travel times of two calls may differ (ms). */
const MINUTE = 60_000 + 1_500;
/** docs.slack.dev, rate limits: chat.postMessage about 1 per second and channel, short bursts allowed. */
const POSTS: Limits = [[{ most: 4, within: 4_000 }]];
/**
 * docs.slack.dev: chat.update is Tier 3, 50 or more a minute for the whole workspace. More urgent updates may use a larger share, so that
 * buttons disappear at once even while updates of many runs are queued.
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
 * Look-ups of people. docs.slack.dev, rate limits: users.info is Tier 4, 100 or more a minute for the workspace. Only the first look-ups of
 * a burst make their own call (our choice), because a hundred calls at once take longer than the waiting people have.
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
/** users.list is Tier 2. Calls are a second apart, so that more look-ups share an answer. */
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
    const existing = pacers.get(name);
    if (existing !== undefined) return existing;
    const pacer = new Pacer(clock, LIMITS[kind]);
    if (kind !== "post") pacer.share(sharers);
    pacers.set(name, pacer);
    return pacer;
  }

  return {
    waitForTurn: (effect, isWanted) => pacerOf(effect).waitForTurn(effect.urgency, nameOf(effect), isWanted),
    queueBefore: (effect) => pacerOf(effect).queueBefore(effect.urgency),
    raiseUrgency: (effect) => {
      const name = nameOf(effect);
      const found = name === null ? null : pacerOf(effect).takeOut(name);
      if (found === null) return;
      const urgency = found.urgency <= effect.urgency ? found.urgency : effect.urgency;
      pacerOf(effect).add({ ...found, urgency });
    },
    releaseUpdate: (channel, message) =>
      pacerOf({ kind: "update", channel }).takeOut(`${channel} ${message}`)?.go(),
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
    sharers: () => sharers,
  };
}

const nameOf = ({ channel, message }: PacedEffect): string | null =>
  message === undefined ? null : `${channel} ${message}`;

// Keeps calls below a limit, the most urgent first and otherwise in order of arrival. We wrote our own because p-queue measures its sliding
// window by the wall clock: if the clock is set back by two minutes, p-queue starts no call for two minutes.

/** At most `most` calls begin in any period of `within` ms. */
export type Window = { readonly most: number; readonly within: number };
/**
 * The windows for each urgency, the most urgent first. The last entry also applies to all lower urgencies. All calls count against every
 * window, so less urgent calls need smaller limits.
 */
export type Limits = readonly [readonly Window[], ...(readonly Window[])[]];

const LIMITS: { readonly [kind in PacedEffect["kind"]]: Limits } = {
  post: POSTS,
  update: UPDATES,
  read: READS,
  sweep: SWEEPS,
  other: OTHERS,
};

/** Creates pacers whose limits several processes share. */
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
  /** When the last `#remembered` calls began (monotonic ms), oldest first. */
  #begun: number[] = [];
  #waiting: Waiting[] = [];
  #restUntil = 0;
  #sharers = 1;
  /** Ringing too early does no harm, because `#releaseDue` sets it again. */
  readonly #alarm: Alarm;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
    this.#remembered = Math.max(...limits.flat().map(({ most }) => most));
    this.#alarm = createAlarm(clock, () => this.#releaseDue());
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

  add(call: Waiting): void {
    const behind = this.#waiting.findIndex(({ urgency }) => urgency > call.urgency);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, call);
    this.#releaseDue();
  }

  queueBefore(urgency: Urgency): { readonly calls: number; readonly ms: number } {
    const now = this.#clock.monotonic();
    const before = this.#waiting.filter((call) => call.urgency <= urgency);
    const calls = before.length;
    const begins = [...this.#begun];
    for (const next of [...before.map((call) => call.urgency), urgency])
      begins.push(Math.max(now, begins.at(-1) ?? now, this.#nextAt(next, begins)));
    return { calls, ms: (begins.at(-1) ?? now) - now };
  }

  takeOut(name: string): Waiting | null {
    const at = this.#waiting.findIndex((call) => call.name === name);
    return at < 0 ? null : (this.#waiting.splice(at, 1)[0] ?? null);
  }

  /** No call begins for `ms`. If another rest is still in effect, the later end counts. */
  rest(ms: number): void {
    this.#restUntil = Math.max(this.#restUntil, this.#clock.monotonic() + ms);
    this.#alarm.setBy(this.#restUntil);
  }

  /** Sets how many processes share the limits. */
  share(among: number): void {
    this.#sharers = among;
    this.#releaseDue();
  }

  #releaseDue(): void {
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
      const allowed = Math.max(Math.floor(most / this.#sharers), 1);
      return (begun.at(-allowed) ?? -Infinity) + within;
    });
    return Math.max(this.#restUntil, ...ends);
  }
}

/** Counts a call as begun and returns true, or returns false if the call would have to wait. */
export function beginsNow(pacer: Pacer): boolean {
  if (pacer.queueBefore(0).ms > 0) return false;
  void pacer.waitForTurn(0, null);
  return true;
}
