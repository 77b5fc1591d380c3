// A decision is sent only while the newest snapshot lists its approval. Otherwise it waits, and is not lost.

import type { Approval } from "./approval.ts";
import type { Run } from "./run.ts";

export type WaitingReason =
  /** The service answered 404 for the run. */
  | "run-missing"
  /** The service says that the run awaits approval, but not which approval. */
  | "not-told"
  | "not-listed"
  /** The service lists an unreadable item, which may be the approval. */
  | "unreadable";

/** Returns null if, according to the newest snapshot, the decision may be sent. */
export function waitingReason({ watch, seen }: Run, { unlisted }: Approval): WaitingReason | null {
  if (watch.type === "missing") return "run-missing";
  if (seen?.lists === false) return "not-told";
  if (unlisted === null) return null;
  return unlisted === "in-doubt" ? "unreadable" : "not-listed";
}

/** The reason that a card gives. An unsure decision whose request a few fetches have missed does not wait: it is being checked. */
export function shownWaitingReason(run: Run, approval: Approval): WaitingReason | null {
  const { state } = approval;
  const reason = waitingReason(run, approval);
  const isChecked = state.type === "decided" && state.delivery.type === "unsure" && reason === "not-listed";
  return isChecked ? null : reason;
}
