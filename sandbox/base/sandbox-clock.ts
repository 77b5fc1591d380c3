// The time of the service, which a test can control.

import { createChanges } from "./changes.ts";

export type Cancel = () => void;

export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Never calls back synchronously, not even for 0 ms, so that the caller can finish first. */
  readonly after: (ms: number, act: () => void) => Cancel;
};

export type ManualClock = Clock & {
  /** Moves the time forward, and runs in order everything that becomes due. */
  readonly advance: (ms: number) => void;
  /** Returns how many alarms are set. */
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

// The clock of the emulated Slack and the service: the machine's time plus the skipped time. It never goes back.

export type SandboxClock = Clock & {
  /** Skips this much time (ms). Alarms that become due fire in order, each at its own time. */
  readonly advance: (ms: number) => void;
  /** How far this clock is ahead of the machine's (ms). */
  readonly aheadMs: () => number;
  readonly onChange: (listener: () => void) => () => void;
};

/** The longest delay of Node's timers (ms), about 25 days. A later alarm sets its timer again after that. */
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
      const until = now() + ms;
      const target = ahead + ms;
      for (let due = firstDue(alarms, until); due !== null; due = firstDue(alarms, until)) {
        ahead = Math.min(target, ahead + Math.max(0, due.at - now()));
        due.fire();
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
  readonly fire: () => void;
  /** Sets the timer for the remaining time. */
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
    const fire = (): void => {
      drop();
      act();
    };
    const arm = (): void => {
      clearTimeout(timer);
      const left = Math.min(Math.max(0, at - now()), LONGEST_TIMER_MS);
      timer = setTimeout(() => (at > now() ? arm() : fire()), left);
    };
    const alarm: Alarm = { at, fire, arm };
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
