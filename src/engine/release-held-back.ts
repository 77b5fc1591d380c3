import { withDelivery } from "../domain/approval-transitions.ts";
import type { Run } from "../domain/run.ts";
import type { RunStore } from "../ports/store.ts";
import type { Change } from "./change.ts";

const MAX_RUNS = 100_000;

/** After an acknowledgement: what was held back for tampering is looked at again at once. */
export async function releaseHeldBack(
  store: Pick<RunStore, "list" | "channelsInUse">,
  change: Change,
): Promise<void> {
  const channels = await store.channelsInUse();
  if (channels.length === 0) return;
  const runs = await store.list({ channels, only: "unfinished", limit: MAX_RUNS });
  for (const run of runs) if (withoutHold(run) !== run) await change(run.key, withoutHold);
}

/** The same run where nothing is held back. */
function withoutHold(run: Run): Run {
  const approvals = run.approvals.map((approval) => {
    const { state } = approval;
    if (state.type !== "decided" || state.delivery.type !== "retry" || !state.delivery.heldBack)
      return approval;
    const { heldBack: _over, ...delivery } = state.delivery;
    return withDelivery(approval, state.decision, { ...delivery, notBefore: 0, why: RELEASED });
  });
  return approvals.some((each, at) => each !== run.approvals[at]) ? { ...run, approvals } : run;
}

const RELEASED = "An admin has looked at the database, and approvals leave again.";
