// Draws each Home tab as early as the budget allows. Changes until then are included in the same drawing.

import type { UserId } from "../../domain/ids.ts";
import { type Clock, createAlarms } from "../../engine/clock.ts";

/** A tab is drawn again at most this often (ms). */
const EACH_MS = 3_000;
/**
 * The interval between the drawings of all tabs by all processes (ms): 30 a minute, of the 100 calls of views.publish that Slack allows.
 */
const ALL_MS = 2_000;

/** "routine": it is not known whether anything on the tab has changed. */
export type Why = "news" | "routine";
/** A routine drawing that has waited this much longer than news goes first (ms), so that it does not wait forever. */
const HEAD_START_MS = 20_000;

export type HomePacer = {
  /** Draws the tab, which was last drawn at `drawnAt` (monotonic ms). May be called again before it is drawn. */
  draw(user: UserId, drawnAt: number, why: Why): void;
  stop(): void;
  stopped(): boolean;
};

type Deps = {
  readonly clock: Clock;
  /** Returns how many processes share the budget. */
  readonly sharers: () => number;
};

type Waiting = { readonly notBefore: number; readonly why: Why };

const rank = ({ notBefore, why }: Waiting): number =>
  why === "news" ? notBefore - HEAD_START_MS : notBefore;

export function createHomePacer({ clock, sharers }: Deps, draw: (user: UserId) => void): HomePacer {
  const waiting = new Map<UserId, Waiting>();
  const alarms = createAlarms(clock);
  let nextAt = 0;
  let isStopped = false;

  function schedule(): void {
    const earliest = Math.min(...[...waiting.values()].map(({ notBefore }) => notBefore));
    if (waiting.size > 0) alarms.set("next", Math.max(earliest, nextAt) - clock.monotonic(), drawNext);
  }

  function drawNext(): void {
    const now = clock.monotonic();
    const due = [...waiting].filter(([, { notBefore }]) => notBefore <= now);
    const [next] = due.toSorted(([, a], [, b]) => rank(a) - rank(b));
    if (next !== undefined) {
      waiting.delete(next[0]);
      nextAt = now + ALL_MS * sharers();
      draw(next[0]);
    }
    schedule();
  }

  return {
    draw(user, drawnAt, why) {
      const before = waiting.get(user);
      const notBefore = before?.notBefore ?? Math.max(clock.monotonic(), drawnAt + EACH_MS);
      waiting.set(user, { notBefore, why: before?.why === "news" ? "news" : why });
      schedule();
    },
    stop() {
      isStopped = true;
      alarms.stop();
    },
    stopped: () => isStopped,
  };
}
