// Stores the outcome of an effect, however long that takes.

import pRetry from "p-retry";
import { applyOutcome } from "../domain/apply-outcome.ts";
import { carryStop } from "../domain/brake.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import { supersede } from "../domain/end-run.ts";
import type { RunId, RunKey, UserId } from "../domain/ids.ts";
import { addPossibleRequester, isWatched, type Run } from "../domain/run.ts";
import { PortError } from "../ports.ts";
import type { ExecutionHandle, ExecutorDeps } from "./execution.ts";
import { effectIds, type RunFailureLog } from "./logging.ts";

/**
 * How long storing an outcome is retried without the lease (ms). This process renews a lapsed lease within a minute. If another process
 * holds the run by then, that process settles the effect.
 */
const LEASE_PATIENCE_MS = 90_000;

export type OutcomeWriter = {
  /** Stores the outcome in one attempt. Rejects if the store fails. */
  once(outcome: Outcome): Promise<void>;
  /**
   * Retries until the outcome is in the store, or until a stop gives up what is in progress. If it never gets there, the next start has to
   * record the effect as unsure.
   */
  untilSaved(outcome: Outcome): Promise<void>;
};

export type WriterDeps = ExecutorDeps & { readonly logFailure: RunFailureLog };

/** Serves one execution of the effect, because it remembers since when the lease has been lost. */
export function createOutcomeWriter(
  deps: WriterDeps,
  { key, requester }: Pick<Run, "key" | "requester">,
  effect: Effect,
  handle: ExecutionHandle,
): OutcomeWriter {
  const { clock } = deps;
  let leaseLostSince: number | null = null;

  async function once(outcome: Outcome): Promise<void> {
    try {
      await save(outcome);
    } catch (error) {
      if (!isIdTaken(error) || outcome.type !== "created") throw error;
      const { id } = outcome.snapshot;
      const isReleased = await releaseRunId(deps, handle, { id, start: key, requester });
      await save(isReleased ? outcome : { type: "taken", id });
    }
  }

  async function save(outcome: Outcome): Promise<void> {
    const saved = await handle.change(key, (run) => applyOutcome(run, effect, outcome, deps.context()));
    if (saved === null)
      throw new PortError("the run is not held", { applied: "no", retry: "later", code: "lease_lost" });
  }

  function shouldRetry(error: Error): boolean {
    if (!(error instanceof PortError) || error.retry === "never" || handle.hasStopped()) return false;
    leaseLostSince = isLeaseLost(error) ? (leaseLostSince ?? clock.monotonic()) : null;
    return leaseLostSince === null || clock.monotonic() - leaseLostSince < LEASE_PATIENCE_MS;
  }

  async function untilSaved(outcome: Outcome): Promise<void> {
    return pRetry(() => once(outcome), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 200,
      maxTimeout: 5_000,
      shouldRetry: ({ error }) => shouldRetry(error),
      onFailedAttempt: ({ error }) => logUnsaved(deps, { ...effectIds({ key }, effect), error }),
    });
  }

  return { once, untilSaved };
}

/** A lost lease is expected: another replica has saved the run, and this process claims the run again at its next pass. */
function logUnsaved(
  { log, logFailure }: WriterDeps,
  facts: { run: RunKey; effect: string; error: Error },
): void {
  if (isLeaseLost(facts.error)) log.debug(facts, "the run must be claimed again before its outcome is saved");
  else logFailure(facts, "not saved; retrying");
}

/** Returns whether storing an outcome failed because this process does not hold the run. */
export const isLeaseLost = (error: unknown): boolean =>
  error instanceof PortError && error.code === "lease_lost";

const isIdTaken = (error: unknown): boolean => error instanceof PortError && error.code === "run_id_taken";

// The service may give a run the id of an earlier run, but an id has only one thread. An earlier run that is over, or that the service no
// longer knew, gives up the id. An earlier run that is still followed keeps it.

/**
 * Resolves to false if a run with this id is still followed. Then `requester`, whose start the service answered with this id, may have
 * asked for that run, and a stop of the start holds for it.
 */
async function releaseRunId(
  { store, context }: Pick<ExecutorDeps, "store" | "context">,
  { changeAnywhere }: ExecutionHandle,
  { id, start, requester }: { readonly id: RunId; readonly start: RunKey; readonly requester: UserId },
): Promise<boolean> {
  const key = await store.byRunId(id);
  if (key === null) return true;
  // Someone may have pressed Stop while the start was being sent.
  const stop = (await store.load(start))?.run.stop;
  const release = (earlier: Run): Run => {
    const released = supersede(earlier, context());
    return isWatched(released) ? carryStop(addPossibleRequester(released, requester), stop) : released;
  };
  const run = await changeAnywhere(key, release);
  return run !== null && !isWatched(run);
}
