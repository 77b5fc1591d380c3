/** The time. `app.ts` passes in the real clock, and tests pass in a manual one. */
export type Clock = {
  /** Returns the wall time (ms since 1970), for texts that people and auditors read. It can jump in either direction. */
  readonly now: () => number;
  /**
   * Returns the time for intervals and waits, including stored ones (whole ms, as PostgreSQL stores them). It never goes back, whatever
   * happens to the wall clock. A single process starts at the wall time, or at the newest monotonic time in the store if that is later. A
   * replica starts at the database's time, or at the newest stored time if that is later. So a stored wait never takes longer than intended.
   * It stands still while the machine is suspended; with replicas, it then catches up (missed-time.ts).
   */
  readonly monotonic: () => number;
  /** Calls `what` once after `ms`. The returned function cancels the call. */
  after(ms: number, what: () => void): () => void;
};

/** The maximum of setTimeout (ms). */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type MachineClock = Clock & {
  /** Sets the monotonic time forward to `at`. Does nothing if it is already later. */
  readonly continueAfter: (at: number) => void;
  /** Sets the monotonic time, even backwards: a replica begins at a time that all replicas share. Only allowed before the time is first read. */
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
    continueAfter: (at) => void (start += Math.max(at - monotonic(), 0)),
    beginAt: (at) => void (start = at - performance.now()),
  };
}

/** Whether the age of waiting requests can be trusted: asked before an expiry or an escalation is recorded, and before a person is judged. */
export type CountedTime = {
  /** False if no time was written in the minute before `at` (monotonic), so that clocks of requests may have to be set back first. */
  readonly isCounted: (at: number) => boolean;
  /** Sets these clocks back by a gap, if there is one. Rejects if the store fails. */
  readonly makeUp: () => Promise<void>;
};

/** One alarm, which is set for the earliest of the requested times. */
export type Alarm = {
  /** Rings at `at` (monotonic ms) or earlier. Infinity requests nothing. */
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

/** Resolves when all work has ended, successfully or not, and after `ms` at the latest. */
export async function endedWithin(clock: Clock, ms: number, work: Iterable<Promise<unknown>>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(ms, resolve);
  await Promise.race([Promise.allSettled(work), late]);
  cancel();
}

/** One alarm for each key. A new alarm replaces the old one. */
export type Alarms = {
  set(key: string, ms: number, what: () => void): void;
  clear(key: string): void;
  /** Cancels all alarms. No alarm can be set after that. */
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
