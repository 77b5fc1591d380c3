// Carries out effects: waits for an effect's turn, makes sure it is still wanted, marks it, performs it, settles it.
// The same effect is never under way twice.

import pRetry from "p-retry";
import type { Context } from "../core/context.ts";
import { type Effect, effectKey, type Outcome } from "../core/effect.ts";
import type { RunKey } from "../core/ids.ts";
import { reconcile } from "../core/reconcile.ts";
import { findApproval, type Run, runId } from "../core/run.ts";
import { begin, settle } from "../core/settle.ts";
import { auditOf } from "./audit-effect.ts";
import type { Change } from "./change.ts";
import type { Clock } from "./clock.ts";
import type { FlowLog, FlowMetrics } from "./flow-log.ts";
import type { Perform } from "./perform.ts";
import { type AgentService, type Chat, PortError } from "./ports.ts";
import { takeIn } from "./take-in.ts";
import { pace } from "./urgency.ts";

export type Carry = {
  start(run: Run, effect: Effect, back: Back): void;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** The way back into the round: how to change the run, and how to have it looked after again. */
export type Back = { readonly change: Change; readonly again: (key: RunKey, afterMs: number) => void };

/** After a failure of our own (the database, a fault in this program) the effect is tried again this much later (ms). */
const AFTER_FAILURE_MS = 1_000;

type Deps = {
  agents: AgentService;
  chat: Chat;
  perform: Perform;
  context: () => Context;
  clock: Clock;
  log: FlowLog;
  metrics: FlowMetrics;
};

export function createCarry(deps: Deps): Carry {
  const underWay = new Map<string, Promise<void>>();
  let stopping = false;

  function start(run: Run, effect: Effect, back: Back): void {
    const id = `${run.key} ${effectKey(effect)}`;
    if (stopping || underWay.has(id)) return;
    underWay.set(id, carryToEnd(id, run, effect, back));
  }

  async function carryToEnd(id: string, run: Run, effect: Effect, back: Back): Promise<void> {
    let afterMs = 0;
    try {
      await carryOut(deps, run, effect, { ...back, stopping: () => stopping });
    } catch (error) {
      deps.log.error(
        { run: run.key, effect: effectKey(effect), error },
        "an effect could not be carried out",
      );
      afterMs = AFTER_FAILURE_MS;
    }
    underWay.delete(id);
    back.again(run.key, afterMs);
  }

  async function stop(ms: number): Promise<void> {
    stopping = true;
    const late = new Promise<void>((resolve) => void deps.clock.after(ms, resolve));
    await Promise.race([Promise.allSettled(underWay.values()), late]);
  }

  return { start, stop };
}

type Way = Back & { readonly stopping: () => boolean };

async function carryOut(deps: Deps, run: Run, effect: Effect, way: Way): Promise<void> {
  const { clock, chat, log, metrics } = deps;
  const turn = pace(run, effect);
  if (turn !== null) await chat.turn(turn);
  if (way.stopping()) return;
  if (effect.do === "send-decision" && !(await lookBefore(deps, run, effect, way))) return;
  const marked = await mark(run.key, effect, clock, way);
  if (marked === null) return;
  const outcome = await deps.perform(marked, effect);
  const ids = { run: run.key, runId: runId(run), effect: effectKey(effect), outcome: outcome.is };
  if (outcome.is === "unsure" || outcome.is === "refused")
    log.warn({ ...ids, why: whyOf(outcome) }, "effect settled");
  else log.info(ids, "effect settled");
  metrics.effect(effect.do, outcome.is);
  countDecision(metrics, marked, effect, outcome);
  await keepTrying(async () => {
    try {
      await settled(deps, run.key, effect, { outcome, way });
    } catch (error) {
      if (!(error instanceof PortError) || error.code !== "run_id_taken") throw error;
      await settled(deps, run.key, effect, { outcome: TAKEN, way });
    }
  }, way);
}

function countDecision(metrics: FlowMetrics, run: Run, effect: Effect, outcome: Outcome): void {
  const state = effect.do === "send-decision" ? findApproval(run, effect.approval)?.state : null;
  if (state?.is === "decided") metrics.decision(state.decision.verdict, outcome.is);
}

/** Marks the effect in the store before its first byte leaves. Null: it is not wanted any more, or the run is not ours. */
async function mark(key: RunKey, effect: Effect, clock: Clock, way: Way): Promise<Run | null> {
  const wanted = (run: Run): boolean =>
    reconcile(run, clock.now()).effects.some((each) => effectKey(each) === effectKey(effect));
  let begun: Run | null = null;
  const saved = await way.change(key, (run) => {
    begun = wanted(run) ? begin(run, effect, clock.now()) : null;
    return begun === null
      ? run
      : { run: begun, alongside: { audit: auditOf(begun, effect, null, clock.now()) } };
  });
  return saved === null ? null : begun;
}

/** The request is read and compared once more just before a decision goes out. False: it does not go now. */
async function lookBefore(deps: Deps, run: Run, effect: Effect, way: Way): Promise<boolean> {
  const id = runId(run);
  if (id === null) return false;
  try {
    const look = await deps.agents.look(id);
    await way.change(run.key, (newest) => takeIn(newest, look, deps.context()));
    return true;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    // Reading never applies anything, so whatever happened to it the decision has not left.
    const outcome: Outcome = { is: "later", afterMs: error.retryAfterMs, why: error.message };
    await settled(deps, run.key, effect, { outcome, way });
    return false;
  }
}

/** A run we created is watched by somebody who was quicker: one run has one thread. */
const TAKEN: Outcome = {
  is: "refused",
  words: "the run was started, and somebody watches it in another thread already",
};

async function settled(
  deps: Deps,
  key: RunKey,
  effect: Effect,
  { outcome, way }: { outcome: Outcome; way: Way },
): Promise<void> {
  await way.change(key, (run) => {
    const next = settle(run, effect, outcome, deps.context());
    return { run: next, alongside: { audit: auditOf(run, effect, outcome, deps.clock.now()) } };
  });
}

/** What happened must reach the store: until it does, a restart would have to call it unsure. */
async function keepTrying(save: () => Promise<void>, way: Way): Promise<void> {
  await pRetry(save, {
    retries: Number.POSITIVE_INFINITY,
    minTimeout: 200,
    maxTimeout: 5_000,
    shouldRetry: ({ error }) => error instanceof PortError && error.retry === "later" && !way.stopping(),
  });
}

function whyOf(outcome: Outcome): string {
  return outcome.is === "refused" ? outcome.words : outcome.is === "unsure" ? outcome.why : "";
}
