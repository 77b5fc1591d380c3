// The types for changing a run. Below them, the changes that have a cause outside the run: a reused run id, an acknowledgement, a new
// policy, and a freeze.

import { applyPolicy } from "../domain/applied-rule.ts";
import { withDelivery } from "../domain/approval-transitions.ts";
import { applyBrake } from "../domain/brake.ts";
import type { Context } from "../domain/context.ts";
import { supersede } from "../domain/end-run.ts";
import { type RunId, type RunKey, shardOf, type UserId } from "../domain/ids.ts";
import { addPossibleRequester, isWatched, mapApprovals, type Run } from "../domain/run.ts";
import { type EventLog, PortError } from "../ports.ts";
import { ROW_UNREADABLE, type RunStore, type SideWrites } from "../ports/store.ts";

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
 * run, if this process must hold its lease and does not, or if a freeze that `apply` did not know forbids the change. Rejects with PortError if the store
 * fails: `applied` says whether the change may have been written.
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

// The service may give a run the id of an earlier run, but an id has only one thread. An earlier run that is over, or that the service no
// longer knew, gives up the id. An earlier run that is still followed keeps it.

/**
 * Resolves to false if a run with this id is still followed. Then `requester`, whose start the service answered with this id, may have asked
 * for that run.
 */
export async function releaseRunId(
  { store, context }: { readonly store: Pick<RunStore, "byRunId">; readonly context: () => Context },
  changeAnywhere: Change,
  { id, requester }: { readonly id: RunId; readonly requester: UserId },
): Promise<boolean> {
  const key = await store.byRunId(id);
  if (key === null) return true;
  const release = (earlier: Run): Run => {
    const released = supersede(earlier, context());
    return isWatched(released) ? addPossibleRequester(released, requester) : released;
  };
  const run = await changeAnywhere(key, release);
  return run !== null && !isWatched(run);
}

// Changes of many runs at once.

const RELEASED = "An admin has looked at the database, and approvals are sent again.";

type AllRuns = Pick<RunStore, "eachRun">;
/** The parts of the engine that these changes need. */
type Engine = {
  readonly change: Change;
  readonly changeAnywhere: Change;
  readonly holdsShard: (shard: number) => boolean;
};
type ChangeDeps = {
  readonly store: AllRuns;
  readonly engine: Pick<Engine, "change" | "holdsShard">;
  readonly log: Pick<EventLog, "error">;
};
type RuleDeps = ChangeDeps & { readonly context: () => Context };

/** Calls `visit` with each run that this process holds. Other processes visit their own runs. */
export async function eachHeldRun(
  { store, engine }: { readonly store: AllRuns; readonly engine: Pick<Engine, "holdsShard"> },
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

/** Resolves to null if the row of a run cannot be read, so that it does not stop the others. The store reports such rows. */
export async function nullIfUnreadable<Value>(
  result: Promise<Value>,
  onUnreadable = (): void => undefined,
): Promise<Value | null> {
  try {
    return await result;
  } catch (error) {
    if (!(error instanceof PortError) || error.code !== ROW_UNREADABLE) throw error;
    onUnreadable();
    return null;
  }
}

/** Applies `apply` to every unfinished run, including those that no process holds yet. */
export async function changeUnfinished(
  deps: Pick<ChangeDeps, "store" | "log"> & { readonly engine: Pick<Engine, "changeAnywhere"> },
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
