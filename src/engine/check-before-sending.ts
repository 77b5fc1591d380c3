// Checks right before a decision is sent. The service must still list the approval, and the audit must confirm the decision. To approve,
// there must also be no tampering with the database that an admin has not acknowledged.

import { allVotes, votersOf } from "../domain/approval-transitions.ts";
import type { Approval, Verdict } from "../domain/approval.ts";
import type { Person } from "../domain/authorization.ts";
import { type Effect, effectKey, type Outcome } from "../domain/effect.ts";
import type { RunKey } from "../domain/ids.ts";
import { isSameJson } from "../domain/json.ts";
import { isOutdated } from "../domain/observe.ts";
import { reconcile } from "../domain/reconcile.ts";
import { membershipsToLookUp } from "../domain/rule-facts.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { PortError } from "../ports.ts";
import type { Finding } from "../ports/audit-store.ts";
import type { Clock } from "./clock.ts";
import type { ExecutionHandle, ExecutorDeps } from "./execution.ts";
import { askedAtOf, lookUpAll, lookUpRequester, observeFetched, SUBMIT_AGE_MS } from "./fresh-facts.ts";
import { findDisproof } from "./prove-decision.ts";

type SendDecision = Extract<Effect, { type: "send-decision" }>;

/** Facts that were looked up right before an effect is marked. */
export type SendPermit = {
  /** The fingerprint of the decision that was checked. No other decision may be sent. Null: no decision may be sent. */
  readonly checkedDecision: string | null;
  /** The people on whose approval the decision rests. */
  readonly people: readonly Person[];
  /** The requester's groups. Null if no rule depends on them. */
  readonly requesterGroups: Awaited<ReturnType<typeof lookUpRequester>>;
};
export type SendCheck =
  | { readonly type: "permitted"; readonly permit: SendPermit }
  /** The decision is not sent now, and no byte of it has been sent. */
  | { readonly type: "withheld"; readonly outcome: Outcome }
  /** The check must be repeated, if the effect is still due. */
  | { readonly type: "check-again" };

/** For effects that send no decision. */
export const SENDS_NO_DECISION: SendPermit = { checkedDecision: null, people: [], requesterGroups: null };
const CHECK_AGAIN: SendCheck = { type: "check-again" };
const withheld = (outcome: Outcome): SendCheck => ({ type: "withheld", outcome });

/** Rejects if the store fails. */
export async function checkBeforeSending(
  deps: ExecutorDeps,
  run: Run,
  effect: SendDecision,
  handle: ExecutionHandle,
): Promise<SendCheck> {
  const withheldFirst = withholdForTampering(deps, run, effect);
  if (withheldFirst !== null) return withheld(withheldFirst);
  if (sendsApproval(run, effect)) await readProofAhead(deps, run, effect);
  const first = await refreshRun(deps, run, handle);
  // If a poll began later and ended earlier, this fetch is outdated. A second fetch then helps, unless the clock is behind.
  const refreshed = first === "outdated" ? await refreshRun(deps, run, handle) : first;
  if (refreshed === "not-stored") return CHECK_AGAIN;
  if (refreshed === "outdated") {
    // A denial can only stop an agent, so it does not wait for the comparison.
    if (sendsApproval(run, effect)) return withheld(OUTDATED);
  } else if (!("stored" in refreshed)) return withheld(refreshed);
  const current = refreshed === "outdated" ? run : refreshed.stored;
  const [people, requesterGroups] = await Promise.all([
    lookUpDeciders(deps, current, effect),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
  ]);
  const newest = await newestRun(run.key, handle);
  const approval = newest === null ? null : findApproval(newest, effect.approval);
  if (newest === null || approval === null) return CHECK_AGAIN;
  // Another replica may have sent and settled the decision in the meantime.
  if (!isDue(newest, effect, deps.clock)) return CHECK_AGAIN;
  const finding = await disproofOf(deps, newest, effect);
  if (finding !== null) {
    if (await hasChanged(deps, newest)) return CHECK_AGAIN;
    deps.integrity.found(finding);
    return withheld({ type: "unproven", why: finding.words });
  }
  // This comes last, because the look-ups may take seconds, and everything written in the meantime counts.
  const failedCatchUp = await catchUpWithOthers(deps);
  if (failedCatchUp !== null && sendsApproval(newest, effect)) return withheld(failedCatchUp);
  const withheldNow = withholdForTampering(deps, newest, effect);
  if (withheldNow !== null) return withheld(withheldNow);
  const checkedDecision = decisionFingerprint(approval);
  return { type: "permitted", permit: { checkedDecision, people, requesterGroups } };
}

/**
 * Reads the proof before the look-ups, because it can take longer than Slack's answers stay fresh. The proof after them is then short. Only
 * that one counts, because what is written in the meantime counts.
 */
async function readProofAhead(deps: ExecutorDeps, run: Run, effect: SendDecision): Promise<void> {
  await disproofOf(deps, run, effect);
}

/** Damage that is found holds approvals back until an admin acknowledges it (`withholdForTampering`). */
async function disproofOf(
  { store, integrity }: ExecutorDeps,
  run: Run,
  { approval: id }: SendDecision,
): Promise<Finding | null> {
  const approval = findApproval(run, id);
  if (approval === null) return null;
  return findDisproof(store, run, approval, (damage) => integrity.found(damage));
}

/**
 * Returns whether the effect sends an approval. Only an approval depends on what other processes write: neither a freeze nor a finding stops a
 * denial, and no policy takes it back.
 */
export const sendsApproval = (run: Run, effect: Effect): boolean =>
  effect.type === "send-decision" && verdictOn(run, effect) === "approve";

function verdictOn(run: Run, { approval }: SendDecision): Verdict | null {
  const state = findApproval(run, approval)?.state;
  return state?.type === "decided" ? state.decision.verdict : null;
}

/** Returns whether the run still needs this effect. */
export const isDue = (run: Run, effect: Effect, clock: Clock): boolean =>
  reconcile(run, clock.monotonic()).effects.some((due) => effectKey(due) === effectKey(effect));

/**
 * Returns whether the store has a newer version of the run. A process that was suspended may compare an old run with the newest audit,
 * which proves no tampering. The mark refuses the old run, so nothing leaves.
 */
async function hasChanged({ store }: ExecutorDeps, { key, approvals }: Run): Promise<boolean> {
  const stored = await store.load(key);
  // The fields of a run in memory may have another order than those of the stored one.
  return stored !== null && !isSameJson(stored.run.approvals, approvals);
}

/** Reads the freezes, the policy and the findings of other processes. Resolves to the reason for not sending if they cannot be read. */
async function catchUpWithOthers({ catchUp }: ExecutorDeps): Promise<Outcome | null> {
  try {
    await catchUp();
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "later", afterMs: null, why: error.publicMessage, code: error.code, notSent: true };
  }
}

/** The wait before a decision that is held back is tried again (ms). */
const ASK_AGAIN_MS = 10_000;

const HELD_BACK =
  "Countersign's database was changed from outside, so approvals wait until an admin of Countersign acknowledges that change. They are then sent, and no one has to approve again. Denials are sent at once.";

/** Holds approvals back while tampering is unacknowledged. A denial is not held back, because it can only stop an agent. */
function withholdForTampering({ integrity }: ExecutorDeps, run: Run, effect: SendDecision): Outcome | null {
  if (!sendsApproval(run, effect) || integrity.state().code === null) return null;
  return {
    type: "later",
    afterMs: ASK_AGAIN_MS,
    why: HELD_BACK,
    code: "held_for_tampering",
    heldBack: true,
    notSent: true,
  };
}

/** Resolves to the stored run after all changes that this process has begun. An empty change waits for them; a plain load would not. */
const newestRun = (key: RunKey, { change }: ExecutionHandle): Promise<Run | null> =>
  change(key, (stored) => stored);

/** Looks up everyone on whose approval the decision rests. A denial needs no look-up. */
async function lookUpDeciders(
  deps: ExecutorDeps,
  run: Run,
  effect: SendDecision,
): Promise<readonly Person[]> {
  const approval = findApproval(run, effect.approval);
  if (approval?.state.type !== "decided") return [];
  const { decision } = approval.state;
  if (decision.verdict === "deny") return [];
  const sets = membershipsToLookUp(run, approval, deps.context());
  return lookUpAll(deps, run, { users: votersOf(allVotes(decision)), sets, maxAgeMs: SUBMIT_AGE_MS });
}

/**
 * "not-stored": this process did not hold the run. The mark would not know the answer, even if the lease is back by then. "outdated": the
 * answer was not applied. The run has a newer one, or one of a replica whose clock is ahead, so the decision may not be compared.
 */
type Refreshed = { readonly stored: Run } | "not-stored" | "outdated" | Outcome;

const OUTDATED: Outcome = {
  type: "later",
  afterMs: null,
  why: "Countersign could not yet compare the request with what the service lists now.",
  code: "look_outdated",
  notSent: true,
};

/** Fetches the run and applies the answer; the mark then checks whether the decision may still be sent. An outcome says why it may not. */
async function refreshRun(deps: ExecutorDeps, run: Run, handle: ExecutionHandle): Promise<Refreshed> {
  const id = runId(run);
  if (id === null)
    return { type: "later", afterMs: null, why: "the run has no id yet", code: "no_run_id", notSent: true };
  try {
    const fetched = await deps.agents.fetchRun(id);
    const stored = await handle.transact(run.key, (before) => ({
      run: observeFetched(before, fetched, deps.context()),
      value: isOutdated(before, askedAtOf(fetched)),
    }));
    if (stored === null) return "not-stored";
    return stored.value ? "outdated" : { stored: stored.run };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { publicMessage: why, code, retryAfterMs: afterMs } = error;
    return { type: "later", afterMs, why, code, notSent: true };
  }
}

/** Returns a text that is equal only for the same decision, or null if the approval is not decided. */
export function decisionFingerprint({ state }: Approval): string | null {
  if (state.type !== "decided") return null;
  return JSON.stringify(allVotes(state.decision));
}
