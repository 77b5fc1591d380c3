// One virtual time for everything in a history. Nothing waits for real time: due alarms ring in order, and everything that follows from one
// alarm happens before the next.

import TinyQueue from "tinyqueue";
import { NOON } from "../make/run.ts";

/** If this many alarms ring without time passing, the code under test loops without a pause. */
const MAX_AT_ONCE = 20_000;

type Alarm = { readonly at: number; readonly order: number; what: (() => void) | null };

export class Timeline {
  /** True time (ms since 1970), whole milliseconds. */
  now = NOON;
  readonly #alarms = new TinyQueue<Alarm>([], (a, b) => a.at - b.at || a.order - b.order);
  #order = 0;
  #underWay = 0;
  #begun = 0;

  after(ms: number, what: () => void): () => void {
    this.#order += 1;
    const alarm: Alarm = { at: this.now + Math.ceil(Math.max(ms, 0)), order: this.#order, what };
    this.#alarms.push(alarm);
    return () => void (alarm.what = null);
  }

  /** The number of alarms that are set. */
  get waiting(): number {
    return this.#alarms.data.filter(({ what }) => what !== null).length;
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve));
  }

  /** Does work that takes no virtual time but may take several turns of the event loop. */
  async during<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    this.#begun += 1;
    this.#underWay += 1;
    try {
      return await work();
    } finally {
      this.#underWay -= 1;
    }
  }

  /** Waits for everything that needs no virtual time. A turn of the event loop ends when no promise is left to settle. */
  async rest(): Promise<void> {
    for (;;) {
      const begun = this.#begun;
      await new Promise<void>((resolve) => void setImmediate(resolve));
      if (this.#underWay === 0 && this.#begun === begun) return;
    }
  }

  async pass(ms: number): Promise<void> {
    const until = this.now + ms;
    await this.rest();
    let rung = 0;
    for (let next = this.#next(until); next !== null; next = this.#next(until)) {
      rung = next.at > this.now ? 0 : rung + 1;
      if (rung > MAX_AT_ONCE)
        throw new Error(`time does not pass at ${this.now}: the code under test loops without a pause`);
      this.now = Math.max(this.now, next.at);
      next.what?.();
      await this.rest();
    }
    this.now = until;
  }

  #next(until: number): Alarm | null {
    for (let first = this.#alarms.peek(); first !== undefined; first = this.#alarms.peek()) {
      if (first.what !== null && first.at > until) return null;
      this.#alarms.pop();
      if (first.what !== null) return first;
    }
    return null;
  }
}

// Packages set timers of their own (p-retry). Within a history, these run in virtual time, too.

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };

/** Makes `setTimeout` use the timeline. Returns a function that restores the real timers. */
export function takeTimers(timeline: Timeline): () => void {
  const set = (what: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
    const cancel = timeline.after(ms, () => what(...args));
    const timer = { cancel, ref: () => timer, unref: () => timer, hasRef: () => true };
    return timer;
  };
  const clear = (timer: unknown): void => {
    if (typeof timer === "object" && timer !== null && "cancel" in timer) (timer.cancel as () => void)();
    else real.clearTimeout(timer as NodeJS.Timeout);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  return () => void Object.assign(globalThis, real);
}
