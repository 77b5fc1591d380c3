// Work that no one waits for: one pass after the other, at an interval or when it is woken; or one act for each key when it is due.

import TinyQueue from "tinyqueue";
import type { EventLog } from "../ports.ts";
import { type Alarm, type Clock, createAlarm } from "./clock.ts";
import { createQuietWarnings } from "./logging.ts";

export type BackgroundLoop = {
  /** The first pass begins after `afterMs`. */
  readonly start: (afterMs: number) => void;
  /** A pass begins within `withinMs`, or right after the one under way. The wait after a failure is not shortened. */
  readonly wake: (withinMs: number) => void;
  /** Begins no more passes. Resolves when the one under way has ended; never rejects. */
  readonly stop: () => Promise<void>;
};

export type LoopOptions = {
  /** May reject, which ends this pass and not the loop. A long pass asks `stopping` whether to end early. */
  readonly pass: (stopping: () => boolean) => Promise<void>;
  /** The wait between two passes (ms). Null: a pass follows only a `wake`. */
  readonly everyMs: number | null;
  /** The wait after a failed pass (ms), and twice as long after each further one, up to the second number. */
  readonly retryMs: readonly [first: number, longest: number];
  /** What the log says about a failed pass: as an error, once for each cause and minute. When a pass succeeds again, the log says so. */
  readonly failure: string;
};

type Deps = { readonly clock: Clock; readonly log: Pick<EventLog, "error" | "info" | "debug"> };

export function createBackgroundLoop(deps: Deps, options: LoopOptions): BackgroundLoop {
  const { clock } = deps;
  const alarm = createAlarm(clock, begin);
  const failures = createFailures(deps, options);
  let underWay: Promise<void> | null = null;
  /** When the next pass is due, if the loop was woken during a pass. */
  let wokenFor = Infinity;
  let stopped = false;

  function begin(): void {
    wokenFor = Infinity;
    underWay = passAndSetAlarm();
  }

  async function passAndSetAlarm(): Promise<void> {
    const waitMs = await onePass();
    underWay = null;
    if (!stopped) alarm.setBy(clock.monotonic() + waitMs);
  }

  /** Never rejects. Resolves to the wait before the next pass (ms). */
  async function onePass(): Promise<number> {
    try {
      await options.pass(() => stopped);
      failures.end();
      return Math.max(Math.min(options.everyMs ?? Infinity, wokenFor - clock.monotonic()), 0);
    } catch (error) {
      return failures.waitAfter(error);
    }
  }

  function wake(withinMs: number): void {
    if (stopped) return;
    const at = clock.monotonic() + withinMs;
    if (underWay !== null) wokenFor = Math.min(wokenFor, at);
    else if (!failures.goOn()) alarm.setBy(at);
  }

  async function stop(): Promise<void> {
    stopped = true;
    alarm.cancel();
    await underWay;
  }

  return { start: wake, wake, stop };
}

/** The failed passes in a row, told to the log. */
function createFailures({ clock, log }: Deps, { failure, retryMs: [first, longest] }: LoopOptions) {
  const tell = createQuietWarnings({ log: { warn: log.error, debug: log.debug }, clock });
  let count = 0;
  return {
    goOn: () => count > 0,
    waitAfter: (error: unknown): number => {
      count += 1;
      tell(error instanceof Error ? error.message : "", { error }, failure);
      return Math.min(first * 2 ** (count - 1), longest);
    },
    end: (): void => {
      if (count > 0) log.info({ failures: count, was: failure }, "background work succeeds again");
      count = 0;
    },
  };
}

type Due<Key> = { readonly at: number; readonly key: Key };

/**
 * Calls `act` for each key when it is due, at most `maxAtOnce` at the same time and never twice at the same time for one key.
 * A key is due again only after another `put`. `act` must not reject.
 */
export class DueQueue<Key> {
  readonly #clock: Clock;
  readonly #maxAtOnce: number;
  readonly #act: (key: Key) => Promise<void>;
  readonly #due = new Map<Key, number>();
  readonly #busy = new Set<Key>();
  /** May hold outdated times; `#due` has the valid one. */
  readonly #order = new TinyQueue<Due<Key>>([], (a, b) => a.at - b.at);
  readonly #alarm: Alarm;
  #stopped = false;

  constructor(clock: Clock, maxAtOnce: number, act: (key: Key) => Promise<void>) {
    this.#clock = clock;
    this.#alarm = createAlarm(clock, () => this.#pump());
    this.#maxAtOnce = maxAtOnce;
    this.#act = act;
  }

  get busy(): number {
    return this.#busy.size;
  }

  /** For how long (ms) the key that waits longest for a free place has been due. */
  get lagMs(): number {
    let first = Infinity;
    for (const [key, at] of this.#due) if (!this.#busy.has(key)) first = Math.min(first, at);
    return Math.max(this.#clock.monotonic() - first, 0);
  }

  /** Makes `key` due at `at` (monotonic), in place of any earlier time. During its own act this takes effect when the act ends. */
  put(key: Key, at: number): void {
    this.#due.set(key, at);
    if (this.#busy.has(key)) return;
    this.#order.push({ at, key });
    this.#pump();
  }

  /** Like `put`, but never makes a key due later than it is. */
  advance(key: Key, at: number): void {
    const due = this.#due.get(key);
    if (due === undefined || at < due) this.put(key, at);
  }

  stop(): void {
    this.#stopped = true;
    this.#alarm.cancel();
  }

  #pump(): void {
    if (this.#stopped) return;
    const now = this.#clock.monotonic();
    for (let next = this.#order.peek(); next !== undefined; next = this.#order.peek()) {
      const stale = this.#busy.has(next.key) || this.#due.get(next.key) !== next.at;
      if (!stale && (next.at > now || this.#busy.size >= this.#maxAtOnce)) break;
      this.#order.pop();
      if (!stale) void this.#start(next.key);
    }
    const next = this.#order.peek();
    if (next !== undefined && this.#busy.size < this.#maxAtOnce) this.#alarm.setBy(next.at);
  }

  async #start(key: Key): Promise<void> {
    this.#busy.add(key);
    this.#due.delete(key);
    await this.#act(key);
    this.#busy.delete(key);
    const at = this.#due.get(key);
    if (at !== undefined) this.#order.push({ at, key });
    this.#pump();
  }
}
