// The types for changing a run.

import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { SideWrites } from "../ports/store.ts";

/** The result of applying a change to a run. */
export type Applied<Value> = {
  /** The run to save. */
  readonly run: Run;
  /** The value for the caller of the change. */
  readonly value: Value;
  readonly sideWrites?: SideWrites;
};

/**
 * Applies `apply` to the newest version of the run and saves the result. After the save, the engine of the process that holds the run
 * reconciles the run. That starts the effects that are due, such as sending a decision. If another writer saved first, `apply` is called
 * again, so it must have no side effects. Resolves to the saved run and the `value` of the last call. Resolves to null if there is no such
 * run, if this process must hold its lease and does not, if another run has the change's intention, or if a freeze that `apply` did not know
 * forbids the change. Rejects with PortError if the store fails: `applied` says whether the change may have been written.
 */
export type Transact = <Value>(
  key: RunKey,
  apply: (run: Run) => Applied<Value>,
) => Promise<{ readonly run: Run; readonly value: Value } | null>;

/** Like `Transact`, for callers that need only the run. */
export type Change = (
  key: RunKey,
  apply: (run: Run) => Run | { readonly run: Run; readonly sideWrites: SideWrites },
) => Promise<Run | null>;
