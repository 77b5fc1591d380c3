import type { Clock } from "./clock.ts";

/** One alarm per key; setting it anew replaces it. */
export type Alarms = {
  set(key: string, ms: number, what: () => void): void;
  clear(key: string): void;
  /** No alarm rings any more, nor can one be set. */
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
