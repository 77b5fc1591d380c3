import type { Clock } from "#src/engine/clock.ts";
import { NOON } from "./run.ts";

export type HandClock = Clock & {
  /** Moves the time forward by `ms`. Fires alarms in order, and waits after each until all its consequences have happened. */
  pass(ms: number): Promise<void>;
  /** Waits until everything has happened that needs no time. */
  rest(): Promise<void>;
  /** Sets the wall clock forward or back. Monotonic time does not change, as while the machine is suspended. */
  step(ms: number): void;
  /** Restarts monotonic time at the wall clock, as a reboot of the machine does. */
  reboot(): void;
  /** The same as in `createClock`. */
  readonly continueAfter: (at: number) => void;
  /** Returns how many alarms are set. */
  waiting(): number;
};

/** After this many rounds of the event loop, everything has happened: the store and the ports of tests need a few rounds, never a timer. */
const ROUNDS = 6;

/** More alarms than this at one moment mean an endless loop in the code under test. */
const MAX_AT_ONCE = 2_000;

/** Creates a clock that a test controls. It starts at noon. */
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
    continueAfter: (at) => void (start += Math.max(at - (now + start), 0)),
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
      let fired = { at: now, times: 0 };
      await rest();
      for (let alarm = next(until); alarm !== null; alarm = next(until)) {
        now = Math.max(now, alarm.at);
        fired = { at: now, times: fired.at === now ? fired.times + 1 : 1 };
        if (fired.times > MAX_AT_ONCE)
          throw new Error("endless loop: alarms keep becoming due at the same moment");
        alarms.delete(alarm.id);
        alarm.what();
        await rest();
      }
      now = until;
    },
  };
}
