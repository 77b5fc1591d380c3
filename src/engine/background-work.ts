// Work in the background: loops of passes, work that is done when it is asked for, delayed work for each key, and a queue that acts on each
// key when it is due.

import TinyQueue from "tinyqueue";
import type { EventLog } from "../ports.ts";
import { type Alarm, type Clock, createAlarm, createAlarms, endedWithin } from "./clock.ts";
import { createQuietErrors } from "./logging.ts";

export type DueWork = {
  readonly ask: () => void;
  /** Does the work if it is due. If it fails, or is asked for meanwhile, it is due again. Rejects as `work` does. */
  readonly doIfDue: (work: () => Promise<void>) => Promise<void>;
};

export function createDueWork(): DueWork {
  let isDue = false;
  return {
    ask: () => void (isDue = true),
    async doIfDue(work) {
      if (!isDue) return;
      isDue = false;
      try {
        await work();
      } catch (error) {
        isDue = true;
        throw error;
      }
    },
  };
}

export type BackgroundLoop = {
  /** The first pass begins after `afterMs`. */
  readonly start: (afterMs: number) => void;
  /** Makes a pass begin within `withinMs`, or right after the pass in progress. Does not shorten the wait after a failure. */
  readonly wake: (withinMs: number) => void;
  /** Begins no more passes. Resolves when the pass in progress has ended. Never rejects. */
  readonly stop: () => Promise<void>;
};

export type LoopOptions = {
  /** A rejection ends this pass, but not the loop. A long pass should end early once `isStopping` returns true. */
  readonly pass: (isStopping: () => boolean) => Promise<void>;
  /** The wait between two passes (ms). Null if a pass begins only after a `wake`. */
  readonly everyMs: number | null;
  /** The wait after a failed pass (ms). It doubles with each further failure, up to the second number. */
  readonly retryMs: readonly [first: number, longest: number];
  /** The message that is logged for a failed pass, as an error, once for each cause and minute. A later success is logged as well. */
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
    else if (!failures.areOngoing()) alarm.setBy(at);
  }

  async function stop(): Promise<void> {
    stopped = true;
    alarm.cancel();
    await underWay;
  }

  return { start: wake, wake, stop };
}

/** Counts and logs the failed passes in a row. */
function createFailures({ clock, log }: Deps, { failure, retryMs: [first, longest] }: LoopOptions) {
  const logQuietly = createQuietErrors({ log, clock });
  let count = 0;
  return {
    areOngoing: () => count > 0,
    waitAfter: (error: unknown): number => {
      count += 1;
      logQuietly(error instanceof Error ? error.message : "", { error }, failure);
      return Math.min(first * 2 ** (count - 1), longest);
    },
    end: (): void => {
      if (count > 0) log.info({ failures: count, was: failure }, "background work succeeds again");
      count = 0;
    },
  };
}

export type DelayedWork = {
  /** Runs the work after `afterMs`, in place of any work that still waits for this key. */
  run(key: string, afterMs: number, work: () => Promise<void>): void;
  readonly cancel: (key: string) => void;
  /** Starts no more work and waits at most `ms` for work in progress. */
  stop(ms: number): Promise<void>;
};

/** Work for each key, at a later time. */
export function createDelayedWork(clock: Clock): DelayedWork {
  const alarms = createAlarms(clock);
  const underWay = new Set<Promise<void>>();
  return {
    run: (key, afterMs, work) => alarms.set(key, afterMs, () => track(underWay, work())),
    cancel: (key) => alarms.clear(key),
    async stop(ms) {
      alarms.stop();
      await endedWithin(clock, ms, underWay);
    },
  };
}

/** Keeps the work in the set until it has ended. */
function track(set: Set<Promise<void>>, work: Promise<void>): void {
  const tracked = work.finally(() => set.delete(tracked));
  set.add(tracked);
}

type Due<Key> = { readonly at: number; readonly key: Key };

/**
 * Calls `act` for each key when the key is due. At most `maxAtOnce` calls run at the same time, and never two for the same key. A key is
 * due again only after another `put`. `act` must not reject.
 */
export class DueQueue<Key> {
  readonly #clock: Clock;
  readonly #maxAtOnce: number;
  readonly #act: (key: Key) => Promise<void>;
  readonly #due = new Map<Key, number>();
  readonly #busy = new Set<Key>();
  /** May contain outdated times. `#due` has the valid time of each key. */
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

  /** How long the most overdue key has been waiting for a free slot (ms). */
  get lagMs(): number {
    let first = Infinity;
    for (const [key, at] of this.#due) if (!this.#busy.has(key)) first = Math.min(first, at);
    return Math.max(this.#clock.monotonic() - first, 0);
  }

  /** Makes `key` due at `at` (monotonic ms), in place of any earlier time. While `act` runs for the key, this takes effect when it ends. */
  put(key: Key, at: number): void {
    this.#due.set(key, at);
    if (this.#busy.has(key)) return;
    this.#order.push({ at, key });
    this.#pump();
  }

  /** Like `put`, but never postpones a key. */
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
