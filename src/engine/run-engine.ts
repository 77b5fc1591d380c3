// The path of every command, click and timer: change the stored run, reconcile it, and execute the effects that it still needs.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► outcome, save ─┐
//      ▲                                                                                                     │
//      └─────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other. Its effects happen in parallel, so a slow POST blocks nothing.

import { auditOfChange, limitUncausedEntries, withPlaces } from "../audit/run-diff.ts";
import { asOfTimer, beforeSave } from "../domain/bring-up-to-date.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import type { RunKey } from "../domain/ids.ts";
import { endsHold } from "../domain/hold.ts";
import { isFinished, isFinishedWith, type Plan, reconcile } from "../domain/reconcile.ts";
import type { Run } from "../domain/run.ts";
import { shownChars } from "../domain/text/request-text.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import type { Applied, Change, Transact } from "./transact.ts";
import type { Clock, CountedTime } from "./clock.ts";
import { createDelayedWork } from "./background-work.ts";
import { AFTER_FAILURE_MS, type EffectExecutor } from "./effect-executor.ts";
import { createLateCommits, type LateCommits } from "./late-commits.ts";
import type { EffectLog } from "./logging.ts";
import { createHeldRuns, type HeldRuns, type HeldShards } from "./held-runs.ts";
import { createKeyedLock } from "./keyed-lock.ts";
import { createRetryWaits, type RetryWaits } from "./retry-waits.ts";
import { createMarkSettling, type MarkSettling } from "./settle-marks.ts";

export type RunEngine = HeldShards & {
  readonly shardsSending: EffectExecutor["shardsSending"];
  readonly transact: Transact;
  readonly change: Change;
  /** Like `transact` and `change`, also if this process does not hold the run's lease. People and Slack may turn to any process. */
  readonly transactAnywhere: Transact;
  readonly changeAnywhere: Change;
  /** Follows the stored run, if this process holds its shard: settles the marks of a dead process (`recover`), then reconciles the run. */
  resume(stored: StoredRun): Promise<void>;
  readonly followIfStored: LateCommits["followIfStored"];
  /** Calls the listener with every run that is reconciled. */
  onPlan(listener: (run: Run, plan: Plan) => void): void;
  /** Accepts no new work and waits at most `ms` until work in progress is settled. */
  stop(ms: number): Promise<void>;
};

type RunChanges = Pick<RunEngine, "transact" | "change" | "transactAnywhere" | "changeAnywhere">;

/** The number of attempts at a change while other processes keep changing the run. */
const MAX_CLASHES = 50;
/** Requests of this length take tens of milliseconds to compare and again to write, so the event loop runs in between. */
const LONG_CHARS = 20_000;
const NOT_RECONCILED = "could not reconcile a run; trying again";

type Deps = {
  store: RunStore;
  context: () => Context;
  clock: Clock;
  log: EventLog;
  executor: EffectExecutor;
  logEffect: EffectLog;
  time: CountedTime;
  random: () => number;
};

export function createRunEngine(deps: Deps): RunEngine {
  const { clock, executor, time } = deps;
  const marks = createMarkSettling(deps);
  const { save, whenSaved, forgetLastWritten } = createSaver(deps, marks);
  const delayed = createDelayedWork(clock);
  const retryWaits = createRetryWaits(deps);
  const listeners: ((run: Run, plan: Plan) => void)[] = [];
  const { holdRun, holdsRun, dropRun, ...shards } = createHeldRuns();
  /** Claims pass no `first`: the claiming of runs waits until each run is resumed, so that must not wait for `makeUp` too. */
  const wakeNow = (key: RunKey, first?: () => Promise<void>) =>
    wake({ ...deps, ...changes, reconcileAfter, retryWaits }, key, first);
  const reconcileAfter: ReconcileAfter = (key, afterMs) =>
    delayed.run(key, afterMs, () => wakeNow(key, time.makeUp));
  const { followIfStored, ...late } = createLateCommits(deps, { resume: (stored) => resume(stored) });
  shards.onDrop((key) => (delayed.cancel(key), forgetLastWritten(key), marks.forget(key)));
  shards.onDrop(retryWaits.forget);

  const startEffects = retryAfterFault(deps, reconcileAfter, (run) => {
    delayed.cancel(run.key);
    const plan = reconcile(run, clock.monotonic());
    const handle = { ...changes, reconcileAfter, onIdle: forgetLastWritten, ...shards };
    // A hold that seems to be over may have to be set back. The wake makes up for the gap first.
    if (endsHold(run, plan) && !time.isCounted(clock.monotonic())) return reconcileAfter(run.key, 0);
    for (const effect of plan.effects) executor.start(run, effect, handle);
    const wakeAt = marks.hasLeftMark(run) ? clock.monotonic() + AFTER_FAILURE_MS : plan.wakeAt;
    if (wakeAt !== null) reconcileAfter(run.key, wakeAt - clock.monotonic());
    for (const listener of listeners) listener(run, plan);
    // Nothing is due any more, and no mark awaits its outcome. A save that reopens the run holds it again.
    if (isFinishedWith(run, plan)) dropRun(run.key);
  });

  const changes: RunChanges = changesBy((mustHold) => async (key, apply) => {
    const result = await late.watched(key, save(key, { apply, mustHold }));
    // If this process saved the run itself, it holds the run from now on, unless another process holds the shard.
    if (result !== null && (result.saved === "saved" ? holdRun : holdsRun)(result.run))
      startEffects(result.run);
    if (!executor.isBusy(key)) forgetLastWritten(key);
    return result;
  });

  const resume = resumeBy({ holdRun, holdsRun, whenSaved, forgetLastWritten, marks, startEffects, wakeNow });
  const onPlan: RunEngine["onPlan"] = (listener) => void listeners.push(listener);
  const stop = async (ms: number) =>
    void (await Promise.all([delayed.stop(ms), late.stop(ms), executor.stop(ms)]));
  const { shardsSending } = executor;
  return { ...shards, ...changes, resume, followIfStored, onPlan, stop, shardsSending };
}

type ResumeParts = Pick<HeldRuns, "holdRun" | "holdsRun"> & {
  readonly marks: MarkSettling;
  readonly whenSaved: (key: RunKey) => Promise<unknown> | null;
  readonly forgetLastWritten: (key: RunKey) => void;
  readonly startEffects: (run: Run) => void;
  readonly wakeNow: (key: RunKey) => Promise<void>;
};

function resumeBy({ marks, ...parts }: ResumeParts): RunEngine["resume"] {
  return async ({ run }) => {
    const wasHeld = parts.holdsRun(run);
    if (!parts.holdRun(run)) return;
    // A save that began before the run was lost may be answered only now. Its version is older than this one.
    void parts.whenSaved(run.key)?.then(() => {
      parts.forgetLastWritten(run.key);
      return parts.wakeNow(run.key);
    });
    // Another process has saved a run that we hold, so the version that this process wrote last is outdated.
    if (wasHeld) parts.forgetLastWritten(run.key);
    else if (!marks.recoverFirst(run)) return parts.startEffects(run);
    await parts.wakeNow(run.key);
  };
}

/** A fault in Countersign delays this run only. The change is stored already, so the run is reconciled again later. */
function retryAfterFault(
  { log }: Deps,
  reconcileAfter: ReconcileAfter,
  startEffects: (run: Run) => void,
): (run: Run) => void {
  return (run) => {
    try {
      startEffects(run);
    } catch (error) {
      log.error({ run: run.key, error }, NOT_RECONCILED);
      reconcileAfter(run.key, AFTER_FAILURE_MS);
    }
  };
}

type ReconcileAfter = (key: RunKey, afterMs: number) => void;

type WakeDeps = Deps & {
  readonly change: Change;
  readonly reconcileAfter: ReconcileAfter;
  readonly retryWaits: RetryWaits;
};

/** Applies what time has changed and reconciles the run. Tries again later if the store fails. Never rejects. */
async function wake(
  { context, time, change, reconcileAfter, retryWaits }: WakeDeps,
  key: RunKey,
  first?: () => Promise<void>,
): Promise<void> {
  try {
    await first?.();
    await change(key, (run) => {
      const ctx = context();
      return asOfTimer(run, ctx, time.isCounted(ctx.monotonic));
    });
    retryWaits.forget(key);
  } catch (error) {
    reconcileAfter(key, retryWaits.afterFailure({ run: key, error }, NOT_RECONCILED));
  }
}

function changesBy(transactIf: (mustHold: boolean) => Transact): RunChanges {
  const [transact, transactAnywhere] = [transactIf(true), transactIf(false)];
  return {
    transact,
    transactAnywhere,
    change: changeBy(transact),
    changeAnywhere: changeBy(transactAnywhere),
  };
}

const changeBy =
  (transact: Transact): Change =>
  async (key, apply) =>
    (await transact(key, (run) => withoutValue(apply(run))))?.run ?? null;

type SaveResult<Value> = {
  readonly run: Run;
  readonly value: Value;
  /** "passed-on": saved for the process that holds the run. "unchanged": there was nothing to save. */
  readonly saved: "saved" | "passed-on" | "unchanged";
};

const withoutValue = (applied: ReturnType<Parameters<Change>[1]>): Applied<null> =>
  "sideWrites" in applied ? { ...applied, value: null } : { run: applied, value: null };

/** `mustHold`: nothing is saved unless this process holds the run's lease. */
type SaveRequest<Value> = {
  readonly apply: (run: Run) => Applied<Value>;
  readonly mustHold: boolean;
};

/** The runs as this process last wrote them. */
type LastWritten = Map<RunKey, StoredRun>;

/**
 * Saves changes of one run one after the other. While effects of the run are in progress, a change starts from what the last change
 * wrote, without loading the run. If another writer has changed the row, the store refuses the save, and the run is loaded after all. A
 * change that must hold the run also settles its marks.
 */
function createSaver(deps: Omit<SaverDeps, "lastWritten">, { saveSettled }: MarkSettling) {
  const inTurn = createKeyedLock();
  const lastWritten: LastWritten = new Map();
  const saveInTurn = <Value>(key: RunKey, request: SaveRequest<Value>) =>
    inTurn(key, () => saveChange({ ...deps, lastWritten }, key, request));
  return {
    save: <Value>(key: RunKey, { apply, mustHold }: SaveRequest<Value>) =>
      mustHold
        ? saveSettled(key, apply, (settled) => saveInTurn(key, { apply: settled, mustHold }))
        : saveInTurn(key, { apply, mustHold }),
    whenSaved: inTurn.whenFree,
    forgetLastWritten: (key: RunKey) => void lastWritten.delete(key),
  };
}

type SaverDeps = Pick<Deps, "store" | "clock" | "context" | "time"> & { readonly lastWritten: LastWritten };

async function saveChange<Value>(
  { store, clock, context, time, lastWritten }: SaverDeps,
  key: RunKey,
  { apply, mustHold }: SaveRequest<Value>,
): Promise<SaveResult<Value> | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = lastWritten.get(key) ?? (await store.load(key));
    if (stored === null) return null;
    const { run: applied, value, sideWrites = {} } = apply(stored.run);
    const ctx = context();
    const next = beforeSave(applied, ctx, time.isCounted(ctx.monotonic));
    const limited = limitUncausedEntries(stored.run, next, auditOfChange(stored.run, next, ctx), ctx.now);
    const { run } = limited;
    const audit = [...(sideWrites.audit ?? []), ...limited.audit];
    if (run === stored.run && audit.length === 0) return { run, value, saved: "unchanged" };
    const finished = isFinished(run, ctx.monotonic);
    let savedRun = run;
    const afterAudit = (next: Run, places: readonly AuditPlace[]): Run =>
      (savedRun = withPlaces(next, audit, places));
    const onSaved = (next: StoredRun): void => void lastWritten.set(key, next);
    const facts = { ...sideWrites, audit, afterAudit, mustHold, finished, onSaved };
    lastWritten.delete(key);
    if (charsOf(run) > LONG_CHARS) await new Promise<void>((done) => clock.after(0, done));
    const saved = await store.save(stored, run, facts);
    if (saved === "saved" || saved === "passed-on") return { run: savedRun, value, saved };
    if (saved !== "lost") return null;
  }
  return null;
}

const charsOf = ({ approvals }: Run): number =>
  approvals.reduce((sum, { request }) => sum + shownChars(request), 0);
