// Time as the service sees it, so that a test can own it.

import { createChanges } from "./changes.ts";

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

// The clock of the emulated Slack and the service: the machine's time plus the skipped time. It only goes forward.

export type SandboxClock = Clock & {
  /** Skips this much time. Alarms that become due go off in order, each at its own moment. */
  readonly advance: (ms: number) => void;
  /** How far it is ahead of the machine's clock (ms). */
  readonly aheadMs: () => number;
  readonly onChange: (listener: () => void) => () => void;
};

/** The longest delay of Node's timers (ms, about 25 days). For a later alarm the timer is set again then. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createSandboxClock(machine: () => number = Date.now): SandboxClock {
  const changes = createChanges();
  let ahead = 0;
  const now = (): number => machine() + ahead;
  const { alarms, set } = createAlarms(now);
  return {
    now,
    after: set,
    advance: (ms) => {
      const [until, target] = [now() + ms, ahead + ms];
      for (let due = firstDue(alarms, until); due !== null; due = firstDue(alarms, until)) {
        ahead = Math.min(target, ahead + Math.max(0, due.at - now()));
        due.ring();
      }
      ahead = target;
      for (const alarm of alarms) alarm.arm();
      changes.changed();
    },
    aheadMs: () => ahead,
    onChange: changes.subscribe,
  };
}

type Alarm = {
  readonly at: number;
  readonly ring: () => void;
  /** Waits for the rest of its time. */
  readonly arm: () => void;
};

function createAlarms(now: () => number) {
  const alarms = new Set<Alarm>();
  const set: Clock["after"] = (ms, act) => {
    let timer: NodeJS.Timeout | undefined;
    const at = now() + ms;
    const drop = (): void => {
      clearTimeout(timer);
      alarms.delete(alarm);
    };
    const ring = (): void => {
      drop();
      act();
    };
    const arm = (): void => {
      clearTimeout(timer);
      const left = Math.min(Math.max(0, at - now()), LONGEST_TIMER_MS);
      timer = setTimeout(() => (at > now() ? arm() : ring()), left);
    };
    const alarm: Alarm = { at, ring, arm };
    alarms.add(alarm);
    arm();
    return drop;
  };
  return { alarms, set };
}

function firstDue(alarms: ReadonlySet<Alarm>, until: number): Alarm | null {
  let first: Alarm | null = null;
  for (const alarm of alarms) if (alarm.at <= until && (first === null || alarm.at < first.at)) first = alarm;
  return first;
}
