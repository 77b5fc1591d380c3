// Executes effects: waits for an effect's turn, makes sure it is still wanted, marks it, performs it, records its outcome.
// The same effect is never in progress twice.

import pRetry from "p-retry";
import { auditOfSending } from "../audit/run-diff.ts";
import { applyOutcome, markSending } from "../domain/apply-outcome.ts";
import { applyBrake } from "../domain/brake.ts";
import { recheckAuthority, STANDS } from "../domain/decision-delivery.ts";
import { type Effect, effectKey, type Outcome } from "../domain/effect.ts";
import { type RunKey, shardOf } from "../domain/ids.ts";
import { withFreshRequester } from "../domain/rule-facts.ts";
import { findApproval, OPENING, type Run } from "../domain/run.ts";
import { type EventLog, PortError } from "../ports.ts";
import { releaseRunId } from "./change-runs.ts";
import {
  checkBeforeSending,
  decisionFingerprint,
  type EngineHandle,
  type ExecutionHandle,
  type ExecutorDeps,
  isDue,
  type SendPermit,
} from "./check-before-sending.ts";
import { endedWithin } from "./clock.ts";
import { paceOf } from "./perform-effect.ts";

export type EffectExecutor = {
  start(run: Run, effect: Effect, back: EngineHandle): void;
  /** Is this process executing the effect? */
  isUnderWay(key: RunKey, effect: Effect): boolean;
  /** Is this process executing any effect of the run? */
  isBusy(key: RunKey): boolean;
  /** The shards of the runs of which this process has marked an effect, or is about to, and has not stored the outcome. */
  readonly shardsSending: () => ReadonlySet<number>;
  /** Starts nothing more and waits for effects in progress, at most `ms`. */
  stop(ms: number): Promise<void>;
};

/** How long a run waits after a failure of our own (ms): the database, a lost lease, a fault in this program. */
export const AFTER_FAILURE_MS = 1_000;

export function createEffectExecutor(deps: ExecutorDeps): EffectExecutor {
  const underWay = new Map<string, Promise<void>>();
  const busy = new Map<RunKey, number>();
  /** By effect, the shard of its run. */
  const sending = new Map<string, number>();
  /** What was to be started again while it was under way. */
  const asked = new Set<string>();
  let stopping = false;

  function start(run: Run, effect: Effect, back: EngineHandle): void {
    const id = `${run.key} ${effectKey(effect)}`;
    if (underWay.has(id)) {
      asked.add(id);
      const turn = paceOf(run, effect);
      if (turn !== null) deps.chat.hasten(turn);
    } else if (!stopping) underWay.set(id, runToEnd(id, run, effect, back));
  }

  async function runToEnd(id: string, run: Run, effect: Effect, back: EngineHandle): Promise<void> {
    count(busy, run.key, 1);
    const shard = shardOf(run);
    const begin = (): boolean => {
      if (!back.looksAfter(shard)) return false;
      sending.set(id, shard);
      return true;
    };
    let leavesMark = false;
    const leaveMark = (): void => void (leavesMark = true);
    const afterMs = await execute(deps, run, effect, { ...back, stopping: () => stopping, begin, leaveMark });
    sending.delete(id);
    underWay.delete(id);
    if (leavesMark) back.settleLater(run.key);
    count(busy, run.key, -1);
    if (asked.delete(id) || afterMs > 0) back.again(run.key, afterMs);
    if (!busy.has(run.key)) back.onIdle(run.key);
  }

  async function stop(ms: number): Promise<void> {
    stopping = true;
    await endedWithin(deps.clock, ms, underWay.values());
  }

  const isUnderWay = (key: RunKey, effect: Effect): boolean => underWay.has(`${key} ${effectKey(effect)}`);
  const shardsSending = (): ReadonlySet<number> => new Set(sending.values());
  return { start, isUnderWay, isBusy: (key) => busy.has(key), shardsSending, stop };
}

function count(busy: Map<RunKey, number>, key: RunKey, by: 1 | -1): void {
  const left = (busy.get(key) ?? 0) + by;
  if (left === 0) busy.delete(key);
  else busy.set(key, left);
}

const NO_DECISION: SendPermit = { checkedDecision: null, people: [], requesterIn: null };

/** Is the decision in the store still the one that was checked? */
function isChecked(run: Run, effect: Effect, { checkedDecision }: SendPermit): boolean {
  if (effect.type !== "send-decision") return true;
  const approval = findApproval(run, effect.approval);
  return approval !== null && checkedDecision !== null && decisionFingerprint(approval) === checkedDecision;
}

/** Never rejects. Resolves to how soon the run should be reconciled again (ms). */
async function execute(
  deps: ExecutorDeps,
  run: Run,
  effect: Effect,
  handle: ExecutionHandle,
): Promise<number> {
  const writer = createOutcomeWriter(deps, run.key, effect, handle);
  const heldUp = (outcome: Outcome): Promise<number> => {
    deps.logEffect(run, effect, outcome);
    return writer.once(outcome);
  };
  try {
    const turn = paceOf(run, effect);
    if (turn !== null && isFirstMessage(run, effect)) void deps.chat.tellIfQueued(run, turn);
    if (turn !== null) await deps.chat.waitForTurn(turn, () => handle.looksAfter(shardOf(run)));
    if (handle.stopping()) return 0;
    // A freeze that another process has written holds for a start, too; a decision's check catches up by itself.
    if (effect.type === "create-run") await deps.catchUp();
    const permit =
      effect.type === "send-decision" ? await checkBeforeSending(deps, run, effect, handle) : NO_DECISION;
    // The lease may be extended soon. Nothing is marked before that: reconciling would start the same effect again at once, in a loop.
    if (!deps.holds()) return AFTER_FAILURE_MS;
    if (!handle.begin()) return 0;
    if ("not" in permit) return await heldUp(permit.not);
    const marked = await markInStore(deps, run.key, effect, { ...handle, permit });
    if (marked.type === "lost") return AFTER_FAILURE_MS;
    if (marked.type === "unwanted") return 0;
    if (marked.type === "unverified") return await heldUp(UNVERIFIED);
    const outcome = await performed(deps, marked.run, effect);
    deps.logEffect(marked.run, effect, outcome);
    return await writer.untilSaved(outcome);
  } catch (error) {
    deps.log.error({ run: run.key, effect: effectKey(effect), error }, "could not execute an effect");
    // The mark may be in the store, while no code executes the effect any more.
    await writer.once(OWN_FAULT).catch(handle.leaveMark);
    return AFTER_FAILURE_MS;
  }
}

/** Nothing of the run is in Slack yet. */
const isFirstMessage = (run: Run, effect: Effect): boolean =>
  effect.type === "post" && effect.slot === OPENING && run.posts[OPENING] === undefined;

async function performed(deps: ExecutorDeps, run: Run, effect: Effect): Promise<Outcome> {
  // The mark is stored, but this process may have stood still since, and another one may act by now.
  if (!deps.holds())
    return { type: "unsure", why: "this replica lost its hold on the run", code: "lease_lost" };
  try {
    return await deps.perform(run, effect);
  } catch (error) {
    deps.log.error({ run: run.key, effect: effectKey(effect), error }, "a fault in Countersign");
    return OWN_FAULT;
  }
}

type Marked =
  | { readonly type: "begun"; readonly run: Run }
  /** Slack does not say now whether the people who decided may still do so. */
  | { readonly type: "unverified" }
  | { readonly type: "unwanted" }
  | { readonly type: "lost" };

/** Marks the effect in the store before its first byte leaves. A decision that no longer stands becomes void instead. */
async function markInStore(
  { clock, context, freezesKnownTo }: Pick<ExecutorDeps, "clock" | "context" | "freezesKnownTo">,
  key: RunKey,
  effect: Effect,
  handle: ExecutionHandle & { readonly permit: SendPermit },
): Promise<Marked> {
  const wanted = (run: Run): boolean => isChecked(run, effect, handle.permit) && isDue(run, effect, clock);
  const saved = await handle.transact<Marked>(key, (newest) => {
    const run = applyBrake(withFreshRequester(newest, handle.permit.requesterIn, context()), context());
    if (!wanted(run)) return { run, value: UNWANTED };
    const judged =
      effect.type === "send-decision"
        ? recheckAuthority(run, effect.approval, handle.permit.people, context())
        : STANDS;
    if (judged.type === "void") return { run: judged.run, value: UNWANTED };
    if (judged.type === "unverified") return { run, value: { type: "unverified" } };
    const begun = markSending(run, effect, clock.now());
    // A freeze may be written until the mark is. Messages go out under a freeze, too.
    const heedsFreezes = effect.type === "send-decision" || effect.type === "create-run";
    const sideWrites = {
      audit: auditOfSending(begun, effect, clock.now()),
      ...(heedsFreezes && { noFreezeAfter: freezesKnownTo() }),
    };
    return { run: begun, value: { type: "begun", run: begun }, sideWrites };
  });
  return saved === null ? { type: "lost" } : saved.value;
}

const UNWANTED: Marked = { type: "unwanted" };

const OWN_FAULT: Outcome = {
  type: "unsure",
  why: "something failed inside Countersign",
  code: "internal",
};

const UNVERIFIED: Outcome = {
  type: "later",
  afterMs: null,
  code: "voters_unverified",
  why: "Countersign could not verify with Slack that the people who approved may still do so.",
};

/** This process renews a lapsed lease within a minute. If another process has the lease, it settles the effect itself. */
const LEASE_PATIENCE_MS = 90_000;

type OutcomeWriter = {
  /** One attempt. Resolves to how soon to reconcile the run again (ms). Rejects when the store fails. */
  once(outcome: Outcome): Promise<number>;
  /** Tries until the outcome is in the store: without it a restart would have to call the effect unsure. */
  untilSaved(outcome: Outcome): Promise<number>;
};

function createOutcomeWriter(
  deps: ExecutorDeps,
  key: RunKey,
  effect: Effect,
  handle: ExecutionHandle,
): OutcomeWriter {
  const { clock, log } = deps;
  let lostSince: number | null = null;

  async function once(outcome: Outcome): Promise<number> {
    try {
      await save(outcome);
    } catch (error) {
      if (!isIdTaken(error) || outcome.type !== "created") throw error;
      const { id } = outcome.snapshot;
      await save((await releaseRunId(deps, handle.change, id)) ? outcome : { type: "taken", id });
    }
    return 0;
  }

  async function save(outcome: Outcome): Promise<void> {
    const saved = await handle.change(key, (run) => applyOutcome(run, effect, outcome, deps.context()));
    if (saved === null)
      throw new PortError("the run is not held", { applied: "no", retry: "later", code: "lease_lost" });
  }

  function worthIt(error: Error): boolean {
    if (!(error instanceof PortError) || error.retry === "never" || handle.stopping()) return false;
    lostSince = isLeaseLost(error) ? (lostSince ?? clock.monotonic()) : null;
    return lostSince === null || clock.monotonic() - lostSince < LEASE_PATIENCE_MS;
  }

  async function untilSaved(outcome: Outcome): Promise<number> {
    return pRetry(() => once(outcome), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: 200,
      maxTimeout: 5_000,
      shouldRetry: ({ error }) => worthIt(error),
      onFailedAttempt: ({ error }) => logUnsaved(log, { run: key, effect: effectKey(effect), error }),
    });
  }

  return { once, untilSaved };
}

/** Where another replica has just saved the run, this one claims it again at its next look. */
function logUnsaved(log: EventLog, facts: { run: RunKey; effect: string; error: Error }): void {
  if (isLeaseLost(facts.error))
    log.debug(facts, "the run is to be claimed again before its outcome is saved");
  else log.error(facts, "not saved; retrying");
}

const isLeaseLost = (error: unknown): boolean => error instanceof PortError && error.code === "lease_lost";

const isIdTaken = (error: unknown): boolean => error instanceof PortError && error.code === "run_id_taken";
