// The path of every command, click and timer: change the stored run, reconcile it, and execute the effects that it still needs.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► outcome, save ─┐
//      ▲                                                                                                     │
//      └─────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other. Its effects happen in parallel, so a slow POST blocks nothing.

import { auditOfChange, limitUndecidedEntries, withMarks } from "../audit/run-diff.ts";
import { recover } from "../domain/apply-outcome.ts";
import { applyBrake } from "../domain/brake.ts";
import { lapseClaims } from "../domain/handling.ts";
import { applyDigest } from "../domain/storm.ts";
import type { AuditMark } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import { applyPolicy } from "../domain/applied-rule.ts";
import { expire, withdrawSurplusVotes } from "../domain/decide.ts";
import type { Effect } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import { applyFollowUp } from "../domain/follow-up-due.ts";
import { isFinished, type Plan, reconcile } from "../domain/reconcile.ts";
import type { Run } from "../domain/run.ts";
import { shownChars } from "../domain/text/request-text.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import type { Applied, Change, Transact } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import { createDelayedWork, type DelayedWork } from "./background-work.ts";
import { AFTER_FAILURE_MS, type EffectExecutor } from "./effect-executor.ts";
import { createHeldRuns, type HeldRuns, type HeldShards } from "./held-runs.ts";

export type RunEngine = HeldShards & {
  readonly shardsSending: EffectExecutor["shardsSending"];
  readonly transact: Transact;
  readonly change: Change;
  /** Follows a run that was just claimed or inserted: settles the marks of a dead process (`recover`), then reconciles the run. */
  resume(stored: StoredRun): Promise<void>;
  /** For a run whose insert was not answered: if the run is stored, this process follows it as soon as the store answers. */
  followIfStored(key: RunKey): void;
  /** Calls the listener with every run that is reconciled. */
  onPlan(listener: (run: Run, plan: Plan) => void): void;
  /** Accepts no new work and waits at most `ms` until work in progress is settled. */
  stop(ms: number): Promise<void>;
};

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
};

export function createRunEngine(deps: Deps): RunEngine {
  const { store, context, clock, executor } = deps;
  const { save, forgetLastWritten } = createSaver(store, clock);
  const delayed = createDelayedWork(clock);
  const listeners: ((run: Run, plan: Plan) => void)[] = [];
  const { settleLater, saveSettled } = createUnsettledMarks(executor, context);
  const { holdRun, holdsRun, ...shards } = createHeldRuns();
  const reconcileAfter: ReconcileAfter = (key, afterMs) =>
    delayed.run(key, afterMs, () => wake(deps, change, key, reconcileAfter));
  shards.onDrop((key) => (delayed.cancel(key), forgetLastWritten(key)));

  const startEffects = retryAfterFault(deps, reconcileAfter, (run) => {
    delayed.cancel(run.key);
    const plan = reconcile(run, clock.monotonic());
    const handle = { transact, change, reconcileAfter, settleLater, onIdle: forgetLastWritten, ...shards };
    for (const effect of plan.effects) executor.start(run, effect, handle);
    if (plan.wakeAt !== null) reconcileAfter(run.key, plan.wakeAt - clock.monotonic());
    for (const listener of listeners) listener(run, plan);
  });

  const transact: Transact = async (key, apply, { mustHold = true } = {}) => {
    const saving = saveSettled(key, apply, (apply) => save(key, { apply, mustHold, context }));
    const result = await wakeIfUnanswered(saving, () => reconcileAfter(key, AFTER_FAILURE_MS));
    if (result !== null && isHeldAfter(result, { holdRun, holdsRun })) startEffects(result.run);
    if (!executor.isBusy(key)) forgetLastWritten(key);
    return result;
  };
  const change = changeBy(transact);

  async function resume({ run }: StoredRun): Promise<void> {
    const wasHeld = holdsRun(run);
    if (!holdRun(run)) return;
    // Another process has saved a run that we hold, so the version that this process wrote last is outdated.
    if (wasHeld) forgetLastWritten(run.key);
    else if (recover(run, context()) === run) return startEffects(run);
    else settleLater(run.key);
    await wake(deps, change, run.key, reconcileAfter);
  }

  const followIfStored = followerOf(deps, resume, delayed);
  const onPlan: RunEngine["onPlan"] = (listener) => void listeners.push(listener);
  const stop = async (ms: number) => void (await Promise.all([delayed.stop(ms), executor.stop(ms)]));
  const { shardsSending } = executor;
  return { ...shards, transact, change, resume, followIfStored, onPlan, stop, shardsSending };
}

/** Holds the run if this process saved the change itself. Returns whether this process holds the run. */
function isHeldAfter(
  { run, saved }: SaveResult<unknown>,
  { holdRun, holdsRun }: Pick<HeldRuns, "holdRun" | "holdsRun">,
): boolean {
  if (saved === "saved") return holdRun(run);
  return holdsRun(run);
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

/** If the answer to a commit was lost, the run is reconciled soon, which shows what was stored. Rejects as `saving` does. */
async function wakeIfUnanswered<Result>(saving: Promise<Result>, wake: () => void): Promise<Result> {
  try {
    return await saving;
  } catch (error) {
    if (error instanceof PortError && error.applied === "maybe") wake();
    throw error;
  }
}

type ReconcileAfter = (key: RunKey, afterMs: number) => void;

/** Applies what time has changed and reconciles the run. Tries again later if the store fails. Never rejects. */
async function wake(
  { context, log }: Deps,
  change: Change,
  key: RunKey,
  reconcileAfter: ReconcileAfter,
): Promise<void> {
  try {
    await change(key, (run) => {
      const ctx = context();
      return expire(applyPolicy(lapseClaims(run, ctx), ctx), ctx);
    });
  } catch (error) {
    log.error({ run: key, error }, NOT_RECONCILED);
    reconcileAfter(key, AFTER_FAILURE_MS);
  }
}

/** Returns the function that loads a run, again and again until the store answers, and then follows it. */
function followerOf(
  { store, log }: Deps,
  resume: RunEngine["resume"],
  delayed: DelayedWork,
): (key: RunKey) => void {
  const loadAndResume = async (key: RunKey): Promise<void> => {
    try {
      const stored = await store.load(key);
      if (stored !== null) await resume(stored);
    } catch (error) {
      log.error({ run: key, error }, "could not look for a run that may be stored; trying again");
      follow(key);
    }
  };
  const follow = (key: RunKey): void => delayed.run(key, AFTER_FAILURE_MS, () => loadAndResume(key));
  return follow;
}

const changeBy =
  (transact: Transact): Change =>
  async (key, apply, options) =>
    (await transact(key, (run) => withoutValue(apply(run)), options))?.run ?? null;

type UnsettledMarks = {
  readonly settleLater: (key: RunKey) => void;
  /** Saves the change. If the run has marks to settle, they are settled in the same save. */
  readonly saveSettled: <Value, Result>(
    key: RunKey,
    apply: Apply<Value>,
    save: (apply: Apply<Value>) => Promise<Result | null>,
  ) => Promise<Result | null>;
};

/**
 * Remembers the runs with marks of a dead process, or of an effect whose failure could not be stored. The first saved change of such a
 * run settles these marks. The marks of effects that this process is still executing stay as they are.
 */
function createUnsettledMarks(executor: EffectExecutor, context: () => Context): UnsettledMarks {
  const unsettled = new Set<RunKey>();
  const settledFirst = <Value>(key: RunKey, apply: Apply<Value>): Apply<Value> => {
    const isUnderWay = (effect: Effect): boolean => executor.isUnderWay(key, effect);
    return (run) => apply(recover(run, context(), isUnderWay));
  };
  return {
    settleLater: (key) => void unsettled.add(key),
    async saveSettled(key, apply, save) {
      const result = await save(unsettled.has(key) ? settledFirst(key, apply) : apply);
      if (result !== null) unsettled.delete(key);
      return result;
    },
  };
}

type Apply<Value> = (run: Run) => Applied<Value>;
type SaveResult<Value> = {
  readonly run: Run;
  readonly value: Value;
  /** "passed-on": saved for the process that holds the run. "unchanged": there was nothing to save. */
  readonly saved: "saved" | "passed-on" | "unchanged";
};
type SaveRequest<Value> = { apply: Apply<Value>; mustHold: boolean; context: () => Context };

const withoutValue = (applied: ReturnType<Parameters<Change>[1]>): Applied<null> =>
  "sideWrites" in applied ? { ...applied, value: null } : { run: applied, value: null };

/** The runs as this process last wrote them. */
type LastWritten = Map<RunKey, StoredRun>;

/**
 * Saves changes of one run one after the other. While effects of the run are in progress, a change starts from what the last change
 * wrote, without loading the run. If another writer has changed the row, the store refuses the save, and the run is loaded after all.
 */
function createSaver(store: RunStore, clock: Clock) {
  const inTurn = createKeyedLock();
  const lastWritten: LastWritten = new Map();
  return {
    save: <Value>(key: RunKey, request: SaveRequest<Value>) =>
      inTurn(key, () => saveChange({ store, clock, lastWritten }, key, request)),
    forgetLastWritten: (key: RunKey) => void lastWritten.delete(key),
  };
}

type SaverDeps = { readonly store: RunStore; readonly clock: Clock; readonly lastWritten: LastWritten };

async function saveChange<Value>(
  { store, clock, lastWritten }: SaverDeps,
  key: RunKey,
  { apply, mustHold, context }: SaveRequest<Value>,
): Promise<SaveResult<Value> | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = lastWritten.get(key) ?? (await store.load(key));
    if (stored === null) return null;
    const { run: applied, value, sideWrites = {} } = apply(stored.run);
    const ctx = context();
    const next = applyDigest(applyFollowUp(withdrawSurplusVotes(applyBrake(applied, ctx), ctx), ctx));
    const limited = limitUndecidedEntries(stored.run, next, auditOfChange(stored.run, next, ctx), ctx.now);
    const { run } = limited;
    const audit = [...(sideWrites.audit ?? []), ...limited.audit];
    if (run === stored.run && audit.length === 0) return { run, value, saved: "unchanged" };
    const finished = isFinished(run, ctx.monotonic);
    let savedRun = run;
    const afterAudit = (next: Run, marks: readonly AuditMark[]): Run =>
      (savedRun = withMarks(next, audit, marks));
    const onSaved = (next: StoredRun): void => void lastWritten.set(key, next);
    const facts = { ...sideWrites, audit, afterAudit, mustHold, finished, onSaved };
    lastWritten.delete(key);
    if (charsOf(run) > LONG_CHARS) await new Promise<void>((done) => clock.after(0, done));
    const saved = await store.save(stored, run, facts);
    if (saved === "not-held" || saved === "frozen") return null;
    if (saved !== "lost") return { run: savedRun, value, saved };
  }
  return null;
}

const charsOf = ({ approvals }: Run): number =>
  approvals.reduce((sum, { request }) => sum + shownChars(request), 0);

/** Runs acts with the same key one after the other, in the order of their calls. */
export function createKeyedLock(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, act) => {
    const previous = tails.get(key) ?? Promise.resolve();
    const result = previous.then(act, act);
    const tail = result.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await result;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
