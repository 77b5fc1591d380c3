// The road that every command, click and tick takes: change what is remembered, compare, do the difference.
//
//   change ─► save ─► reconcile ─► each effect: wait for its turn ─► mark, save ─► perform ─► settle, save ─┐
//      ▲                                                                                                    │
//      └────────────────────────────────────────────────────────────────────────────────────────────────────┘
//
// Changes of one run happen one after the other; its effects happen side by side, so a slow POST blocks nothing.

import type { Context } from "../core/context.ts";
import type { RunKey } from "../core/ids.ts";
import { isFinished, type Plan, reconcile } from "../core/reconcile.ts";
import type { Run } from "../core/run.ts";
import { recover } from "../core/settle.ts";
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
  let stopping = false;

  function compare(run: Run): void {
    alarms.clear(run.key);
    if (stopping) return;
    const plan = reconcile(run, clock.now());
    for (const effect of plan.effects) carry.start(run, effect, { change, again });
    if (plan.wakeAt !== null) again(run.key, plan.wakeAt - clock.now());
    for (const listener of listeners) listener(run, plan);
  }

  function again(key: RunKey, afterMs: number): void {
    if (!stopping) alarms.set(key, afterMs, () => touch(key));
  }

  function touch(key: RunKey): void {
    change(key, (run) => run).catch((error: unknown) => {
      log.error({ run: key, error }, "could not look after a run; trying again");
      again(key, AFTER_FAILURE_MS);
    });
  }

  const change: Change = async (key, apply, { mustHold = true } = {}) => {
    const changed = await inTurn(key, () =>
      saveChange(store, key, { apply, mustHold, now: () => clock.now() }),
    );
    if (changed !== null) compare(changed);
    return changed;
  };

  async function take(stored: Stored): Promise<void> {
    if (recover(stored.run, context()) === stored.run) compare(stored.run);
    else await change(stored.run.key, (run) => recover(run, context()));
  }

  async function stop(ms: number): Promise<void> {
    stopping = true;
    alarms.clearAll();
    await carry.stop(ms);
  }

  return { change, take, onPlan: (listener) => void listeners.push(listener), stop };
}

type Changing = { apply: Apply; mustHold: boolean; now: () => number };

async function saveChange(
  store: Store,
  key: RunKey,
  { apply, mustHold, now }: Changing,
): Promise<Run | null> {
  for (let clash = 0; clash < MAX_CLASHES; clash += 1) {
    const stored = await store.load(key);
    if (stored === null) return null;
    const applied = apply(stored.run);
    const { run, alongside } = "alongside" in applied ? applied : { run: applied, alongside: {} };
    const nothing = run === stored.run && (alongside.audit ?? []).length === 0;
    if (nothing) return run;
    const finished = isFinished(run, now());
    if ((await store.save(stored, run, { ...alongside, mustHold, finished })) === "saved") return run;
  }
  return null;
}
