import type { Clock } from "#src/engine/clock.ts";
import { NOON } from "./run.ts";

export type HandClock = Clock & {
  /** Lets `ms` pass: rings what comes due, in order, and lets everything that follows from each ring happen. */
  pass(ms: number): Promise<void>;
  /** Lets everything happen that needs no time. */
  rest(): Promise<void>;
  /** Sets the wall clock forward or back. Time itself goes on as before. */
  step(ms: number): void;
  /** As the machine starts anew: monotonic time begins at the wall clock. */
  reboot(): void;
  /** As `createClock` has it. */
  readonly continueAfter: (stored: number) => void;
  /** How many alarms are set. */
  waiting(): number;
};

/** Rounds of the event loop in which nothing is left to happen. The store and the ports of tests need a few, never a timer. */
const ROUNDS = 6;

/** More alarms at one moment are a loop of the code under test, in which a test would hang. */
const MAX_AT_ONCE = 2_000;

/** A clock that a test sets. Starts at noon. */
export function createHandClock(): HandClock {
  let now = NOON;
  let wall = 0;
  let start = 0;
  let count = 0;
  const alarms = new Map<number, { at: number; what: () => void }>();

  function next(until: number): { id: number; at: number; what: () => void } | null {
    const due = [...alarms]
      .filter(([, { at }]) => at <= until)
      .sort(([a, x], [b, y]) => x.at - y.at || a - b);
    return due[0] === undefined ? null : { id: due[0][0], ...due[0][1] };
  }

  async function rest(): Promise<void> {
    for (let round = 0; round < ROUNDS; round += 1)
      await new Promise((resolve) => void setImmediate(resolve));
  }

  return {
    now: () => now + wall,
    monotonic: () => now + start,
    step: (ms) => void (wall += ms),
    reboot: () => void (start = wall),
    continueAfter: (stored) => void (start += Math.max(stored - (now + start), 0)),
    after(ms, what) {
      const id = count;
      count += 1;
      alarms.set(id, { at: now + ms, what });
      return () => void alarms.delete(id);
    },
    rest,
    waiting: () => alarms.size,
    async pass(ms) {
      const until = now + ms;
      let rung = { at: now, times: 0 };
      await rest();
      for (let alarm = next(until); alarm !== null; alarm = next(until)) {
        now = Math.max(now, alarm.at);
        rung = { at: now, times: rung.at === now ? rung.times + 1 : 1 };
        if (rung.times > MAX_AT_ONCE) throw new Error("time stands still: what is due is due again at once");
        alarms.delete(alarm.id);
        alarm.what();
        await rest();
      }
      now = until;
    },
  };
}
