// The audit's lines about decisions that nobody submitted just now: one before a decision is sent, one when something became of it.

import type { Approval, Decision } from "../core/approval.ts";
import { isFinal } from "../core/approval.ts";
import type { Effect } from "../core/effect.ts";
import { findApproval, type Run } from "../core/run.ts";
import { sentReason } from "../core/vote.ts";
import type { AuditEntry } from "./ports.ts";

/** For a decision that is about to leave us. Other effects leave no line. */
export function auditOfSending(run: Run, effect: Effect, at: number): AuditEntry[] {
  if (effect.do !== "send-decision") return [];
  const approval = findApproval(run, effect.approval);
  if (approval?.state.is !== "decided") return [];
  const { decision } = approval.state;
  const whole = { ...decision, reason: sentReason(decision) };
  return [line(run, approval, whole, { at, what: "sent", outcome: "sending" })];
}

/** For every decision that was settled, refused or given up between two states of a run, and for what the policy itself did. */
export function auditOfChange(before: Run, after: Run, at: number): AuditEntry[] {
  if (before.approvals === after.approvals) return [];
  return before.approvals.flatMap((was): AuditEntry[] => {
    const is = findApproval(after, was.id);
    if (is === null || is === was) return [];
    const gone = is.past
      .slice(was.past.length)
      .map(({ decision, because }) =>
        line(after, is, decision, { at, what: "settled", outcome: `void: ${because}` }),
      );
    return [...gone, ...settledLine(after, was, is, at), ...policyLine(after, was, is, at)];
  });
}

function settledLine(run: Run, was: Approval, is: Approval, at: number): AuditEntry[] {
  if (was.state.is !== "decided" || is.state.is !== "decided") return [];
  const { delivery } = is.state;
  if (delivery.is === was.state.delivery.is) return [];
  const tells = isFinal(delivery) || delivery.is === "refused" || delivery.is === "unsure";
  return tells ? [line(run, is, was.state.decision, { at, what: "settled", outcome: delivery.is })] : [];
}

/** When time is up the policy denies, or closes. */
function policyLine(run: Run, was: Approval, is: Approval, at: number): AuditEntry[] {
  if (was.state.is !== "pending") return [];
  if (is.state.is === "decided" && is.state.decision.by === null)
    return [line(run, is, is.state.decision, { at, what: "decided", outcome: "nobody decided in time" })];
  if (is.state.is !== "closed" || is.state.because !== "expired") return [];
  const nothing = { by: null, verdict: null, reason: null, digest: is.request.digest };
  const { version, rule } = is.ruling;
  const policy = version === null ? null : { version, rule: rule.name };
  const outcome = "nobody decided in time";
  return [{ at, what: "expired", run: run.key, approval: is.id, ...nothing, outcome, policy }];
}

function line(
  run: Run,
  approval: Approval,
  { by, verdict, reason, digest, policy = null }: Decision,
  facts: Pick<AuditEntry, "at" | "what" | "outcome">,
): AuditEntry {
  return { ...facts, run: run.key, approval: approval.id, by, verdict, reason, digest, policy };
}
