// The service may give a run the id of an earlier one. One id has one thread: a run that is over, or that the service no longer knew,
// gives its id up; a run that goes on keeps it.

import type { Context } from "../domain/context.ts";
import type { RunId } from "../domain/ids.ts";
import { supersede } from "../domain/end-run.ts";
import { isWatched } from "../domain/run.ts";
import type { RunStore } from "../ports/store.ts";
import type { Change } from "./change.ts";

/** False: a run with this id is still followed. */
export async function releaseRunId(
  { store, context }: { readonly store: Pick<RunStore, "byRunId">; readonly context: () => Context },
  change: Change,
  id: RunId,
): Promise<boolean> {
  const key = await store.byRunId(id);
  if (key === null) return true;
  const run = await change(key, (earlier) => supersede(earlier, context()), { mustHold: false });
  return run !== null && !isWatched(run);
}
