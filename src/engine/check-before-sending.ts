// What must hold right before a decision is sent: the service still lists its approval, the audit confirms the decision, and, for an
// approval, no tampering with the database is unacknowledged.

import { voices } from "../domain/approval-transitions.ts";
import type { Person } from "../domain/authorization.ts";
import type { Effect, Outcome } from "../domain/effect.ts";
import { ruleOf } from "../domain/applied-rule.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { lookUp, SUBMIT_AGE_MS } from "./look-up-person.ts";
import { PortError } from "../ports.ts";
import { decisionFingerprint, findDisproof } from "./prove-decision.ts";
import { observeFetched } from "./observe-fetched.ts";
import type { ExecutionHandle, ExecutorDeps } from "./execution-handle.ts";

type Sending = Extract<Effect, { type: "send-decision" }>;

/** `only`: the decision that was checked; no other may be sent. `people`: fresh facts about the people who gave it. */
export type SendPermit = { readonly only: string | null; readonly people: readonly Person[] };
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
  const people = await lookUpVoters(deps, run, effect, handle);
  const newest = await handle.change(run.key, (stored) => stored);
  const approval = newest === null ? null : findApproval(newest, effect.approval);
  if (newest === null || approval === null) return { only: null, people };
  const finding = await findDisproof(deps.store, newest, approval);
  if (finding !== null) {
    deps.integrity.found(finding);
    return { not: { type: "unproven", why: finding.words } };
  }
  const since = heldForTampering(deps, newest, effect);
  return since === null ? { only: decisionFingerprint(approval), people } : { not: since };
}

/** How often a decision that is held back is tried again (ms). */
const ASK_AGAIN_MS = 10_000;

const HELD_BACK =
  "somebody changed Countersign's database, so approvals wait until an admin has looked at it. Nobody needs to approve this again: it is sent then. Denials are sent at once.";

/** An approval lets the agent act; a denial can only stop it, so it is not held back. */
function heldForTampering({ integrity }: ExecutorDeps, run: Run, { approval }: Sending): Outcome | null {
  const state = findApproval(run, approval)?.state;
  if (state?.type !== "decided" || state.decision.verdict === "deny") return null;
  if (integrity.state().code === null) return null;
  return { type: "later", afterMs: ASK_AGAIN_MS, why: HELD_BACK, heldBack: true, notSent: true };
}

// Facts about everybody whose approval a decision rests on, looked up right before it is sent.

/** Leaves out people whom Slack does not answer about. For a denial nobody is looked up. */
export async function lookUpVoters(
  deps: ExecutorDeps,
  { key }: Run,
  effect: Extract<Effect, { type: "send-decision" }>,
  handle: ExecutionHandle,
): Promise<readonly Person[]> {
  const run = await handle.change(key, (stored) => stored);
  const approval = run === null ? null : findApproval(run, effect.approval);
  if (run === null || approval?.state.type !== "decided") return [];
  const { decision } = approval.state;
  if (decision.verdict === "deny") return [];
  const principals = ruleOf(deps.context().policy, run, approval.request).approvers;
  const users = voices(decision).flatMap(({ by }) => (by === null ? [] : [by.user]));
  const found = await Promise.all(
    users.map((user) => lookUp(deps, run, { user, principals, maxAgeMs: SUBMIT_AGE_MS })),
  );
  return found.flatMap((each) => ("type" in each ? [] : [each]));
}

/**
 * Fetches the run and applies the answer once more right before a decision is sent. Null: go on; the mark that follows checks whether
 * the decision may still be sent. Otherwise: why it is not sent now. Reading sends nothing, so it was surely not sent.
 */
export async function precheck(
  deps: ExecutorDeps,
  run: Run,
  handle: ExecutionHandle,
): Promise<Outcome | null> {
  const id = runId(run);
  if (id === null) return { type: "later", afterMs: null, why: "the run has no id yet", notSent: true };
  try {
    const fetched = await deps.agents.fetchRun(id);
    await handle.change(run.key, (before) => observeFetched(before, fetched, deps.context()));
    return null;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return { type: "later", afterMs: error.retryAfterMs, why: error.message, notSent: true };
  }
}
