// Stops watching a run, if nothing would be lost.

import { type Approval, isFinal } from "./approval.ts";
import { close } from "./approval-transitions.ts";
import type { Context } from "./context.ts";
import type { UserId } from "./ids.ts";
import type { Run } from "./run.ts";

/**
 * Why the run must stay watched: a decision that is not settled, one of several approvals that would be lost, or a denial that the
 * policy owes on expiry. Null: it can be unwatched.
 */
export function boundBy({ approvals }: Run): "deciding" | "voted" | "denial-due" | null {
  const open = ({ state }: Approval): boolean =>
    state.type === "decided" && !isFinal(state.delivery) && state.delivery.type !== "refused";
  if (approvals.some(open)) return "deciding";
  const pending = approvals.filter(({ state }) => state.type === "pending");
  if (pending.some(({ votes }) => votes.length > 0)) return "voted";
  return pending.some(({ appliedRule }) => appliedRule.rule.expiry?.outcome === "deny") ? "denial-due" : null;
}

/** Marks the run as dropped by this person, and closes its open approvals. */
export function stopWatching(
  run: Run,
  by: UserId,
  { now, monotonic }: Pick<Context, "now" | "monotonic">,
): Run {
  const approvals = run.approvals.map((each) =>
    each.state.type === "pending" ? close(each, "unwatched", now) : each,
  );
  return { ...run, watch: { type: "dropped", at: monotonic, by }, approvals };
}
