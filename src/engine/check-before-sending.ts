// What must hold right before a decision is sent: the service still lists its approval, the audit confirms the decision, and, for an
// approval, no tampering with the database is unacknowledged.

import type { AuditEntry } from "../audit/entry.ts";
import { allVotes, earlierVotes, giversOf } from "../domain/approval-transitions.ts";
import type { Approval, Decision } from "../domain/approval.ts";
import { FAULT_WORDS } from "../domain/audit/verify-chain.ts";
import type { Person } from "../domain/authorization.ts";
import type { Context } from "../domain/context.ts";
import { type Effect, effectKey, type Outcome } from "../domain/effect.ts";
import { reachedStages } from "../domain/escalation.ts";
import type { RunKey } from "../domain/ids.ts";
import { reconcile } from "../domain/reconcile.ts";
import { setsToAskFor } from "../domain/rule-facts.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { type AgentService, type Chat, type EventLog, type People, PortError } from "../ports.ts";
import type { AuditLog, Finding, RunStore } from "../ports/store.ts";
import type { Change, Transact } from "./change-runs.ts";
import type { Clock } from "./clock.ts";
import type { Integrity } from "./integrity.ts";
import type { EffectLog } from "./logging.ts";
import { lookUpAll, lookUpRequester, observeFetched, SUBMIT_AGE_MS } from "./fresh-facts.ts";
import type { Perform } from "./perform-effect.ts";

/** What executing an effect needs. */
export type ExecutorDeps = {
  readonly agents: Pick<AgentService, "fetchRun">;
  readonly chat: Pick<Chat, "waitForTurn" | "hasten" | "tellIfQueued">;
  readonly people: Pick<People, "lookUp" | "memberOf">;
  readonly store: Pick<RunStore, "byRunId" | "load"> & Pick<AuditLog, "provenEntry" | "settledAfter">;
  readonly integrity: Pick<Integrity, "found" | "state">;
  readonly perform: Perform;
  /** False: this process may have lost its lease, by its own clock. Then it makes no call. */
  readonly holds: () => boolean;
  /** The freezes of the context follow from the audit up to this entry. */
  readonly freezesKnownTo: () => number;
  /** Reads what other processes have written since: freezes, findings, acknowledgements. Rejects with PortError. */
  readonly catchUp: () => Promise<void>;
  readonly context: () => Context;
  readonly clock: Clock;
  readonly log: EventLog;
  readonly logEffect: EffectLog;
};

/** The way back into the engine: how to change the run, and how to have it reconciled again. */
export type EngineHandle = {
  readonly transact: Transact;
  readonly change: Change;
  readonly again: (key: RunKey, afterMs: number) => void;
  /** A mark may be in the store, though nothing executes its effect any more: the next change of the run settles it. */
  readonly settleLater: (key: RunKey) => void;
  /** No effect of the run is under way any more. */
  readonly onIdle: (key: RunKey) => void;
  readonly looksAfter: (shard: number) => boolean;
};

export type ExecutionHandle = EngineHandle & {
  readonly stopping: () => boolean;
  /** Call it right before the effect is marked. False: another process looks after the run, so the effect is not marked here. */
  readonly begin: () => boolean;
  /** The effect ends here, and its mark may stay in the store. */
  readonly leaveMark: () => void;
};

type Sending = Extract<Effect, { type: "send-decision" }>;

/**
 * `checkedDecision`: the fingerprint of the decision that was checked; no other may be sent. Then fresh facts: about the people who gave it, and the groups of the
 * requester where a rule asks for them.
 */
export type SendPermit = {
  readonly checkedDecision: string | null;
  readonly people: readonly Person[];
  readonly requesterIn: Awaited<ReturnType<typeof lookUpRequester>>;
};
/** `not`: the decision is not sent now, and no byte of it was. */
export type SendCheck = SendPermit | { readonly not: Outcome };

export async function checkBeforeSending(
  deps: ExecutorDeps,
  run: Run,
  effect: Sending,
  handle: ExecutionHandle,
): Promise<SendCheck> {
  const held = heldForTampering(deps, run, effect);
  if (held !== null) return { not: held };
  const notNow = await precheck(deps, run, handle);
  if (notNow !== null) return { not: notNow };
  const [people, requesterIn] = await Promise.all([
    lookUpDeciders(deps, run, effect, handle),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
  ]);
  const unchecked = { checkedDecision: null, people, requesterIn };
  const newest = await newestRun(run.key, handle);
  const approval = newest === null ? null : findApproval(newest, effect.approval);
  if (newest === null || approval === null) return unchecked;
  // Another replica has sent it meanwhile, and settled it.
  if (!isDue(newest, effect, deps.clock)) return unchecked;
  const finding = await findDisproof(deps.store, newest, approval);
  if (finding !== null) {
    if (await hasMovedOn(deps, newest)) return unchecked;
    deps.integrity.found(finding);
    return { not: { type: "unproven", why: finding.words } };
  }
  // Last of all, because the look-ups may take seconds: what was written meanwhile counts.
  const behind = await behindOthers(deps);
  if (behind !== null) return { not: behind };
  const since = heldForTampering(deps, newest, effect);
  return since === null ? { ...unchecked, checkedDecision: decisionFingerprint(approval) } : { not: since };
}

/** Does the run, as it is now, still need this effect? */
export const isDue = (run: Run, effect: Effect, clock: Clock): boolean =>
  reconcile(run, clock.monotonic()).effects.some((each) => effectKey(each) === effectKey(effect));

/** A process that stood still may compare an old run with the newest audit. The mark refuses the old run, so nothing leaves. */
async function hasMovedOn({ store }: ExecutorDeps, { key, approvals }: Run): Promise<boolean> {
  const stored = await store.load(key);
  return stored !== null && JSON.stringify(stored.run.approvals) !== JSON.stringify(approvals);
}

/** A decision leaves under the freezes, the policy and the findings that all processes know. */
async function behindOthers({ catchUp }: ExecutorDeps): Promise<Outcome | null> {
  try {
    await catchUp();
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "later", afterMs: null, why: error.publicMessage, code: error.code, notSent: true };
  }
}

/** How often a decision that is held back is tried again (ms). */
const ASK_AGAIN_MS = 10_000;

const HELD_BACK =
  "someone changed Countersign's database, so approvals wait until an admin acknowledges it. They are then sent, and no one has to approve again. Denials are sent at once.";

/** An approval lets the agent act; a denial can only stop it, so it is not held back. */
function heldForTampering({ integrity }: ExecutorDeps, run: Run, { approval }: Sending): Outcome | null {
  const state = findApproval(run, approval)?.state;
  if (state?.type !== "decided" || state.decision.verdict === "deny") return null;
  if (integrity.state().code === null) return null;
  return {
    type: "later",
    afterMs: ASK_AGAIN_MS,
    why: HELD_BACK,
    code: "held_for_tampering",
    heldBack: true,
    notSent: true,
  };
}

/** As stored, after the changes of the run that this process has begun. An identity change waits for those; a plain load would not. */
const newestRun = (key: RunKey, { change }: ExecutionHandle): Promise<Run | null> =>
  change(key, (stored) => stored);

/** Facts about everyone whose approval the decision rests on. A denial needs none. */
async function lookUpDeciders(
  deps: ExecutorDeps,
  { key }: Run,
  effect: Sending,
  handle: ExecutionHandle,
): Promise<readonly Person[]> {
  const run = await newestRun(key, handle);
  const approval = run === null ? null : findApproval(run, effect.approval);
  if (run === null || approval?.state.type !== "decided") return [];
  const { decision } = approval.state;
  if (decision.verdict === "deny") return [];
  const sets = setsToAskFor(run, approval, deps.context());
  return lookUpAll(deps, run, { users: giversOf(allVotes(decision)), sets, maxAgeMs: SUBMIT_AGE_MS });
}

/**
 * Fetches the run and applies the answer once more right before a decision is sent. Null: go on; the mark that follows checks whether
 * the decision may still be sent. Otherwise: why it is not sent now. Reading sends nothing, so it was surely not sent.
 */
async function precheck(deps: ExecutorDeps, run: Run, handle: ExecutionHandle): Promise<Outcome | null> {
  const id = runId(run);
  if (id === null)
    return { type: "later", afterMs: null, why: "the run has no id yet", code: "no_run_id", notSent: true };
  try {
    const fetched = await deps.agents.fetchRun(id);
    await handle.change(run.key, (before) => observeFetched(before, fetched, deps.context()));
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const { publicMessage: why, code, retryAfterMs: afterMs } = error;
    return { type: "later", afterMs, why, code, notSent: true };
  }
}

// A decision is sent only if its signed entry in the audit says the same. So someone who can write the database but has no key can
// neither make nor change a decision, nor restore one that was undone.

type AuditLookup = Pick<AuditLog, "provenEntry" | "settledAfter">;

/** Equal only for the same decision. Null: the approval is not decided. */
export function decisionFingerprint({ state }: Approval): string | null {
  if (state.type !== "decided") return null;
  return JSON.stringify(allVotes(state.decision));
}

/** Null: the audit confirms all of it, also the stages that the request has reached. A few look-ups by index, however long the audit is. */
async function findDisproof(audit: AuditLookup, run: Run, approval: Approval): Promise<Finding | null> {
  if (approval.state.type !== "decided") return null;
  const { decision } = approval.state;
  for (const each of [...earlierVotes(decision), decision]) {
    const kinds = each === decision ? DECIDED : GIVEN;
    const why = await doubt(audit, { run, approval, decision: each, kinds });
    if (why !== null) return finding(run, approval, each, why);
  }
  return decision.verdict === "approve" ? doubtfulStage(audit, run, approval) : null;
}

/** People of a stage may decide, so a stage that was not reached would let others in. */
async function doubtfulStage(audit: AuditLookup, run: Run, approval: Approval): Promise<Finding | null> {
  for (const { afterMs, entry: seq = 0 } of reachedStages(approval)) {
    const proven = await audit.provenEntry(seq);
    const why = proven.ok
      ? saysStage(proven.kept.entry, { run, approval, afterMs })
      : FAULT_WORDS[proven.fault];
    if (why === null) continue;
    const where = `run ${run.key}, approval ${approval.id}`;
    const words = `a stored escalation (${where}) is not confirmed by audit entry ${seq}, and the decision was not sent: ${why}`;
    return { id: `${run.key} ${approval.id} ${approval.version} stage ${afterMs}`, words, run: run.key };
  }
  return null;
}

function saysStage(
  { what, run: key, approval: id, digest, stageMs }: Omit<AuditEntry, "text">,
  { run, approval, afterMs }: { readonly run: Run; readonly approval: Approval; readonly afterMs: number },
): string | null {
  const same = what === "escalated" && key === run.key && id === approval.id && stageMs === afterMs;
  return same && digest === approval.request.digest ? null : "it says something else";
}

const DECIDED = ["decided"] as const;
/** The entry of an earlier approval: "voted", or "decided" if it was once the last one and another was undone. */
const GIVEN = ["voted", "decided"] as const;

type Asked = {
  readonly run: Run;
  readonly approval: Approval;
  readonly decision: Decision;
  readonly kinds: readonly AuditEntry["what"][];
};

async function doubt(audit: AuditLookup, { run, approval, decision, kinds }: Asked): Promise<string | null> {
  const { entry: seq } = decision;
  if (seq === undefined) return "no entry of the audit decides it";
  const proven = await audit.provenEntry(seq);
  if (!proven.ok) return `audit entry ${seq}: ${FAULT_WORDS[proven.fault]}`;
  const { entry } = proven.kept;
  if (!kinds.includes(entry.what) || !says(entry, run, approval, decision))
    return `audit entry ${seq} says something else`;
  const settled = await audit.settledAfter(seq, run.key, approval.id);
  const over = settled.find(({ entry: each }) => each.refers === seq && isOver(each.outcome));
  return over === undefined ? null : `by audit entry ${over.seq} it is over: ${over.entry.outcome}`;
}

/** Same run, approval, request, verdict, reason and person. */
function says(
  entry: Omit<AuditEntry, "text">,
  run: Run,
  approval: Approval,
  { by, verdict, reason, digest }: Decision,
): boolean {
  const place = entry.run === run.key && entry.runId === runId(run) && entry.approval === approval.id;
  const words = entry.verdict === verdict && entry.reason === reason && entry.digest === digest;
  return place && words && entry.by?.user === by?.user && entry.by?.team === by?.team;
}

const isOver = (outcome: string): boolean =>
  outcome.startsWith("void") || ["confirmed", "elsewhere", "unconfirmed"].includes(outcome);

function finding(run: Run, approval: Approval, { entry = 0 }: Decision, why: string): Finding {
  const where = `run ${run.key}, approval ${approval.id}`;
  const words = `a stored decision (${where}) is not confirmed by the audit and was not sent: ${why}`;
  return { id: `${run.key} ${approval.id} ${approval.version} decision ${entry}`, words, run: run.key };
}
