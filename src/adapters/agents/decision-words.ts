// The words and field names with which services report the outcome of a decision. INTERFACE.md documents none of them.

import type { Verdict } from "../../domain/approval.ts";

const APPROVED = ["approve", "approved", "allow", "allowed", "grant", "granted", "permitted", "authorized"];
const DENIED = ["deny", "denied", "reject", "rejected", "decline", "declined"];
/** Resolved, but neither approved nor denied. */
const LAPSED = ["expired", "withdrawn"];
/** Words that may mean "denied". */
const CANCELED = ["canceled", "cancelled"];
/** Words that say that a decision was taken, but not which one. */
const TAKEN = ["ok", "okay", "success", "successful", "resolved", "processed", "decided"];
/** Words for the progress of an approved action. After a denial they contradict us. */
const CARRIED_OUT = ["confirmed", "applied", "executed", "completed", "done", "succeeded"];
/** Flags that report a failure when they are true. */
const TROUBLE = ["pending", "failed", "blocked", "refused", "invalid", "forbidden", "disapproved", ...LAPSED];

/** States of a run that continues, or has continued, after its approval was resolved. */
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
/** The field in which a record under one of those names holds its word. */
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
/** Free text. It may say yes or no, but we never interpret it. */
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
/** Fields that describe the request or the run, not the outcome. */
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

/** `yes`: words that mean this verdict, or none in particular. `no`: words that mean another outcome. */
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
