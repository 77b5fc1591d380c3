// The words and field names by which services tell what became of a decision. INTERFACE.md documents none of them.

import type { Verdict } from "../../domain/approval.ts";

const APPROVED = ["approve", "approved", "allow", "allowed", "grant", "granted", "permitted", "authorized"];
const DENIED = ["deny", "denied", "reject", "rejected", "decline", "declined"];
/** Resolved, but neither approved nor denied. */
const LAPSED = ["expired", "withdrawn"];
/** May be a service's word for denied. */
const CANCELED = ["canceled", "cancelled"];
/** The decision was taken in, and the word does not say which one it was. */
const TAKEN = ["ok", "okay", "success", "successful", "resolved", "processed", "decided"];
/** What becomes of an approved action; of a denied one it would be bad news. */
const CARRIED_OUT = ["confirmed", "applied", "executed", "completed", "done", "succeeded"];
/** True is no good news. */
const TROUBLE = ["pending", "failed", "blocked", "refused", "invalid", "forbidden", "disapproved", ...LAPSED];

/** States of a run that goes on, or has gone on, after its approval was resolved. */
export const RUN_GOES_ON = new Set([
  "queued",
  "running",
  "in_progress",
  "working",
  "resumed",
  "awaiting_approval",
  "succeeded",
  "completed",
]);

export const OUTCOME_NAMES = new Set([
  "status",
  "state",
  "decision",
  "outcome",
  "result",
  "verdict",
  "resolution",
  "answer",
]);
/** What a record under one of those names calls its word. */
export const WORD_NAMES = new Set(["name", "value", "code"]);
export const ERROR_NAMES = new Set([
  "error",
  "errors",
  "failure",
  "failures",
  "exception",
  "fault",
  "problem",
  "violations",
]);
/** Free text may say yes or no; it is never read for its meaning. */
export const TEXT_NAMES = new Set([
  "message",
  "msg",
  "detail",
  "details",
  "info",
  "note",
  "warning",
  "warnings",
  "code",
  "reason",
]);
/** They describe the request or the run, not the outcome. */
export const CONTEXT_NAMES = new Set([
  "action",
  "input",
  "output",
  "arguments",
  "args",
  "params",
  "parameters",
  "target",
  "metadata",
  "context",
  "plan",
  "environment",
  "agent",
  "tool",
  "user",
  "requester",
]);
export const FLAGS = new Set([
  ...APPROVED,
  ...DENIED,
  ...CANCELED,
  ...TAKEN,
  ...CARRIED_OUT,
  ...TROUBLE,
  "accepted",
]);

/** The words that mean this verdict or no verdict at all, and those that mean another outcome. */
export function wordsFor(
  verdict: Verdict,
  denyWord: string,
): { yes: ReadonlySet<string>; no: ReadonlySet<string> } {
  const denied = [...DENIED, denyWord];
  return verdict === "approve"
    ? {
        yes: new Set([...APPROVED, ...TAKEN, ...CARRIED_OUT]),
        no: new Set([...denied, ...LAPSED, ...CANCELED]),
      }
    : { yes: new Set([...denied, ...CANCELED, ...TAKEN]), no: new Set([...APPROVED, ...LAPSED]) };
}
