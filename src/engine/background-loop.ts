// Work that no one waits for: one pass after the other, at an interval or when it is woken.

import type { EventLog } from "../ports.ts";
import { type Clock, createAlarm } from "./clock.ts";
import { createQuietWarnings } from "./quiet-log.ts";

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

export function createBackgroundLoop({ clock, log }: Deps, options: LoopOptions): BackgroundLoop {
  const { everyMs, failure } = options;
  const alarm = createAlarm(clock, begin);
  const tellFailure = createQuietWarnings({ log: { warn: log.error, debug: log.debug }, clock });
  let underWay: Promise<void> | null = null;
  let failures = 0;
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
      if (failures > 0) log.info({ failures, was: failure }, "background work succeeds again");
      failures = 0;
      return Math.max(Math.min(everyMs ?? Infinity, wokenFor - clock.monotonic()), 0);
    } catch (error) {
      failures += 1;
      tellFailure(error instanceof Error ? error.message : "", { error }, failure);
      return retryAfter(failures, options.retryMs);
    }
  }

  function wake(withinMs: number): void {
    if (stopped) return;
    const at = clock.monotonic() + withinMs;
    if (underWay !== null) wokenFor = Math.min(wokenFor, at);
    else if (failures === 0) alarm.setBy(at);
  }

  async function stop(): Promise<void> {
    stopped = true;
    alarm.cancel();
    await underWay;
  }

  return { start: wake, wake, stop };
}

function retryAfter(failures: number, [first, longest]: LoopOptions["retryMs"]): number {
  return Math.min(first * 2 ** (failures - 1), longest);
}
