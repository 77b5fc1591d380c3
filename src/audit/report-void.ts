// The rows of the control report about decisions and votes that did not take effect.

import type { PastDecision } from "../domain/approval.ts";
import { voidCause, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { KeptEntry } from "./entry.ts";
import { countRow, grouped, ofKind, type ReportRow } from "./report-population.ts";

type VoidCause = Exclude<PastDecision["cause"], "refused">;

const VOID_CAUSES: { readonly [cause in VoidCause]: string } = {
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

const isKnownCause = (cause: string): cause is VoidCause => Object.hasOwn(VOID_CAUSES, cause);

export function noLongerCounted(all: readonly KeptEntry[]): ReportRow[] {
  // A refused decision that reopens its request is void as well, but it had left.
  const gone = ofKind(all, "settled").filter(
    ({ entry: { outcome } }) => voidCause(outcome) !== null && outcome !== voidOutcome("refused"),
  );
  const byCause = grouped(gone, ({ outcome }) => voidCause(outcome) ?? "").map(([cause, entries]) =>
    countRow(
      `of these ${cause}`,
      entries,
      isKnownCause(cause) ? VOID_CAUSES[cause] : `settled as ${voidOutcome(cause)}`,
    ),
  );
  const counted = "settled as void, for the causes below; each approval of several people counts by itself";
  return [countRow("Decisions and votes that no longer counted", gone, counted), ...byCause];
}
