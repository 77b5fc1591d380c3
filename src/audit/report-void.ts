// The rows of the control report about decisions and votes that did not take effect.

import { voidCause, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { KeptEntry } from "./entry.ts";
import { isKnownCause, VOID_CAUSES } from "./result-words.ts";
import { countRow, grouped, ofKind, type ReportRow } from "./report-population.ts";

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
