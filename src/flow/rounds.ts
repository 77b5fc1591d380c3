// The road that every command, click and tick takes: change what is remembered, compare, do the difference.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► settle, save ─┐
//      ▲                                                                                                    │
//      └────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other; its effects happen side by side, so a slow POST blocks nothing.

import type { AuditMark } from "../core/audit-chain.ts";
import type { Context } from "../core/context.ts";
import type { Effect } from "../core/effect.ts";
import { expire } from "../core/expire.ts";
import type { RunKey } from "../core/ids.ts";
import { isFinished, type Plan, reconcile } from "../core/reconcile.ts";
import type { Run } from "../core/run.ts";
import { recover } from "../core/recover.ts";
import { auditOfChange, withMarks } from "./audit-effect.ts";
import { capUntouched } from "./audit-untouched.ts";
import { createAlarms } from "./alarms.ts";
import type { Carry } from "./carry-out.ts";
import type { Apply, Change } from "./change.ts";
import type { Clock } from "./clock.ts";
import type { FlowLog } from "./flow-log.ts";
import { createKeyedLock } from "./keyed-lock.ts";
import type { Store, Stored } from "./ports.ts";

export type Rounds = {
  readonly change: Change;
  /** A run just claimed or inserted: marks left by a dead process become questions, then it is reconciled. */
  take(stored: Stored): Promise<void>;
  /** Hears of every run whenever it is compared with the world. */
  onPlan(listener: (run: Run, plan: Plan) => void): void;
  /** Takes up no new work and waits until all that is under way is settled, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** A run that another process keeps changing under us is given up on after this many tries. */
const MAX_CLASHES = 50;
/** After a failure of our own (the database, a fault in this program) the run is looked at again this much later (ms). */
const AFTER_FAILURE_MS = 1_000;

type Deps = { store: Store; context: () => Context; clock: Clock; log: FlowLog; carry: Carry };

export function createRounds({ store, context, clock, log, carry }: Deps): Rounds {
  const inTurn = createKeyedLock();
  const alarms = createAlarms(clock);
  const listeners: ((run: Run, plan: Plan) => void)[] = [];
  const debts = createDebts(carry, context);

  function compare(run: Run): void {
    alarms.clear(run.key);
    const plan = reconcile(run, clock.monotonic());
    for (const effect of plan.effects) carry.start(run, effect, { change, again });
    if (plan.wakeAt !== null) again(run.key, plan.wakeAt - clock.monotonic());
    for (const listener of listeners) listener(run, plan);
  }

  const again = (key: RunKey, afterMs: number): void => alarms.set(key, afterMs, () => void touch(key));

  /** Looks after a run although nothing happened to it; when the store fails it is tried again. */
  async function touch(key: RunKey): Promise<void> {
    try {
      await change(key, (run) => expire(run, context()));
    } catch (error) {
      log.error({ run: key, error }, "could not look after a run; trying again");
      again(key, AFTER_FAILURE_MS);
    }
  }

  const change: Change = async (key, apply, { mustHold = true } = {}) => {
    const whole = debts.paidBy(key, apply);
    const changed = await inTurn(key, () => saveChange(store, key, { apply: whole, mustHold, context }));
    if (changed === null) return null;
    debts.paid(key);
    compare(changed);
    return changed;
  };

  async function take({ run }: Stored): Promise<void> {
    if (recover(run, context()) === run) return compare(run);
    debts.owe(run.key);
    await touch(run.key);
  }

  async function stop(ms: number): Promise<void> {
    alarms.stop();
    await carry.stop(ms);
  }

  return { change, take, onPlan: (listener) => void listeners.push(listener), stop };
}

type Debts = { owe(key: RunKey): void; paidBy(key: RunKey, apply: Apply): Apply; paid(key: RunKey): void };

/**
 * What a dead process left behind is owed until it is settled: whichever change of the run is saved first settles it. What this
 * very process has under way was not lost, and is left alone.
 */
function createDebts(carry: Carry, context: () => Context): Debts {
  const owed = new Set<RunKey>();
  const settledFirst = (key: RunKey, apply: Apply): Apply => {
    const mine = (effect: Effect): boolean => carry.isUnderWay(key, effect);
    return (run) => apply(recover(run, context(), mine));
  };
  return {
    owe: (key) => void owed.add(key),
    paidBy: (key, apply) => (owed.has(key) ? settledFirst(key, apply) : apply),
    paid: (key) => void owed.delete(key),
  };
}

type Changing = { apply: Apply; mustHold: boolean; context: () => Context };

async function saveChange(
  store: Store,
  key: RunKey,
  { apply, mustHold, context }: Changing,
): Promise<Run | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = await store.load(key);
    if (stored === null) return null;
    const applied = apply(stored.run);
    const { run: next, alongside } = "alongside" in applied ? applied : { run: applied, alongside: {} };
    const ctx = context();
    const capped = capUntouched(stored.run, next, auditOfChange(stored.run, next, ctx), ctx.now);
    const { run } = capped;
    const audit = [...(alongside.audit ?? []), ...capped.audit];
    if (run === stored.run && audit.length === 0) return run;
    const finished = isFinished(run, ctx.monotonic);
    let kept = run;
    const noted = (next: Run, marks: readonly AuditMark[]): Run => (kept = withMarks(next, audit, marks));
    const facts = { ...alongside, audit, noted, mustHold, finished };
    if ((await store.save(stored, run, facts)) === "saved") return kept;
  }
  return null;
}
