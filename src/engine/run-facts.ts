// The facts that a loop needs about the runs that this process holds.

import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { RunStore } from "../ports/store.ts";
import { eachHeldRun, nullIfUnreadable } from "./change-runs.ts";
import type { RunEngine } from "./run-engine.ts";
import type { Change } from "./transact.ts";

export type RunFactsDeps = {
  readonly store: Pick<RunStore, "eachRun">;
  readonly engine: Pick<RunEngine, "change" | "holdsShard" | "onPlan" | "onDrop">;
};

type FactRules<Facts> = {
  /** Returns null if the loop has nothing to do with the run. */
  readonly factsOf: (run: Run) => Facts | null;
  /** Called with the facts of each run that is reconciled after the first read. */
  readonly onFacts: (facts: Facts) => void;
};

export function createRunFacts<Facts>(
  { store, engine }: RunFactsDeps,
  { factsOf, onFacts }: FactRules<Facts>,
) {
  const factsByRun = new Map<RunKey, Facts>();
  /** The runs that were reconciled before all runs were read from the store. Null once all runs have been read. */
  let reconciledFirst: Set<RunKey> | null = new Set();

  function update(run: Run): Facts | null {
    const facts = factsOf(run);
    if (facts === null) factsByRun.delete(run.key);
    else factsByRun.set(run.key, facts);
    return facts;
  }

  engine.onPlan((run) => {
    const facts = update(run);
    reconciledFirst?.add(run.key);
    if (reconciledFirst === null && facts !== null) onFacts(facts);
  });
  engine.onDrop((key) => void factsByRun.delete(key));

  return {
    /** Reads all runs from the store, unless that has been done. After a restart, a run may carry a message that no plan has shown yet. */
    async readOnce(): Promise<void> {
      if (reconciledFirst === null) return;
      // A run that was reconciled in the meantime is newer than the one read here.
      const isOlder = ({ key }: Run): boolean => reconciledFirst?.has(key) === false;
      await eachHeldRun({ store, engine }, "unfinished", (run) => void (isOlder(run) && update(run)));
      reconciledFirst = null;
    },
    values: () => factsByRun.values(),
    /** A run that cannot be read carries no message, and must not keep other runs from one. So it is forgotten. */
    change: ((key, ...given) =>
      engine.change(key, ...given).catch((error: unknown) => {
        const none = nullIfUnreadable(error);
        factsByRun.delete(key);
        return none;
      })) satisfies Change,
  };
}
