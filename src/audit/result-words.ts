// Says what became of a decision: the outcomes of "settled" entries in words.

import type { PastDecision } from "../domain/approval.ts";
import { type FinalOutcome, voidCause } from "../domain/audit/hash-chain.ts";

type VoidCause = Exclude<PastDecision["cause"], "refused">;

export const VOID_CAUSES: { readonly [cause in VoidCause]: string } = {
  "request-changed": "the request changed before it left",
  "no-longer-listed": "the service stopped listing the request",
  unreadable: "the service sent the request in a format that cannot be read",
  "run-missing": "the service no longer knew the run",
  "run-over": "the run ended before it left",
  undone: "a person took it back",
  denied: "a person denied the request",
  expired: "too few people approved in time",
  "voter-may-not": "its person was no longer allowed to decide",
  "rule-changed": "it did not meet the rule any more",
  unwatched: "the run was no longer watched",
  stopped: "the run was stopped before it left",
  frozen: "a freeze began before it left",
  restored: "the database was restored from an older copy, so whether it left is not known",
  tampered: "it did not match the audit",
};

export const isKnownCause = (cause: string): cause is VoidCause => Object.hasOwn(VOID_CAUSES, cause);

/** Of a vote that still counts although its decision no longer stands. */
export const VOTE_WAITS = "waits: others must approve";

const RESULTS: { readonly [outcome in FinalOutcome | "refused" | "unsure"]: string } = {
  confirmed: "was sent, and the service confirmed it",
  refused: "was sent, and the service refused it",
  unsure: "was sent; the answer was lost or unclear",
  unconfirmed: "was sent, but the service did not confirm it",
  elsewhere: "did not take effect: at the service, the request had been decided or had ended",
};

const isKnownResult = (outcome: string): outcome is keyof typeof RESULTS => Object.hasOwn(RESULTS, outcome);

/** Follows "'s decision". Returns null if a newer version of this program may have written the outcome. */
export function resultWords(outcome: string): string | null {
  if (isKnownResult(outcome)) return RESULTS[outcome];
  const cause = voidCause(outcome);
  if (cause === "refused") return "no longer counts: the service refused it";
  return cause !== null && isKnownCause(cause) ? `no longer counts: ${VOID_CAUSES[cause]}` : null;
}
