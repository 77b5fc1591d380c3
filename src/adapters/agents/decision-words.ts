// The words and field names with which services report the outcome of a decision. The service documents none of them.

import type { Verdict } from "../../domain/approval.ts";
import { isList, isRecord, type Json, type JsonRecord, numberText } from "../../domain/json.ts";

const words = (text: string): readonly string[] => text.split(" ");

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
const TROUBLE = [
  ...words("pending failed blocked refused invalid forbidden disapproved unauthorized"),
  ...words("ignored skipped noop duplicate stale dropped unchanged superseded disallowed"),
  ...LAPSED,
];
/** Words that negate the words beside them. */
const NEGATIONS = ["no", "not", "never", "none", "nothing", "cannot", "without", "unable", "false", "error"];
/** Flags and counts that report a failure when they are false or 0. True says nothing about the outcome. */
export const TAKEN_IN = new Set([
  ...words("ack acked acknowledged valid changed effective recorded saved"),
  ...words("stored updated modified affected matched"),
]);

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
  "phase",
  "disposition",
  "effect",
]);
/** The field in which a record under one of those names holds its word. */
export const WORD_NAMES = new Set(["name", "value", "code", "type", "kind", "word", "label"]);
export const ERROR_NAMES = new Set([
  "err",
  "error",
  "errors",
  "failure",
  "failures",
  "exception",
  "fault",
  "problem",
  "violations",
  "conflict",
  "conflicts",
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
  ...words("prompt instructions task history transcript conversation tools config settings logs"),
]);
/** Fields that say what something is, when, where, whose or how much, unless their text is a word about the outcome. */
export const NEUTRAL_NAMES = new Set([
  ...words("id ids uuid object type kind name url uri href link self version"),
  ...words("revision etag sequence seq index position date time timestamp ts created"),
  ...words("ms seconds minutes duration elapsed latency timeout ttl attempt attempts"),
  ...words("retries priority severity risk level category score step steps iteration"),
  ...words("progress tokens usage cost price amount currency model region zone host"),
  ...words("tenant workspace organization project team channel owner author approver"),
  ...words("reviewer role service resource group session thread trace span locale"),
  ...words("language source origin scope hash digest checksum nonce labels tags"),
]);
export const FLAGS = new Set([
  ...APPROVED,
  ...DENIED,
  ...CANCELED,
  ...TAKEN,
  ...CARRIED_OUT,
  ...TROUBLE,
  ...TAKEN_IN,
  "accepted",
]);

/** `yes`: words that mean this verdict, or none in particular. `no`: words that mean another outcome. */
export function wordsFor(
  verdict: Verdict,
  denyWord: string,
): { yes: ReadonlySet<string>; no: ReadonlySet<string>; bad: ReadonlySet<string> } {
  const denied = [...DENIED, denyWord];
  const [yes, no] =
    verdict === "approve"
      ? [
          [...APPROVED, ...TAKEN, ...CARRIED_OUT],
          [...denied, ...LAPSED, ...CANCELED],
        ]
      : [
          [...denied, ...CANCELED, ...TAKEN],
          [...APPROVED, ...LAPSED],
        ];
  return { yes: new Set(yes), no: new Set(no), bad: new Set([...no, ...TROUBLE, ...NEGATIONS]) };
}

// Reads names and ids as the answers to decisions write them.

/** Splits a name into its words: "isApproved", "is_approved" and "is-approved" are the same name. */
export function partsOf(name: string): string[] {
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.split(/[^a-z0-9]+/).filter((part) => part !== "");
}

/** Returns an id, which may be a number (`pending-approvals.ts`), as text. Returns null if the value is not an id. */
export function idOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : numberText(value ?? null);
}

/** Returns the ids under this name, in any spelling of the name. */
export function idsNamed(record: JsonRecord, wanted: string): readonly string[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const id = partsOf(name).join("_") === wanted ? idOf(value) : null;
    return id === null ? [] : [id];
  });
}

export const isNothing = (value: Json): boolean => [null, "", false, 0].some((each) => each === value);

/** Matches "pending_approvals" or "pending", unless the value is a plain yes or no. */
export function isListOfPending(parts: readonly string[], value: Json): boolean {
  if (isNothing(value) || !parts.includes("pending")) return false;
  return parts.includes("approvals") || isList(value) || isRecord(value) || typeof value === "string";
}
