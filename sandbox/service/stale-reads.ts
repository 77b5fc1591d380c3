// Reads that still show a run as it was before a decision.

import type { Memory } from "./memory.ts";
import type { Run } from "./service-run.ts";

export type StaleReads = {
  /** What a read shows now; it uses up one of those that are stale. */
  readonly shown: (run: Run) => Run;
  readonly remember: (run: Run) => void;
};

export function createStaleReads({ stale, settings, changed }: Memory): StaleReads {
  return {
    shown(run) {
      const old = stale.get(run.id);
      if (old === undefined) return run;
      if (old.left > 1) stale.set(run.id, { run: old.run, left: old.left - 1 });
      else stale.delete(run.id);
      changed();
      return old.run;
    },
    remember(run) {
      const left = settings.profile.staleReads;
      if (left === 0) return;
      stale.set(run.id, { run, left });
      changed();
    },
  };
}
