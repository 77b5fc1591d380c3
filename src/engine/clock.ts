/** Time, passed in: the real clock in `app.ts`, a manual one in tests. */
export type Clock = {
  /** Wall time (ms since 1970), for what people and auditors read. It can jump either way. */
  readonly now: () => number;
  /**
   * For intervals and waits (ms), stored ones included. Never steps, whatever happens to the wall clock. It starts at the wall time, or at
   * the newest monotonic time in the store where that is later, so a stored wait never exceeds its own bound.
   */
  readonly monotonic: () => number;
  /** Calls `what` once after `ms`; the function returned cancels it. */
  after(ms: number, what: () => void): () => void;
};

/** The maximum of setTimeout (ms). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type MachineClock = Clock & {
  /** The newest monotonic time that an earlier process stored; time continues from there. */
  readonly continueAfter: (stored: number) => void;
};

export function createClock(): MachineClock {
  let start = Date.now() - performance.now();
  const monotonic = (): number => start + performance.now();
  return {
    now: () => Date.now(),
    monotonic,
    after: (ms, what) => {
      const timer = setTimeout(what, Math.min(ms, LONGEST_TIMER_MS));
      return () => clearTimeout(timer);
    },
    continueAfter: (stored) => void (start += Math.max(stored - monotonic(), 0)),
  };
}
