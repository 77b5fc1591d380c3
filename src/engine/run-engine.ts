// The path of every command, click and tick: change the stored run, reconcile, execute the difference.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► outcome, save ─┐
//      ▲                                                                                                     │
//      └─────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other; its effects happen in parallel, so a slow POST blocks nothing.

import { auditOfChange, capUndecidedEntries, withMarks } from "../audit/run-diff.ts";
import { recover } from "../domain/apply-outcome.ts";
import { applyBrake } from "../domain/brake.ts";
import { lapseClaims } from "../domain/handling.ts";
import { applyDigest } from "../domain/storm.ts";
import type { AuditMark } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import { applyPolicy } from "../domain/applied-rule.ts";
import { expire } from "../domain/decide.ts";
import type { Effect } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import { applyFollowUp } from "../domain/follow-up-due.ts";
import { isFinished, type Plan, reconcile } from "../domain/reconcile.ts";
import type { Run } from "../domain/run.ts";
import { shownChars } from "../domain/text/request-text.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import type { Applied, Change, Transact } from "./change-runs.ts";
import { type Alarms, type Clock, createAlarms, endedWithin } from "./clock.ts";
import { AFTER_FAILURE_MS, type EffectExecutor } from "./effect-executor.ts";
import { createHeldRuns, type HeldShards } from "./held-runs.ts";

export type RunEngine = HeldShards & {
  readonly shardsSending: EffectExecutor["shardsSending"];
  readonly transact: Transact;
  readonly change: Change;
  /** For a run just claimed or inserted: settles the marks of a dead process (`recover`), then reconciles the run. */
  resume(stored: StoredRun): Promise<void>;
  /** The answer to its insert was lost: if the run is stored, this process follows it as soon as the store answers. */
  followIfStored(key: RunKey): void;
  /** Calls the listener with every run that is reconciled. */
  onPlan(listener: (run: Run, plan: Plan) => void): void;
  /** Accepts no new work and waits until work in progress is settled, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** How often a change is tried when another process keeps changing the run. */
const MAX_CLASHES = 50;
/** Comparing and writing requests of so many characters take tens of milliseconds each, so a click may come between them. */
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
  const { save, drop } = createSaver(store, clock);
  const alarms = createAlarms(clock);
  const listeners: ((run: Run, plan: Plan) => void)[] = [];
  const { settleLater, saveSettled } = createUnsettledMarks(executor, context);
  const { hold, has, ...shards } = createHeldRuns();
  const waking = new Set<Promise<void>>();
  const later: Later = (key, afterMs, act) => alarms.set(key, afterMs, () => track(waking, act()));
  const again: Again = (key, afterMs) => later(key, afterMs, () => wake(deps, change, key, again));
  shards.onDrop((key) => (alarms.clear(key), drop(key)));

  const compare = retryAfterFault(deps, again, (run) => {
    alarms.clear(run.key);
    const plan = reconcile(run, clock.monotonic());
    for (const effect of plan.effects)
      executor.start(run, effect, { transact, change, again, settleLater, onIdle: drop, ...shards });
    if (plan.wakeAt !== null) again(run.key, plan.wakeAt - clock.monotonic());
    for (const listener of listeners) listener(run, plan);
  });

  const transact: Transact = async (key, apply, { mustHold = true } = {}) => {
    const saved = saveSettled(key, apply, (apply) => save(key, { apply, mustHold, context }));
    const done = await wokenIfLost(saved, () => again(key, AFTER_FAILURE_MS));
    if (done !== null && (done.saved === "saved" ? hold(done.run) : has(done.run))) compare(done.run);
    if (!executor.isBusy(key)) drop(key);
    return done;
  };
  const change = changeBy(transact);

  async function resume({ run }: StoredRun): Promise<void> {
    const known = has(run);
    if (!hold(run)) return;
    // Another process has saved it, so what this one wrote last is not the newest.
    if (known) drop(run.key);
    else if (recover(run, context()) === run) return compare(run);
    else settleLater(run.key);
    await wake(deps, change, run.key, again);
  }

  const stop = (ms: number): Promise<void> => stopAll({ alarms, executor, clock, waking }, ms);
  const onPlan: RunEngine["onPlan"] = (listener) => void listeners.push(listener);
  const own = { transact, change, resume, followIfStored: followerOf(deps, resume, later), onPlan, stop };
  return { ...own, ...shards, shardsSending: executor.shardsSending };
}

/** A fault in Countersign holds up this run only. The change is stored already, so the run is reconciled again later. */
function retryAfterFault({ log }: Deps, again: Again, compare: (run: Run) => void): (run: Run) => void {
  return (run) => {
    try {
      compare(run);
    } catch (error) {
      log.error({ run: run.key, error }, NOT_RECONCILED);
      again(run.key, AFTER_FAILURE_MS);
    }
  };
}

/** The answer to a commit was lost: what the run is now, and needs, is found out soon. */
async function wokenIfLost<Done>(saved: Promise<Done>, wake: () => void): Promise<Done> {
  try {
    return await saved;
  } catch (error) {
    if (error instanceof PortError && error.applied === "maybe") wake();
    throw error;
  }
}

type Stopping = Pick<Deps, "executor" | "clock"> & {
  readonly alarms: Alarms;
  readonly waking: ReadonlySet<Promise<void>>;
};

async function stopAll({ alarms, executor, clock, waking }: Stopping, ms: number): Promise<void> {
  alarms.stop();
  await Promise.all([executor.stop(ms), endedWithin(clock, ms, waking)]);
}

/** The work is in the set until it has ended. */
function track(set: Set<Promise<void>>, work: Promise<void>): void {
  const tracked = work.finally(() => set.delete(tracked));
  set.add(tracked);
}

type Later = (key: RunKey, afterMs: number, act: () => Promise<void>) => void;
type Again = (key: RunKey, afterMs: number) => void;

/** Reconciles a run although nothing happened to it; tries again when the store fails. */
async function wake({ context, log }: Deps, change: Change, key: RunKey, again: Again): Promise<void> {
  try {
    await change(key, (run) => {
      const ctx = context();
      return expire(applyPolicy(lapseClaims(run, ctx), ctx), ctx);
    });
  } catch (error) {
    log.error({ run: key, error }, NOT_RECONCILED);
    again(key, AFTER_FAILURE_MS);
  }
}

/** Looks for the run until the store answers. */
function followerOf({ store, log }: Deps, resume: RunEngine["resume"], later: Later): (key: RunKey) => void {
  const look = async (key: RunKey): Promise<void> => {
    try {
      const stored = await store.load(key);
      if (stored !== null) await resume(stored);
    } catch (error) {
      log.error({ run: key, error }, "could not look for a run that may be stored; trying again");
      follow(key);
    }
  };
  const follow = (key: RunKey): void => later(key, AFTER_FAILURE_MS, () => look(key));
  return follow;
}

const changeBy =
  (transact: Transact): Change =>
  async (key, apply, options) =>
    (await transact(key, (run) => withoutValue(apply(run)), options))?.run ?? null;

type UnsettledMarks = {
  readonly settleLater: (key: RunKey) => void;
  /** Saves the change, and the settled marks with it. */
  readonly saveSettled: <Value, Done>(
    key: RunKey,
    apply: Apply<Value>,
    save: (apply: Apply<Value>) => Promise<Done | null>,
  ) => Promise<Done | null>;
};

/**
 * The marks of a dead process, and of an effect whose failure could not be stored: the first change of the run that is saved settles
 * them. Effects that this process is executing were not lost, and are left alone.
 */
function createUnsettledMarks(executor: EffectExecutor, context: () => Context): UnsettledMarks {
  const unsettled = new Set<RunKey>();
  const settledFirst = <Value>(key: RunKey, apply: Apply<Value>): Apply<Value> => {
    const mine = (effect: Effect): boolean => executor.isUnderWay(key, effect);
    return (run) => apply(recover(run, context(), mine));
  };
  return {
    settleLater: (key) => void unsettled.add(key),
    async saveSettled(key, apply, save) {
      const done = await save(unsettled.has(key) ? settledFirst(key, apply) : apply);
      if (done !== null) unsettled.delete(key);
      return done;
    },
  };
}

type Apply<Value> = (run: Run) => Applied<Value>;
/** `saved`: by this process for itself, for the process that looks after the run, or not at all. */
type Done<Value> = {
  readonly run: Run;
  readonly value: Value;
  readonly saved: "saved" | "passed-on" | "unchanged";
};
type Changing<Value> = { apply: Apply<Value>; mustHold: boolean; context: () => Context };

const withoutValue = (applied: ReturnType<Parameters<Change>[1]>): Applied<null> =>
  "sideWrites" in applied ? { ...applied, value: null } : { run: applied, value: null };

type Written = Map<RunKey, StoredRun>;

/**
 * Changes of one run happen one after the other. While effects of the run are under way, the next change starts from what the last one
 * wrote, without loading it: the save is refused when someone else changed the row, and then the run is loaded after all.
 */
function createSaver(store: RunStore, clock: Clock) {
  const inTurn = createKeyedLock();
  const written: Written = new Map();
  return {
    save: <Value>(key: RunKey, changing: Changing<Value>) =>
      inTurn(key, () => saveChange({ store, clock, written }, key, changing)),
    drop: (key: RunKey) => void written.delete(key),
  };
}

async function saveChange<Value>(
  { store, clock, written }: { readonly store: RunStore; readonly clock: Clock; readonly written: Written },
  key: RunKey,
  { apply, mustHold, context }: Changing<Value>,
): Promise<Done<Value> | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = written.get(key) ?? (await store.load(key));
    if (stored === null) return null;
    const { run: applied, value, sideWrites = {} } = apply(stored.run);
    const ctx = context();
    const next = applyDigest(applyFollowUp(applyBrake(applied, ctx), ctx));
    const capped = capUndecidedEntries(stored.run, next, auditOfChange(stored.run, next, ctx), ctx.now);
    const { run } = capped;
    const audit = [...(sideWrites.audit ?? []), ...capped.audit];
    if (run === stored.run && audit.length === 0) return { run, value, saved: "unchanged" };
    const finished = isFinished(run, ctx.monotonic);
    let kept = run;
    const afterAudit = (next: Run, marks: readonly AuditMark[]): Run =>
      (kept = withMarks(next, audit, marks));
    const onSaved = (next: StoredRun): void => void written.set(key, next);
    const facts = { ...sideWrites, audit, afterAudit, mustHold, finished, onSaved };
    written.delete(key);
    if (charsOf(run) > LONG_CHARS) await new Promise<void>((done) => clock.after(0, done));
    const saved = await store.save(stored, run, facts);
    if (saved === "not-held" || saved === "frozen") return null;
    if (saved !== "lost") return { run: kept, value, saved };
  }
  return null;
}

const charsOf = ({ approvals }: Run): number =>
  approvals.reduce((sum, { request }) => sum + shownChars(request), 0);

/** Runs acts with the same key one after the other, in the order of their calls. */
export function createKeyedLock(): <T>(key: string, act: () => Promise<T>) => Promise<T> {
  const tails = new Map<string, Promise<unknown>>();
  return async (key, act) => {
    const before = tails.get(key) ?? Promise.resolve();
    const mine = before.then(act, act);
    const tail = mine.catch(() => undefined);
    tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (tails.get(key) === tail) tails.delete(key);
    }
  };
}
