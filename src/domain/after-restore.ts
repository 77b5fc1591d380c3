// What a run of a restored copy intended when the copy was made may have been done since, or taken back. So nothing that only the copy
// intends leaves by itself: people are asked again.

import { withdrawApproval } from "./decision-delivery.ts";
import type { Context } from "./context.ts";
import type { Run } from "./run.ts";

/** `copiedAt`: the wall time of the copy. What was intended later is not touched, so this may be done again. */
export function afterRestore(run: Run, copiedAt: number, ctx: Context): Run {
  const asked = askAboutStart(run, copiedAt, ctx);
  return asked.approvals.reduce((next, { id, state }) => {
    if (state.type !== "decided" || state.decision.at > copiedAt) return next;
    return withdrawApproval(next, id, "restored", ctx);
  }, asked);
}

function askAboutStart(run: Run, copiedAt: number, { monotonic }: Context): Run {
  if (run.creation.type !== "planned" || run.askedAt > copiedAt) return run;
  const { why: words } = run.creation;
  return { ...run, creation: { type: "unknown", words, at: monotonic, again: "asked", restored: true } };
}
