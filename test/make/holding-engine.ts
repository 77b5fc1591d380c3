// An engine that holds all runs, for loops that learn about runs from their plans.

import type { Run } from "#src/domain/run.ts";
import type { RunEngine } from "#src/engine/run-engine.ts";

export function holdingEngine() {
  const listeners: ((run: Run) => void)[] = [];
  return {
    holdsShard: () => true,
    onPlan: ((listener) => {
      listeners.push((run) => listener(run, { effects: [], wakeAt: null, fetchAt: null }));
    }) satisfies RunEngine["onPlan"],
    onDrop: () => undefined,
    reconciled: (run: Run) => listeners.forEach((hear) => hear(run)),
  };
}
