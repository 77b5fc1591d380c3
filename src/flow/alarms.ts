import type { Clock } from "./clock.ts";

/** One alarm per key; setting it anew replaces it. */
export type Alarms = {
  set(key: string, ms: number, what: () => void): void;
  clear(key: string): void;
  clearAll(): void;
};

export function createAlarms(clock: Clock): Alarms {
  const cancels = new Map<string, () => void>();
  function clear(key: string): void {
    cancels.get(key)?.();
    cancels.delete(key);
  }
  function set(key: string, ms: number, what: () => void): void {
    clear(key);
    const ring = (): void => {
      cancels.delete(key);
      what();
    };
    cancels.set(key, clock.after(Math.max(ms, 0), ring));
  }
  function clearAll(): void {
    for (const key of cancels.keys()) clear(key);
  }
  return { set, clear, clearAll };
}
