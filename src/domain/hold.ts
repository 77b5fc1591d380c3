// The hold of an approval: the time in which people can undo it. It stands still while no one could press Undo.

import type { Approval } from "./approval.ts";
import type { Effect } from "./effect.ts";
import { momentOfAge, type Pause } from "./follow-up.ts";
import { findApproval, type Run } from "./run.ts";

/** When a hold ends: `sendAt` is monotonic, and `until` is for people (wall time). Both are null while Slack is away: not known yet. */
export type HoldEnd =
  | { readonly sendAt: number; readonly until: number }
  | { readonly sendAt: null; readonly until: null };

/** Returns null if the approval is not on hold. */
export function holdEnd(approval: Pick<Approval, "state" | "followUp">): HoldEnd | null {
  const { state } = approval;
  if (state.type !== "decided" || state.delivery.type !== "held") return null;
  const { until, sendAt } = state.delivery;
  const holdMs = until - state.decision.at;
  const end = momentOfHold(approval, sendAt - holdMs, holdMs);
  return end === null ? { sendAt: null, until: null } : { sendAt: end, until: until + end - sendAt };
}

/** Returns whether one of the effects sends a held approval. */
export const endsHold = (run: Run, { effects }: { readonly effects: readonly Effect[] }): boolean =>
  effects.some((effect) => {
    const approval = effect.type === "send-decision" ? findApproval(run, effect.approval) : null;
    return approval !== null && holdEnd(approval) !== null;
  });

/** While only the service is away, or a question is open, people can still press Undo. */
const PAUSES_HOLDS: ReadonlySet<Pause["why"]> = new Set(["slack", "stopped"]);

function momentOfHold({ followUp }: Pick<Approval, "followUp">, from: number, holdMs: number): number | null {
  const pauses = (followUp?.pauses ?? []).filter(({ why }) => PAUSES_HOLDS.has(why));
  return momentOfAge({ waitsSince: from, followUp: { pauses } }, holdMs);
}
