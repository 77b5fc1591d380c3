// Notices work that never ends. Every part of the watching ends within known limits, whatever fails; if one does not, or no timer rings
// any more, only a restart helps.

import type { Clock } from "./clock.ts";

/**
 * So long may one turn of the watching take (ms). The longest turn is one call to the service (10 s) and the writing down of its
 * answer: four transactions, on a server that takes connections and never answers (8 s to connect, 12 s for an answer, 5 s for the
 * rollback each).
 */
export const STUCK_AFTER_MS = 10_000 + 4 * 25_000 + 10_000;

/** How often a timer shows that timers ring (ms). */
const BEAT_MS = 5_000;

export type Turn = {
  /** One more piece of it is done. */
  readonly progress: () => void;
  readonly end: () => void;
};

export type Watchdog = {
  /** A turn begins. */
  begin(): Turn;
  /** For how long (ms) the turn under way that is the slowest has made no progress, or no timer has rung. */
  stuckMs(): number;
  start(): void;
  stop(): void;
};

/** Does the work as a turn. Rejects as the work does. */
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
  /** In the order of their last progress. */
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
