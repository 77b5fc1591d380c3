// Executes effects. For each effect: waits for its turn, checks that it is still wanted, marks it in the store, performs it, and stores
// its outcome. The same effect is never in progress twice.

import { auditOfSending } from "../audit/run-diff.ts";
import { markSending } from "../domain/apply-outcome.ts";
import { beforeMark } from "../domain/bring-up-to-date.ts";
import { recheckAuthority, STANDS } from "../domain/decision-delivery.ts";
import { type Effect, effectKey, isMarked, type Outcome } from "../domain/effect.ts";
import { type RunKey, shardOf } from "../domain/ids.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { OPENING } from "../domain/slot.ts";
import {
  checkBeforeSending,
  decisionFingerprint,
  isDue,
  type SendCheck,
  SENDS_NO_DECISION,
  sendsApproval,
  type SendPermit,
} from "./check-before-sending.ts";
import { PortError } from "../ports.ts";
import { endedWithin } from "./clock.ts";
import type { EngineHandle, ExecutionHandle, ExecutorDeps } from "./execution.ts";
import { createRunFailureLog, effectIds } from "./logging.ts";
import { createOutcomeWriter, isLeaseLost, type WriterDeps } from "./outcome-writer.ts";
import { paceOf } from "./pace.ts";

export type EffectExecutor = {
  /** Starts the effect. If it is in progress already, the run is reconciled again when it ends. */
  start(run: Run, effect: Effect, engine: EngineHandle): void;
  /** Returns whether this process is executing the effect. */
  isUnderWay(key: RunKey, effect: Effect): boolean;
  /** Returns whether this process is executing any effect of the run. */
  isBusy(key: RunKey): boolean;
  /** The shards of all runs with an effect that this process has marked, or is about to mark, and whose outcome is not stored yet. */
  readonly shardsSending: () => ReadonlySet<number>;
  /** Starts no more effects and waits at most `ms` for effects in progress. */
  stop(ms: number): Promise<void>;
};

/** How long a run waits after a failure on our side (ms): of the database, of the lease, or a fault in this program. */
export const AFTER_FAILURE_MS = 1_000;

export function createEffectExecutor(deps: ExecutorDeps): EffectExecutor {
  const underWay = new Map<string, Promise<void>>();
  const busy = new Map<RunKey, number>();
  /** The shard of the run, by effect. See `shardsSending`. */
  const sending = new Map<string, number>();
  /** The effects that were started again while they were in progress. */
  const startedAgain = new Set<string>();
  const parts = { ...deps, logFailure: createRunFailureLog(deps) };
  /** When a stop gives up what is in progress (monotonic). Null until this process stops. */
  let stopsAt: number | null = null;
  const isStopping = (): boolean => stopsAt !== null;
  const hasStopped = (): boolean => stopsAt !== null && deps.clock.monotonic() >= stopsAt;

  function start(run: Run, effect: Effect, engine: EngineHandle): void {
    const id = `${run.key} ${effectKey(effect)}`;
    if (underWay.has(id)) {
      startedAgain.add(id);
      raiseUrgency(deps, run, effect);
    } else if (!isStopping()) underWay.set(id, runToEnd(id, run, effect, engine));
  }

  async function runToEnd(id: string, run: Run, effect: Effect, engine: EngineHandle): Promise<void> {
    count(busy, run.key, 1);
    const shard = shardOf(run);
    const beginSending = (): boolean => {
      if (!engine.holdsShard(shard)) return false;
      sending.set(id, shard);
      return true;
    };
    const handle = { ...engine, isStopping, hasStopped, beginSending };
    const afterMs = await execute(parts, run, effect, handle);
    sending.delete(id);
    underWay.delete(id);
    count(busy, run.key, -1);
    if (startedAgain.delete(id) || afterMs > 0) engine.reconcileAfter(run.key, afterMs);
    if (!busy.has(run.key)) engine.onIdle(run.key);
  }

  async function stop(ms: number): Promise<void> {
    stopsAt ??= deps.clock.monotonic() + ms;
    await endedWithin(deps.clock, ms, underWay.values());
  }

  const isUnderWay = (key: RunKey, effect: Effect): boolean => underWay.has(`${key} ${effectKey(effect)}`);
  const shardsSending = (): ReadonlySet<number> => new Set(sending.values());
  return { start, isUnderWay, isBusy: (key) => busy.has(key), shardsSending, stop };
}

/** The effect may have become more urgent since its call began to wait for its turn. */
function raiseUrgency({ chat }: ExecutorDeps, run: Run, effect: Effect): void {
  const pace = paceOf(run, effect);
  if (pace !== null) chat.raiseUrgency(pace);
}

function count(busy: Map<RunKey, number>, key: RunKey, by: 1 | -1): void {
  const effects = (busy.get(key) ?? 0) + by;
  if (effects === 0) busy.delete(key);
  else busy.set(key, effects);
}

/** Returns whether the decision in the store is still the one that was checked. True for effects that send no decision. */
function isStillChecked(run: Run, effect: Effect, { checkedDecision }: SendPermit): boolean {
  if (effect.type !== "send-decision") return true;
  const approval = findApproval(run, effect.approval);
  return approval !== null && checkedDecision !== null && decisionFingerprint(approval) === checkedDecision;
}

/**
 * Takes one effect from its turn to its stored outcome. Resolves to the wait before the run should be reconciled again (ms); after 0, the
 * run is reconciled again only if the effect was started again meanwhile. Never rejects.
 */
async function execute(deps: WriterDeps, run: Run, effect: Effect, handle: ExecutionHandle): Promise<number> {
  const writer = createOutcomeWriter(deps, run, effect, handle);
  let known: Outcome = OWN_FAULT;
  const storeWithoutCall = async (outcome: Outcome): Promise<number> => {
    known = outcome;
    deps.logEffect(run, effect, outcome);
    await writer.once(outcome);
    return 0;
  };
  try {
    const pace = paceOf(run, effect);
    if (pace !== null && isFirstMessage(run, effect)) void deps.chat.notifyIfQueued(run, pace);
    if (pace !== null) await deps.chat.waitForTurn(pace, () => handle.holdsShard(shardOf(run)));
    if (handle.isStopping()) return 0;
    // A freeze written by another process also stops a start. Nothing else that it has written does, such as a policy that this release
    // cannot read. `checkBeforeSending` reads these freezes itself.
    if (effect.type === "create-run") await deps.freezes.refresh();
    const check: SendCheck =
      effect.type === "send-decision"
        ? await checkBeforeSending(deps, run, effect, handle)
        : { type: "permitted", permit: SENDS_NO_DECISION };
    // The lease may be extended soon. Until then the effect is not marked: it would not be performed, and reconciling would start it again
    // at once, in a loop.
    if (!deps.holdsLease()) return AFTER_FAILURE_MS;
    if (!handle.beginSending()) return 0;
    if (check.type === "withheld") return await storeWithoutCall(check.outcome);
    if (check.type === "check-again") return await reconcileNow(handle, run.key, effect);
    const result = await markInStore(deps, run.key, effect, { ...handle, permit: check.permit });
    if (result.type === "not-saved") return AFTER_FAILURE_MS;
    if (result.type === "unwanted") return 0;
    if (result.type === "unverified") return await storeWithoutCall(UNVERIFIED);
    known = await performMarked(deps, result.run, effect);
    deps.logEffect(result.run, effect, known);
    await writer.untilSaved(known);
    return known.type === "later" && known.mark !== undefined ? AFTER_FAILURE_MS : 0;
  } catch (error) {
    logUnexecuted(deps, { ...effectIds(run, effect), error });
    // A fault in Countersign may lie in storing this outcome. A store that fails must not turn the answer to a call into an unknown one.
    const outcome = error instanceof PortError ? known : OWN_FAULT;
    // If this fails, too, or if a mark is stored only now, the engine settles it with the run's next change.
    if (!isLeaseLost(error)) await writer.once(outcome).catch(() => undefined);
    return AFTER_FAILURE_MS;
  }
}

/** Marks nothing. The empty change reconciles the run, and that starts the effect again if it is still due. */
async function reconcileNow({ change }: ExecutionHandle, key: RunKey, effect: Effect): Promise<number> {
  const run = await change(key, (stored) => stored);
  // As in `markInStore`: the run's next change settles the mark of an earlier try.
  return run === null || isMarked(run, effect) ? AFTER_FAILURE_MS : 0;
}

/** A lost lease is no error: the next holder of the run settles the effect. */
function logUnexecuted(
  { log, logFailure }: WriterDeps,
  facts: { run: RunKey; effect: string; error: unknown },
): void {
  if (isLeaseLost(facts.error))
    log.warn(facts, "the outcome is not saved, because this process no longer holds the run");
  else logFailure(facts, "could not execute an effect");
}

/** Returns whether the effect posts the first message of the run. */
const isFirstMessage = (run: Run, effect: Effect): boolean =>
  effect.type === "post" && effect.slot === OPENING && run.posts[OPENING] === undefined;

/** Performs an effect whose mark is stored. Never rejects. */
async function performMarked(deps: ExecutorDeps, run: Run, effect: Effect): Promise<Outcome> {
  // This process may have been suspended since it stored the mark. Its lease may have expired, and another process may act by now.
  if (!deps.holdsLease()) return withoutLease(run, effect);
  try {
    // perform-effect.ts makes the call.
    return await deps.perform(run, effect);
  } catch (error) {
    deps.log.error({ ...effectIds(run, effect), error }, "a fault in Countersign");
    return OWN_FAULT;
  }
}

/** Nothing was sent, and the outcome of a decision says so. Any other effect counts as if its answer was lost, which does no harm. */
function withoutLease(run: Run, effect: Effect): Outcome {
  const code = "lease_lost";
  const mark = effect.type === "send-decision" ? findApproval(run, effect.approval)?.state : undefined;
  return mark?.type === "decided"
    ? { type: "later", afterMs: null, why: LEASE_LOST, code, notSent: true, mark }
    : { type: "unsure", why: "this replica lost its hold on the run", code };
}

const LEASE_LOST =
  "Countersign was held up for so long that it lost its hold on the run before the decision could be sent.";

type MarkResult =
  | { readonly type: "marked"; readonly run: Run }
  /** At the moment Slack does not say whether the people who approved may still do so. */
  | { readonly type: "unverified" }
  /** The run no longer needs the effect. */
  | { readonly type: "unwanted" }
  /** Not marked: this process does not hold the run, a new freeze forbids the effect, or the mark of an earlier try is still there. */
  | { readonly type: "not-saved" };

/**
 * Marks the effect in the store before its first byte leaves. If the people who gave a decision may no longer decide, the decision becomes
 * void instead.
 */
async function markInStore(
  { clock, context, freezes }: Pick<ExecutorDeps, "clock" | "context" | "freezes">,
  key: RunKey,
  effect: Effect,
  handle: ExecutionHandle & { readonly permit: SendPermit },
): Promise<MarkResult> {
  const { permit } = handle;
  const saved = await handle.transact<MarkResult>(key, (newest) => {
    const run = beforeMark(newest, permit.requesterGroups, context());
    // The commit of an earlier try was answered too late. The run's next change settles its mark.
    if (isMarked(run, effect)) return { run, value: NOT_SAVED };
    if (!isStillChecked(run, effect, permit) || !isDue(run, effect, clock)) return { run, value: UNWANTED };
    const authority =
      effect.type === "send-decision"
        ? recheckAuthority(run, effect.approval, permit.people, context())
        : STANDS;
    if (authority.type === "void") return { run: authority.run, value: UNWANTED };
    if (authority.type === "unverified") return { run, value: { type: "unverified" } };
    const marked = markSending(run, effect, clock.now());
    // A freeze may be written at any time before the mark is stored. A freeze stops neither messages nor denials.
    const isStoppedByFreeze = effect.type === "create-run" || sendsApproval(run, effect);
    const sideWrites = {
      audit: auditOfSending(marked, effect, clock.now()),
      ...(isStoppedByFreeze && { noFreezeAfter: freezes.knownTo() }),
    };
    return { run: marked, value: { type: "marked", run: marked }, sideWrites };
  });
  return saved === null ? NOT_SAVED : saved.value;
}

const UNWANTED: MarkResult = { type: "unwanted" };
const NOT_SAVED: MarkResult = { type: "not-saved" };

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
  notSent: true,
};
