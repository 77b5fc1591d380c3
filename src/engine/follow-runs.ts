// The first steps of a process: what it must know and do before it follows its runs.

import { applyBrakeToRuns } from "./change-runs.ts";
import type { CloseOrphans } from "./close-orphans.ts";
import type { Freezes } from "./freezes.ts";
import type { Integrity } from "./integrity.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { PauseClocks } from "./pause-clocks.ts";

type Deps = Parameters<typeof applyBrakeToRuns>[0] & {
  readonly integrity: Pick<Integrity, "start">;
  readonly freezes: Pick<Freezes, "refresh" | "now">;
  readonly orphans: Pick<CloseOrphans, "start">;
  readonly pauses: Pick<PauseClocks, "makeUp">;
  readonly loops: readonly { readonly start: () => void }[];
  readonly leaseKeeper: Pick<LeaseKeeper, "start">;
};

/** Claims all unfinished runs of this process's share and resolves to their number. Rejects with PortError if the store fails. */
export async function followRuns(deps: Deps): Promise<number> {
  const { integrity, freezes, orphans, pauses, loops, leaseKeeper } = deps;
  // The audit is checked first, so that no decision leaves before the check.
  await integrity.start();
  // The next steps change runs, and each change obeys the freezes that are known. Before `makeUp` has ended, no change records a follow-up.
  await freezes.refresh();
  await orphans.start();
  await pauses.makeUp();
  const runs = await leaseKeeper.start();
  // The loops work for the runs and recipients of this process's share, which is known only now.
  for (const loop of loops) loop.start();
  // A crash may have kept a freeze from reaching every run.
  if (freezes.now().length > 0) await applyBrakeToRuns(deps);
  return runs;
}
