// How a run is changed: from the newest one, as often as somebody else saves first.

import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { SideWrites } from "../ports/store.ts";

/** A run as it is to be saved, what is written beside it, and what the caller learns from it. */
export type Applied<Value> = {
  readonly run: Run;
  readonly value: Value;
  readonly sideWrites?: SideWrites;
};

/** `mustHold`: nothing is saved unless this process holds the run's lease. True unless given. */
export type ChangeOptions = { readonly mustHold?: boolean };

/**
 * Applies `apply` to the newest run and saves the result. `apply` is called again when somebody else saved first, so it must not
 * act. Resolves to the run as saved and the `value` of that call; null when there is no such run or another process holds its
 * lease. Rejects with PortError when the store fails; then nothing was written.
 */
export type Transact = <Value>(
  key: RunKey,
  apply: (run: Run) => Applied<Value>,
  options?: ChangeOptions,
) => Promise<{ readonly run: Run; readonly value: Value } | null>;

/** As `Transact`, where the caller needs only the run. */
export type Change = (
  key: RunKey,
  apply: (run: Run) => Run | { readonly run: Run; readonly sideWrites: SideWrites },
  options?: ChangeOptions,
) => Promise<Run | null>;
