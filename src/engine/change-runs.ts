// How a run is changed: from the newest one, as often as someone else saves first. Below, the changes that follow from outside: an
// id given up, an acknowledgement, another policy, a freeze, and the deletion of what is finished.

import { applyPolicy } from "../domain/applied-rule.ts";
import { withDelivery } from "../domain/approval-transitions.ts";
import { applyBrake } from "../domain/brake.ts";
import type { Context } from "../domain/context.ts";
import { supersede } from "../domain/end-run.ts";
import { type RunId, type RunKey, shardOf } from "../domain/ids.ts";
import { isWatched, type Run } from "../domain/run.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { RunStore, SideWrites } from "../ports/store.ts";
import { type BackgroundLoop, createBackgroundLoop } from "./background-work.ts";
import type { Clock } from "./clock.ts";

/** A run as it is to be saved, what is written beside it, and what the caller learns from it. */
export type Applied<Value> = {
  readonly run: Run;
  readonly value: Value;
  readonly sideWrites?: SideWrites;
};

/** `mustHold`: nothing is saved unless this process holds the run's lease. True unless given. */
export type ChangeOptions = { readonly mustHold?: boolean };

/**
 * Applies `apply` to the newest run and saves the result. `apply` is called again when someone else saved first, so it must not
 * act. Resolves to the run as saved and the `value` of that call; null when there is no such run, another process holds its lease, or
 * a freeze that `apply` did not know forbids the change. Rejects with PortError when the store fails; then nothing was written.
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

// The service may give a run the id of an earlier one. One id has one thread: a run that is over, or that the service no longer knew,
// gives its id up; a run that goes on keeps it.

/** False: a run with this id is still followed. */
export async function releaseRunId(
  { store, context }: { readonly store: Pick<RunStore, "byRunId">; readonly context: () => Context },
  change: Change,
  id: RunId,
): Promise<boolean> {
  const key = await store.byRunId(id);
  if (key === null) return true;
  const run = await change(key, (earlier) => supersede(earlier, context()), { mustHold: false });
  return run !== null && !isWatched(run);
}

// Changes of many runs at once.

const MAX_RUNS = 100_000;
const RELEASED = "An admin has looked at the database, and approvals leave again.";

type Listing = Pick<RunStore, "list" | "channelsInUse">;
/** The engine, as far as these changes need it. */
type Engine = { readonly change: Change; readonly holdsShard: (shard: number) => boolean };
type Changing = {
  readonly store: Listing;
  readonly engine: Engine;
  readonly log: Pick<EventLog, "error">;
};
type Judging = Changing & { readonly context: () => Context };

/** Those that this process looks after; other processes change theirs. */
async function runsOf({ store, engine }: Changing, only: "unfinished" | "pending"): Promise<readonly Run[]> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return [];
  const runs = await store.list({ channels, only, limit: MAX_RUNS });
  return runs.filter((run) => engine.holdsShard(shardOf(run)));
}

/** If one run cannot be changed, the others still are. Rejects with PortError when the store fails, because then none can be changed. */
export async function changeEach(
  { log }: Pick<Changing, "log">,
  runs: readonly Run[],
  change: (run: Run) => Promise<void>,
): Promise<void> {
  for (const run of runs)
    try {
      await change(run);
    } catch (error) {
      if (error instanceof PortError) throw error;
      log.error({ run: run.key, error }, "could not change a run");
    }
}

/** Every unfinished run that `apply` changes, also those that no process looks after yet. */
export async function changeUnfinished(
  deps: { readonly store: Listing; readonly change: Change } & Pick<Changing, "log">,
  apply: (run: Run) => Run,
): Promise<void> {
  const { store, change } = deps;
  const channels = await store.channelsInUse();
  if (channels.length === 0) return;
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  await changeEach(deps, runs, async (run) => {
    if (apply(run) !== run) await change(run.key, apply, { mustHold: false });
  });
}

/** After an acknowledgement: what was held back for tampering is looked at again at once. */
export async function releaseHeldBack(deps: Changing): Promise<void> {
  const runs = await runsOf(deps, "unfinished");
  await changeEach(deps, runs, async (run) => {
    if (withoutHold(run) !== run) await deps.engine.change(run.key, withoutHold);
  });
}

/** The same run where nothing is held back. */
function withoutHold(run: Run): Run {
  const approvals = run.approvals.map((approval) => {
    const { state } = approval;
    if (state.type !== "decided" || state.delivery.type !== "retry" || !state.delivery.heldBack)
      return approval;
    const { heldBack: _over, ...delivery } = state.delivery;
    return withDelivery(approval, state.decision, { ...delivery, notBefore: 0, why: RELEASED });
  });
  return approvals.some((each, at) => each !== run.approvals[at]) ? { ...run, approvals } : run;
}

/** Brings every pending approval, and so its card, under the current rule. */
export async function applyPolicyToWaiting(deps: Judging): Promise<void> {
  const waiting = await runsOf(deps, "pending");
  await changeEach(deps, waiting, async ({ key }) => {
    await deps.engine.change(key, (run) => applyPolicy(run, deps.context()));
  });
}

/** After a freeze, or after one is lifted: approvals that were not sent give way, and open cards say so. */
export async function applyBrakeToRuns(deps: Judging): Promise<void> {
  const runs = await runsOf(deps, "unfinished");
  // The engine applies the brake at every save.
  await changeEach(deps, runs, async (run) => {
    if (applyBrake(run, deps.context()) !== run) await deps.engine.change(run.key, (newest) => newest);
  });
}

// Deletes finished runs and their texts after a while; the audit stays.

const SWEEP_EVERY_MS = 60 * 60_000;

/** `keepMs`: how long a run is kept after its last change. */
export function createRetention(
  store: Pick<RunStore, "forget">,
  clock: Clock,
  log: EventLog,
  keepMs: number,
): { start(): void; stop: BackgroundLoop["stop"] } {
  async function sweep(): Promise<void> {
    const runs = await store.forget(clock.monotonic() - keepMs);
    if (runs > 0) log.info({ runs }, "forgot finished runs; the audit stays");
  }
  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: sweep,
      everyMs: SWEEP_EVERY_MS,
      retryMs: [60_000, SWEEP_EVERY_MS],
      failure: "could not delete finished runs; trying again",
    },
  );
  return { start: () => loop.start(SWEEP_EVERY_MS), stop: loop.stop };
}
