// One alarm per run.

import type { Cancel, Clock } from "../base/clock.ts";

export type Alarms = {
  /** Takes the place of the one set before; null sets none. */
  readonly set: (id: string, at: number | null) => void;
  readonly clear: () => void;
};

export function createAlarms(clock: Clock, ring: (id: string) => void): Alarms {
  const cancels = new Map<string, Cancel>();
  return {
    set(id, at) {
      cancels.get(id)?.();
      cancels.delete(id);
      if (at !== null)
        cancels.set(
          id,
          clock.after(Math.max(0, at - clock.now()), () => ring(id)),
        );
    },
    clear() {
      for (const cancel of cancels.values()) cancel();
      cancels.clear();
    },
  };
}
