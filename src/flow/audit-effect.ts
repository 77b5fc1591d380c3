import type { Effect, Outcome } from "../core/effect.ts";
import { findApproval, type Run } from "../core/run.ts";
import type { AuditEntry } from "./ports.ts";

/** The audit's line for a decision that is about to be sent, or about what came of it. Other effects leave none. */
export function auditOf(run: Run, effect: Effect, outcome: Outcome | null, at: number): AuditEntry[] {
  if (effect.do !== "send-decision") return [];
  const approval = findApproval(run, effect.approval);
  if (approval?.state.is !== "decided") return [];
  const { by, verdict, reason, digest } = approval.state.decision;
  const what = outcome === null ? "sent" : "settled";
  return [
    {
      at,
      what,
      run: run.key,
      approval: approval.id,
      by,
      verdict,
      reason,
      digest,
      outcome: outcome?.is ?? "sending",
    },
  ];
}
