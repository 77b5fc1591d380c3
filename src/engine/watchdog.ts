// Detects work that never ends. Whatever fails, every turn of the watching ends within known limits. If a turn does not, or if timers no
// longer fire, only a restart helps.

import type { Clock } from "./clock.ts";

/**
 * The time limit of one turn of the watching (ms). The longest turn is one call to the service (10 s) and the storing of its answer. That
 * takes four transactions, each up to 25 s if a database server accepts connections and never answers (8 s to connect, 12 s for an answer,
 * 5 s for the rollback).
 */
export const STUCK_AFTER_MS = 10_000 + 4 * 25_000 + 10_000;

/** The interval of the timer that shows that timers still fire (ms). */
const BEAT_MS = 5_000;

export type Turn = {
  /** Reports progress, so that the time limit starts again. */
  readonly progress: () => void;
  readonly end: () => void;
};

export type Watchdog = {
  /** Begins a turn. */
  begin(): Turn;
  /** Returns how long no timer has fired, or the slowest turn in progress has made no progress, whichever is longer (ms). */
  stuckMs(): number;
  start(): void;
  stop(): void;
};

/** Runs the work as a turn. Rejects as the work does. */
export async function inTurn<Answer>(
  watchdog: Pick<Watchdog, "begin">,
  work: (turn: Turn) => Promise<Answer>,
): Promise<Answer> {
  const turn = watchdog.begin();
  try {
    return await work(turn);
  } finally {
    turn.end();
  }
}

export function createWatchdog(clock: Clock): Watchdog {
  /** The turns in progress and their last progress (monotonic ms), oldest first. */
  const underWay = new Map<object, number>();
  let beatAt: number | null = null;
  let cancel = (): void => undefined;

  function begin(): Turn {
    const turn = {};
    const progress = (): void => {
      underWay.delete(turn);
      underWay.set(turn, clock.monotonic());
    };
    progress();
    return { progress, end: () => void underWay.delete(turn) };
  }

  function beat(): void {
    beatAt = clock.monotonic();
    cancel = clock.after(BEAT_MS, beat);
  }

  function stuckMs(): number {
    const [oldest = Infinity] = underWay.values();
    const since = Math.min(oldest, (beatAt ?? Infinity) + BEAT_MS);
    return Math.max(clock.monotonic() - since, 0);
  }

  function stop(): void {
    cancel();
    beatAt = null;
    underWay.clear();
  }
  return { begin, stuckMs, start: beat, stop };
}
