// Why an approval was closed without a decision: the card's title, and the sentence below it and in refusals.

import type { ClosedCause } from "../../../domain/approval.ts";

export const CLOSED_TITLES = {
  "no-longer-listed": "⚪ Withdrawn or decided elsewhere",
  unreadable: "⚠️ No longer readable",
  "run-over": "⚪ Run ended",
  "run-missing": "⚪ Run not found",
  unwatched: "⚪ Not watched",
  expired: "⚪ Expired",
  tampered: "🚨 Stopped",
} as const satisfies Record<ClosedCause, string>;

export function closedWords(cause: ClosedCause): string {
  switch (cause) {
    case "no-longer-listed":
      return "The service no longer lists it. It may have been withdrawn, or decided outside Countersign.";
    case "unreadable":
      return "The service now sends it in a form that Countersign can't read, so it can't be decided here. Another message in this thread says why.";
    case "run-over":
      return "The run ended before a decision was made here. The service does not say whether one was made elsewhere.";
    case "run-missing":
      return "The service no longer knows the run.";
    case "expired":
      return "The time to decide has passed, so this can no longer be decided here. It may still be pending at the service.";
    case "unwatched":
      return "Countersign no longer watches the run. The approval may still be pending at the service.";
    case "tampered":
      return "Countersign's record of it was changed from outside, so nothing is sent for it. Countersign's admins have been told. If it is still pending, decide it at the service, or watch the run again to get a new card.";
  }
}
