// Time as the service sees it, so that a test can own it.

export type Cancel = () => void;

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Never calls back at once, not even for 0 ms: a caller can finish what it is doing first. */
  readonly after: (ms: number, act: () => void) => Cancel;
};

export type ManualClock = Clock & {
  /** Lets this much time pass and runs, in order, all that falls due within it. */
  readonly advance: (ms: number) => void;
  /** How many alarms are set. */
  readonly waiting: () => number;
};

export function createSystemClock(): Clock {
  return {
    now: Date.now,
    after(ms, act) {
      const timer = setTimeout(act, ms);
      return () => clearTimeout(timer);
    },
  };
}

export function createManualClock(startAt = Date.UTC(2026, 0, 5, 9)): ManualClock {
  let now = startAt;
  const alarms = new Set<{ at: number; act: () => void }>();

  function nextDue(until: number) {
    let next: { at: number; act: () => void } | null = null;
    for (const alarm of alarms) {
      if (alarm.at <= until && (next === null || alarm.at < next.at)) next = alarm;
    }
    return next;
  }

  return {
    now: () => now,
    waiting: () => alarms.size,
    after(ms, act) {
      const alarm = { at: now + ms, act };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    advance(ms) {
      const until = now + ms;
      for (let due = nextDue(until); due !== null; due = nextDue(until)) {
        alarms.delete(due);
        now = due.at;
        due.act();
      }
      now = until;
    },
  };
}
