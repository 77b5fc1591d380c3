// Changes of many runs at once. Their causes lie outside the runs: an acknowledgement, a new policy, or a freeze.

import { applyPolicy } from "../domain/applied-rule.ts";
import { withDelivery } from "../domain/approval-transitions.ts";
import { applyBrake } from "../domain/brake.ts";
import type { Context } from "../domain/context.ts";
import { type RunKey, shardOf } from "../domain/ids.ts";
import { mapApprovals, type Run } from "../domain/run.ts";
import { type EventLog, PortError } from "../ports.ts";
import { ROW_UNREADABLE, type RunStore } from "../ports/store.ts";
import type { RunEngine } from "./run-engine.ts";

const RELEASED = "An admin has looked at the database, and approvals are sent again.";

type AllRuns = Pick<RunStore, "eachRun">;
type ChangeDeps = {
  readonly store: AllRuns;
  readonly engine: Pick<RunEngine, "change" | "holdsShard">;
  readonly log: Pick<EventLog, "error">;
};
type RuleDeps = ChangeDeps & { readonly context: () => Context };

/** Calls `visit` with each run that this process holds. Other processes visit their own runs. */
export async function eachHeldRun(
  { store, engine }: { readonly store: AllRuns; readonly engine: Pick<RunEngine, "holdsShard"> },
  only: "unfinished" | "pending",
  visit: (run: Run) => void,
): Promise<void> {
  await store.eachRun(only, (run) => {
    if (engine.holdsShard(shardOf(run))) visit(run);
  });
}

/**
 * Changes the runs that `isConcerned` picks, one after the other. A fault with one run is logged and does not stop the others. Rejects with
 * PortError if the store fails, because no run can be changed then.
 */
export async function changeEach(
  { log }: Pick<ChangeDeps, "log">,
  eachRun: (visit: (run: Run) => void) => Promise<void>,
  isConcerned: (run: Run) => boolean,
  change: (key: RunKey) => Promise<unknown>,
): Promise<void> {
  const logFault = (run: RunKey, error: unknown): void => log.error({ run, error }, "could not change a run");
  const keys: RunKey[] = [];
  await eachRun((run) => {
    try {
      if (isConcerned(run)) keys.push(run.key);
    } catch (error) {
      logFault(run.key, error);
    }
  });
  for (const key of keys)
    try {
      await change(key);
    } catch (error) {
      if (error instanceof PortError && error.code !== ROW_UNREADABLE) throw error;
      logFault(key, error);
    }
}

/** For a run whose row cannot be read, so that it does not stop the others. The store reports such rows. Throws other errors. */
export function nullIfUnreadable(error: unknown): null {
  if (error instanceof PortError && error.code === ROW_UNREADABLE) return null;
  throw error;
}

/** Applies `apply` to every unfinished run, including those that no process holds yet. */
export async function changeUnfinished(
  deps: Pick<ChangeDeps, "store" | "log"> & { readonly engine: Pick<RunEngine, "changeAnywhere"> },
  apply: (run: Run) => Run,
): Promise<void> {
  await changeEach(
    deps,
    (visit) => deps.store.eachRun("unfinished", visit),
    (run) => apply(run) !== run,
    (key) => deps.engine.changeAnywhere(key, apply),
  );
}

/** Applies `apply` to the runs of this kind that this process holds. */
export async function changeHeld(
  deps: ChangeDeps,
  only: "unfinished" | "pending",
  apply: (run: Run) => Run,
): Promise<void> {
  await changeEach(
    deps,
    (visit) => eachHeldRun(deps, only, visit),
    (run) => apply(run) !== run,
    (key) => deps.engine.change(key, apply),
  );
}

/** After an acknowledgement, retries the decisions that were held back for tampering at once. */
export const releaseHeldBack = (deps: ChangeDeps): Promise<void> =>
  changeHeld(deps, "unfinished", withoutHeldBack);

/** Returns the run without held-back decisions. Returns the same object if none is held back. */
function withoutHeldBack(run: Run): Run {
  return mapApprovals(run, (approval) => {
    const { state } = approval;
    if (state.type !== "decided" || state.delivery.type !== "retry" || !state.delivery.heldBack)
      return approval;
    const { heldBack: _removed, ...delivery } = state.delivery;
    return withDelivery(approval, state.decision, { ...delivery, notBefore: 0, why: RELEASED });
  });
}

/**
 * Applies the current rule to every pending approval, and so to its card. Every run is concerned, even if its stored version would not
 * change: a change under way may still save it under the earlier policy.
 */
export async function applyPolicyToWaiting(deps: RuleDeps): Promise<void> {
  await changeEach(
    deps,
    (visit) => eachHeldRun(deps, "pending", visit),
    () => true,
    (key) => deps.engine.change(key, (run) => applyPolicy(run, deps.context())),
  );
}

/**
 * After a freeze, or after its end, brings every run up to date: approvals that were certainly not applied become void under a freeze, and
 * open cards show it.
 */
export async function applyBrakeToRuns(deps: RuleDeps): Promise<void> {
  await changeEach(
    deps,
    (visit) => eachHeldRun(deps, "unfinished", visit),
    (run) => applyBrake(run, deps.context()) !== run,
    // The engine applies the brake at every save.
    (key) => deps.engine.change(key, (newest) => newest),
  );
}
