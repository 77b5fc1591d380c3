// What happens to a run after an older copy of the store is restored. Work that was planned when the copy was made may have been done or
// taken back since. So a start or an approval that was only planned in the copy is not sent, an approval that waits there for others no
// longer counts, and people are asked again. A denial is still sent, because it can only stop something.

import type { Decision } from "./approval.ts";
import { allVotes } from "./approval-transitions.ts";
import type { Context } from "./context.ts";
import { withdrawApproval, withdrawVotes } from "./decision-delivery.ts";
import type { Run } from "./run.ts";

/**
 * `restored`: the number of the audit entry about the restore. What has an earlier entry comes from the copy. Anything later stays as it is,
 * so this may be called again.
 */
export function afterRestore(run: Run, restored: number, ctx: Context): Run {
  const isCopied = ({ entry = 0 }: Decision): boolean => entry < restored;
  const asked = askAboutStart(run, restored, ctx);
  return asked.approvals.reduce((next, { id, state }) => {
    if (state.type === "pending") return withdrawVotes(next, id, isCopied, ctx);
    if (state.type !== "decided" || !allVotes(state.decision).some(isCopied)) return next;
    return withdrawApproval(next, id, "restored", ctx);
  }, asked);
}

/** The newest entry about a run that is still to be started is the one about the wish to start it. */
function askAboutStart(run: Run, restored: number, { monotonic }: Context): Run {
  if (run.creation.type !== "planned" || (run.audited?.seq ?? 0) > restored) return run;
  const { why: words } = run.creation;
  return { ...run, creation: { type: "unknown", words, at: monotonic, again: "asked", restored: true } };
}
