// Why an approval that nobody decided is closed: the card's title, and the sentence below it and in refusals.

import type { ClosedCause } from "../../../domain/approval.ts";

export const CLOSED_TITLES = {
  "no-longer-listed": "⚪ Withdrawn or decided elsewhere",
  unreadable: "⚠️ Can't be read any more",
  "run-over": "⚪ Run ended",
  "run-missing": "⚪ Run not found",
  unwatched: "⚪ Not watched",
  expired: "⚪ Expired",
  tampered: "🚨 Stopped",
} as const satisfies Record<ClosedCause, string>;

export function closedWords(cause: ClosedCause): string {
  switch (cause) {
    case "no-longer-listed":
      return "The service no longer lists it. It may have been withdrawn, or resolved outside Countersign.";
    case "unreadable":
      return "The service now lists it in a form that cannot be read, so it cannot be decided here. Another message of this thread says why.";
    case "run-over":
      return "The run has ended. Nobody decided it here; the service does not say whether somebody did elsewhere.";
    case "run-missing":
      return "The service no longer knows the run.";
    case "expired":
      return "Nobody decided it in time, so the policy no longer allows a decision here. It may still be pending at the service.";
    case "unwatched":
      return "The run is no longer watched from here. It may still be pending at the service.";
    case "tampered":
      return "What Countersign had stored about it was changed from outside, so nothing is sent for it. If it is still pending, decide it at the service, or watch the run again for a new card. Countersign's admins have been told.";
  }
}
