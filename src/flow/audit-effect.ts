// The audit's lines about decisions that nobody submitted just now: one before a decision is sent, one when something became of it.

import type { Approval, Decision } from "../core/approval.ts";
import { isFinal } from "../core/approval.ts";
import type { Effect } from "../core/effect.ts";
import { findApproval, type Run } from "../core/run.ts";
import type { AuditEntry } from "./ports.ts";

/** For a decision that is about to leave us. Other effects leave no line. */
export function auditOfSending(run: Run, effect: Effect, at: number): AuditEntry[] {
  if (effect.do !== "send-decision") return [];
  const approval = findApproval(run, effect.approval);
  if (approval?.state.is !== "decided") return [];
  return [line(run, approval, approval.state.decision, { at, what: "sent", outcome: "sending" })];
}

/** For every decision that was settled, refused or given up between two states of a run. */
export function auditOfChange(before: Run, after: Run, at: number): AuditEntry[] {
  if (before.approvals === after.approvals) return [];
  return before.approvals.flatMap((was): AuditEntry[] => {
    const is = findApproval(after, was.id);
    if (was.state.is !== "decided" || is === null || is === was) return [];
    const outcome = outcomeOf(was, is);
    return outcome === null ? [] : [line(after, is, was.state.decision, { at, what: "settled", outcome })];
  });
}

/** Null: nothing that ends the decision, or its attempt, happened. */
function outcomeOf(was: Approval, is: Approval): string | null {
  if (was.state.is !== "decided") return null;
  if (is.state.is !== "decided") return `void: ${is.past.at(-1)?.because ?? "closed"}`;
  const { delivery } = is.state;
  if (delivery.is === was.state.delivery.is) return null;
  return isFinal(delivery) || delivery.is === "refused" || delivery.is === "unsure" ? delivery.is : null;
}

function line(
  run: Run,
  approval: Approval,
  { by, verdict, reason, digest, policy = null }: Decision,
  facts: Pick<AuditEntry, "at" | "what" | "outcome">,
): AuditEntry {
  return { ...facts, run: run.key, approval: approval.id, by, verdict, reason, digest, policy };
}
