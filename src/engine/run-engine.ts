// The road that every command, click and tick takes: change what is remembered, compare, do the difference.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► settle, save ─┐
//      ▲                                                                                                    │
//      └────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other; its effects happen side by side, so a slow POST blocks nothing.

import type { AuditMark } from "../domain/audit/hash-chain.ts";
import type { Context } from "../domain/context.ts";
import type { Effect } from "../domain/effect.ts";
import { expire } from "../domain/expire.ts";
import type { RunKey } from "../domain/ids.ts";
import { isFinished, type Plan, reconcile } from "../domain/reconcile.ts";
import type { Run } from "../domain/run.ts";
import { recover } from "../domain/apply-outcome.ts";
import { auditOfChange, withMarks } from "../audit/run-diff.ts";
import { capUndecidedEntries } from "../audit/cap-entries.ts";
import type { EffectExecutor } from "./effect-executor.ts";
import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import type { Applied, Change, Transact } from "./change.ts";

export type RunEngine = {
  readonly transact: Transact;
  readonly change: Change;
  /** A run just claimed or inserted: marks left by a dead process become questions, then it is reconciled. */
  resume(stored: StoredRun): Promise<void>;
  /** Hears of every run whenever it is compared with the world. */
  onPlan(listener: (run: Run, plan: Plan) => void): void;
  /** Takes up no new work and waits until all that is under way is settled, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** A run that another process keeps changing under us is given up on after this many tries. */
const MAX_CLASHES = 50;
/** After a failure of our own (the database, a fault in this program) the run is looked at again this much later (ms). */
const AFTER_FAILURE_MS = 1_000;

type Deps = {
  store: RunStore;
  context: () => Context;
  clock: Clock;
  log: EventLog;
  executor: EffectExecutor;
};

export function createRunEngine({ store, context, clock, log, executor }: Deps): RunEngine {
  const save = createSaver(store);
  const alarms = createAlarms(clock);
  const listeners: ((run: Run, plan: Plan) => void)[] = [];
  const debts = createLostEffects(executor, context);
  const again = (key: RunKey, afterMs: number): void => alarms.set(key, afterMs, () => void wake(key));

  function compare(run: Run): void {
    alarms.clear(run.key);
    const plan = reconcile(run, clock.monotonic());
    for (const effect of plan.effects) executor.start(run, effect, { transact, change, again });
    if (plan.wakeAt !== null) again(run.key, plan.wakeAt - clock.monotonic());
    for (const listener of listeners) listener(run, plan);
  }

  /** Looks after a run although nothing happened to it; when the store fails it is tried again. */
  async function wake(key: RunKey): Promise<void> {
    try {
      await change(key, (run) => expire(run, context()));
    } catch (error) {
      log.error({ run: key, error }, "could not look after a run; trying again");
      again(key, AFTER_FAILURE_MS);
    }
  }

  const transact: Transact = async (key, apply, { mustHold = true } = {}) => {
    const done = await save(key, { apply: debts.paidBy(key, apply), mustHold, context });
    if (done === null) return null;
    debts.paid(key);
    compare(done.run);
    return done;
  };
  const change = changeBy(transact);

  async function resume({ run }: StoredRun): Promise<void> {
    if (recover(run, context()) === run) return compare(run);
    debts.owe(run.key);
    await wake(run.key);
  }

  async function stop(ms: number): Promise<void> {
    alarms.stop();
    await executor.stop(ms);
  }

  return { transact, change, resume, onPlan: (listener) => void listeners.push(listener), stop };
}

const changeBy =
  (transact: Transact): Change =>
  async (key, apply, options) =>
    (await transact(key, (run) => withoutValue(apply(run)), options))?.run ?? null;

type LostEffects = {
  owe(key: RunKey): void;
  paidBy<Value>(key: RunKey, apply: Apply<Value>): Apply<Value>;
  paid(key: RunKey): void;
};

/**
 * What a dead process left behind is owed until it is settled: whichever change of the run is saved first settles it. What this
 * very process has under way was not lost, and is left alone.
 */
function createLostEffects(executor: EffectExecutor, context: () => Context): LostEffects {
  const owed = new Set<RunKey>();
  const settledFirst = <Value>(key: RunKey, apply: Apply<Value>): Apply<Value> => {
    const mine = (effect: Effect): boolean => executor.isUnderWay(key, effect);
    return (run) => apply(recover(run, context(), mine));
  };
  return {
    owe: (key) => void owed.add(key),
    paidBy: (key, apply) => (owed.has(key) ? settledFirst(key, apply) : apply),
    paid: (key) => void owed.delete(key),
  };
}

type Apply<Value> = (run: Run) => Applied<Value>;
type Changing<Value> = { apply: Apply<Value>; mustHold: boolean; context: () => Context };

const withoutValue = (applied: ReturnType<Parameters<Change>[1]>): Applied<null> =>
  "sideWrites" in applied ? { ...applied, value: null } : { run: applied, value: null };

/** Changes of one run happen one after the other. */
function createSaver(store: RunStore) {
  const inTurn = createKeyedLock();
  return <Value>(key: RunKey, changing: Changing<Value>) =>
    inTurn(key, () => saveChange(store, key, changing));
}

async function saveChange<Value>(
  store: RunStore,
  key: RunKey,
  { apply, mustHold, context }: Changing<Value>,
): Promise<{ readonly run: Run; readonly value: Value } | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = await store.load(key);
    if (stored === null) return null;
    const { run: next, value, sideWrites = {} } = apply(stored.run);
    const ctx = context();
    const capped = capUndecidedEntries(stored.run, next, auditOfChange(stored.run, next, ctx), ctx.now);
    const { run } = capped;
    const audit = [...(sideWrites.audit ?? []), ...capped.audit];
    if (run === stored.run && audit.length === 0) return { run, value };
    const finished = isFinished(run, ctx.monotonic);
    let kept = run;
    const afterAudit = (next: Run, marks: readonly AuditMark[]): Run =>
      (kept = withMarks(next, audit, marks));
    const facts = { ...sideWrites, audit, afterAudit, mustHold, finished };
    if ((await store.save(stored, run, facts)) === "saved") return { run: kept, value };
  }
  return null;
}

/** Makes acts with the same key wait for each other, in the order they came. */
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

/** One alarm per key; setting it anew replaces it. */
export type Alarms = {
  set(key: string, ms: number, what: () => void): void;
  clear(key: string): void;
  /** No alarm rings any more, nor can one be set. */
  stop(): void;
};

export function createAlarms(clock: Clock): Alarms {
  const cancels = new Map<string, () => void>();
  let stopped = false;
  function clear(key: string): void {
    cancels.get(key)?.();
    cancels.delete(key);
  }
  function set(key: string, ms: number, what: () => void): void {
    clear(key);
    if (stopped) return;
    const ring = (): void => {
      cancels.delete(key);
      what();
    };
    cancels.set(key, clock.after(Math.max(ms, 0), ring));
  }
  function stop(): void {
    stopped = true;
    for (const key of cancels.keys()) clear(key);
  }
  return { set, clear, stop };
}
