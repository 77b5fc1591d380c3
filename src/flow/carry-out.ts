// Carries out effects: waits for an effect's turn, makes sure it is still wanted, marks it, performs it, settles it.
// The same effect is never under way twice.

import { type Effect, effectKey, type Outcome } from "../core/effect.ts";
import type { RunKey } from "../core/ids.ts";
import { judge, STANDS } from "../core/judge.ts";
import { reconcile } from "../core/reconcile.ts";
import { findApproval, type Run, runId } from "../core/run.ts";
import { begin } from "../core/settle.ts";
import { auditOfSending } from "./audit-effect.ts";
import { beforeSending, type Leaves } from "./before-sending.ts";
import { decisionMark } from "./prove-decision.ts";
import { createSettling } from "./settling.ts";
import { pace } from "./urgency.ts";
import type { Back, CarryDeps, Way } from "./way.ts";

export type Carry = {
  start(run: Run, effect: Effect, back: Back): void;
  /** Has this process an effect of the run under way? */
  isUnderWay(key: RunKey, effect: Effect): boolean;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** After a failure of our own (the database, a lost lease, a fault in this program) the run waits this long (ms). */
const AFTER_FAILURE_MS = 1_000;

export function createCarry(deps: CarryDeps): Carry {
  const underWay = new Map<string, Promise<void>>();
  const busy = new Map<RunKey, number>();
  let stopping = false;
  const count = (key: RunKey, by: 1 | -1): void => {
    const left = (busy.get(key) ?? 0) + by;
    if (left === 0) busy.delete(key);
    else busy.set(key, left);
  };

  function start(run: Run, effect: Effect, back: Back): void {
    const id = `${run.key} ${effectKey(effect)}`;
    if (stopping || underWay.has(id)) return;
    underWay.set(id, carryToEnd(id, run, effect, back));
  }

  async function carryToEnd(id: string, run: Run, effect: Effect, back: Back): Promise<void> {
    count(run.key, 1);
    const afterMs = await carryOut(deps, run, effect, { ...back, stopping: () => stopping });
    underWay.delete(id);
    count(run.key, -1);
    back.again(run.key, afterMs);
  }

  async function stop(ms: number): Promise<void> {
    stopping = true;
    const late = new Promise<void>((resolve) => void deps.clock.after(ms, resolve));
    await Promise.race([Promise.allSettled(underWay.values()), late]);
  }

  return { start, isUnderWay: (key, effect) => underWay.has(`${key} ${effectKey(effect)}`), stop };
}

const ANYTHING: Leaves = { only: null, people: [] };

/** Is the decision in the store still the one that was checked? */
function isChecked(run: Run, effect: Effect, { only }: Leaves): boolean {
  if (effect.do !== "send-decision") return true;
  const approval = findApproval(run, effect.approval);
  return approval !== null && only !== null && decisionMark(approval) === only;
}

/** Never rejects. Resolves to when the run should be looked after again (ms). */
async function carryOut(deps: CarryDeps, run: Run, effect: Effect, way: Way): Promise<number> {
  const settling = createSettling(deps, run.key, effect, way);
  try {
    const turn = pace(run, effect);
    if (turn !== null) await deps.chat.turn(turn);
    if (way.stopping()) return 0;
    const leave = effect.do === "send-decision" ? await beforeSending(deps, run, effect, way) : ANYTHING;
    if ("not" in leave) return await settling.once(leave.not);
    const marked = await mark(deps, run.key, effect, { ...way, leave });
    if (marked.is === "lost") return AFTER_FAILURE_MS;
    if (marked.is === "unwanted") return 0;
    if (marked.is === "unverified") return await settling.once(UNVERIFIED);
    const outcome = await performed(deps, marked.run, effect);
    tellLog(deps, marked.run, effect, outcome);
    return await settling.untilSaved(outcome);
  } catch (error) {
    deps.log.error({ run: run.key, effect: effectKey(effect), error }, "an effect could not be carried out");
    // The mark may be in the store with nobody behind it any more.
    await settling.once({ is: "unsure", why: "something failed inside Countersign" }).catch(() => 0);
    return AFTER_FAILURE_MS;
  }
}

async function performed(deps: CarryDeps, run: Run, effect: Effect): Promise<Outcome> {
  try {
    return await deps.perform(run, effect);
  } catch (error) {
    deps.log.error({ run: run.key, effect: effectKey(effect), error }, "a fault in Countersign");
    return { is: "unsure", why: "something failed inside Countersign" };
  }
}

type Marked =
  | { readonly is: "begun"; readonly run: Run }
  /** Nobody can say just now whether whoever decided may still do so. */
  | { readonly is: "unverified" }
  | { readonly is: "unwanted" }
  | { readonly is: "lost" };

/** Marks the effect in the store before its first byte leaves. A decision that does not stand any more is void instead. */
async function mark(
  { clock, context }: Pick<CarryDeps, "clock" | "context">,
  key: RunKey,
  effect: Effect,
  way: Way & { readonly leave: Leaves },
): Promise<Marked> {
  const wanted = (run: Run): boolean =>
    isChecked(run, effect, way.leave) &&
    reconcile(run, clock.monotonic()).effects.some((each) => effectKey(each) === effectKey(effect));
  let marked = UNWANTED;
  const saved = await way.change(key, (run) => {
    marked = UNWANTED;
    if (!wanted(run)) return run;
    const judged =
      effect.do === "send-decision" ? judge(run, effect.approval, way.leave.people, context()) : STANDS;
    if (judged.is === "void") return judged.run;
    if (judged.is === "unverified") {
      marked = { is: "unverified" };
      return run;
    }
    const begun = begin(run, effect, clock.now());
    marked = { is: "begun", run: begun };
    return { run: begun, alongside: { audit: auditOfSending(begun, effect, clock.now()) } };
  });
  return saved === null ? { is: "lost" } : marked;
}

const UNWANTED: Marked = { is: "unwanted" };

const UNVERIFIED: Outcome = {
  is: "later",
  afterMs: null,
  why: "Countersign could not verify with Slack that whoever approved may still do so.",
};

function tellLog({ log, metrics }: CarryDeps, run: Run, effect: Effect, outcome: Outcome): void {
  // Not why, in words: the service's own may repeat the request.
  const code = "code" in outcome ? { code: outcome.code } : {};
  const ids = { run: run.key, runId: runId(run), effect: effectKey(effect), outcome: outcome.is, ...code };
  if (outcome.is === "refused" || outcome.is === "unsure") log.warn(ids, "effect settled");
  else log.info(ids, "effect settled");
  metrics.effect(effect.do, outcome.is);
  const state = effect.do === "send-decision" ? findApproval(run, effect.approval)?.state : null;
  if (state?.is === "decided") metrics.decision(state.decision.verdict, outcome.is);
}
