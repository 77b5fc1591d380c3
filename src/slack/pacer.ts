// Lets calls go no faster than a limit: the most urgent first, those alike in the order in which they came. Ours, since p-queue
// counts its sliding window by the wall clock: set back by two minutes, it lets nothing go for two minutes.

import type { Clock } from "../flow/clock.ts";

/** At most `intervalCap` calls begin in any stretch of `interval` (ms): two bursts cannot meet at the border of two intervals. */
export type Limits = { readonly intervalCap: number; readonly interval: number };

export class Pacer {
  readonly #clock: Clock;
  readonly #limits: Limits;
  /** When the newest calls began (monotonic), the oldest first; as many as count. */
  #begun: number[] = [];
  #waiting: { readonly urgency: number; readonly go: () => void }[] = [];
  #restUntil = 0;
  #alarmAt: number | null = null;

  constructor(clock: Clock, limits: Limits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Resolves when the call may begin. 0 is the most urgent. */
  turn(urgency: number): Promise<void> {
    const { promise, resolve: go } = Promise.withResolvers<void>();
    const behind = this.#waiting.findIndex((each) => each.urgency > urgency);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, { urgency, go });
    this.#letGo();
    return promise;
  }

  /** No call begins for `ms`. Of two rests the longer counts. */
  rest(ms: number): void {
    this.#restUntil = Math.max(this.#restUntil, this.#clock.monotonic() + ms);
    this.#setAlarm(this.#restUntil);
  }

  #letGo(): void {
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      const now = this.#clock.monotonic();
      if (this.#nextAt() > now) return this.#setAlarm(this.#nextAt());
      this.#waiting.shift();
      this.#begun = [...this.#begun, now].slice(-this.#limits.intervalCap);
      next.go();
    }
  }

  /** One that rings too early, be it by a moment, only finds that there is something left to wait for. */
  #setAlarm(at: number): void {
    if (this.#alarmAt !== null && this.#alarmAt <= at) return;
    this.#alarmAt = at;
    this.#clock.after(at - this.#clock.monotonic(), () => {
      this.#alarmAt = null;
      this.#letGo();
    });
  }

  #nextAt(): number {
    const { intervalCap, interval } = this.#limits;
    const oldest = this.#begun.length < intervalCap ? undefined : this.#begun[0];
    return Math.max(this.#restUntil, oldest === undefined ? 0 : oldest + interval);
  }
}
