import type { Context } from "../domain/context.ts";
import { observe } from "../domain/observe.ts";
import { observeMissing } from "../domain/end-run.ts";
import type { Run } from "../domain/run.ts";
import type { FetchedRun } from "../ports.ts";

/** Applies the answer of a fetch to the run. The same object when nothing is new. */
export function observeFetched(run: Run, fetched: FetchedRun, ctx: Context): Run {
  return fetched.type === "missing"
    ? observeMissing(run, fetched.askedAt, ctx)
    : observe(run, fetched.snapshot, ctx);
}

/** When the fetch began. */
export const askedAtOf = (fetched: FetchedRun): number =>
  fetched.type === "missing" ? fetched.askedAt : fetched.snapshot.askedAt;
