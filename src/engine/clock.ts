/** Time, passed in: the real clock in `app.ts`, a manual one in tests. */
export type Clock = {
  /** Wall time (ms since 1970), for what people and auditors read. It can jump either way. */
  readonly now: () => number;
  /**
   * For intervals and waits (whole ms, as PostgreSQL stores them), stored ones included. Never steps, whatever happens to the wall clock. It starts at the wall time, or at
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
  /** Time goes on from here, whatever the wall clock says: replicas share the time of their database. Only before it is first read. */
  readonly beginAt: (at: number) => void;
};

export function createClock(): MachineClock {
  let start = Date.now() - performance.now();
  const monotonic = (): number => Math.floor(start + performance.now());
  return {
    now: () => Date.now(),
    monotonic,
    after: (ms, what) => {
      const timer = setTimeout(what, Math.min(ms, LONGEST_TIMER_MS));
      return () => clearTimeout(timer);
    },
    continueAfter: (stored) => void (start += Math.max(stored - monotonic(), 0)),
    beginAt: (at) => void (start = at - performance.now()),
  };
}

/** One alarm, set for the earliest of the times that it is asked for. */
export type Alarm = {
  /** Rings at `at` (monotonic) or earlier; at Infinity never. */
  setBy(at: number): void;
  cancel(): void;
};

export function createAlarm(clock: Clock, ring: () => void): Alarm {
  let next: { readonly at: number; readonly cancel: () => void } | null = null;
  const cancel = (): void => {
    next?.cancel();
    next = null;
  };
  const rings = (): void => {
    next = null;
    ring();
  };
  function setBy(at: number): void {
    if (at === Infinity || (next !== null && next.at <= at)) return;
    cancel();
    next = { at, cancel: clock.after(Math.max(at - clock.monotonic(), 0), rings) };
  }
  return { setBy, cancel };
}

/** Resolves when the work has ended, well or not, and after `ms` at the latest. */
export async function endedWithin(clock: Clock, ms: number, work: Iterable<Promise<unknown>>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await Promise.race([Promise.allSettled(work), late]);
  cancel();
}

/** One alarm per key; a new one replaces the old. */
export type Alarms = {
  set(key: string, ms: number, what: () => void): void;
  clear(key: string): void;
  /** Cancels all alarms; no new one can be set. */
  stop(): void;
};

export function createAlarms(clock: Clock): Alarms {
  const cancels = new Map<string, () => void>();
  let stopped = false;
  function clear(key: string): void {
    cancels.get(key)?.();
    cancels.delete(key);
  }
  function set(key: string, ms: number, what: () => void): void {
    clear(key);
    if (stopped) return;
    const ring = (): void => {
      cancels.delete(key);
      what();
    };
    cancels.set(key, clock.after(Math.max(ms, 0), ring));
  }
  function stop(): void {
    stopped = true;
    for (const key of cancels.keys()) clear(key);
  }
  return { set, clear, stop };
}
