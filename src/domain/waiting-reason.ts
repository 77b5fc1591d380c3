// A decision leaves only while the newest look at the service lists its approval. Until then it waits; nothing of it is lost.

import type { Approval } from "./approval.ts";
import type { Run } from "./run.ts";

export type WaitingReason =
  /** The service answered 404 for the run. */
  | "run-missing"
  /** It says that approval is awaited, and not of what. */
  | "not-told"
  | "not-listed"
  /** It lists something that cannot be read, which may be the approval. */
  | "unreadable";

/** Null: as far as the newest look tells, it may go. */
export function waitingReason({ watch, seen }: Run, { unlisted }: Approval): WaitingReason | null {
  if (watch.type === "missing") return "run-missing";
  if (seen?.lists === false) return "not-told";
  if (unlisted === null) return null;
  return unlisted === "in-doubt" ? "unreadable" : "not-listed";
}
