// The clock of the sandbox's Slack and service: the machine's time plus the time that somebody has skipped. It only goes forward.

import { createChanges } from "./service/changes.ts";
import type { Clock } from "./service/service-clock.ts";

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
