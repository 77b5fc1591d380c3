// Counts the requests that still wait, for each message that calls people to several of them.

import { callsOf, fateOf, saysNow } from "../domain/call.ts";
import { markWaiting } from "../domain/gathered-call.ts";
import type { Gathered, GatheredCall } from "../domain/follow-up.ts";
import type { RunKey } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { RunStore } from "../ports/store.ts";
import { nullIfUnreadable } from "./change-runs.ts";
import type { Change } from "./transact.ts";

type Deps = { readonly store: Pick<RunStore, "load">; readonly change: Change };

/** What the counting needs to know about a run. */
export type CountedRun = {
  readonly key: RunKey;
  /** The gathered messages that this run carries and that are not over. */
  readonly open: readonly Gathered[];
  readonly waiting: WaitingCalls;
};

/** The calls of a run whose requests still wait as they were when the calls were made. A changed request is another request. */
export type WaitingCalls = readonly (Pick<GatheredCall, "approval" | "n"> & Pick<Gathered, "says">)[];

export const waitingCalls = (run: Run): WaitingCalls =>
  callsOf(run)
    .filter((each) => fateOf(each) === "waits")
    .map(({ approval, call }) => ({ approval: approval.id, n: call.n, says: saysNow({ approval, call }) }));

/**
 * Counts the requests of each gathered message that still wait. The message ends with the last of them. It says that the deadline is near for
 * some only while that is so. A message that says that the time is over ends at once: it stays true.
 */
export async function countWaiting(deps: Deps, runs: readonly CountedRun[]): Promise<void> {
  const waiting = new Map(runs.map((each) => [each.key, each.waiting]));
  for (const { key, open } of runs)
    for (const { since, says, of } of open) {
      if (says !== "over") await readUnknown(deps, waiting, of);
      const found = ({ run, approval, n }: GatheredCall) =>
        waiting.get(run)?.find((each) => each.approval === approval && each.n === n);
      const waits = (each: GatheredCall): boolean => says !== "over" && found(each) !== undefined;
      const left = of.flatMap((each) => found(each) ?? []);
      const isCalm = says === "last" && left.length > 0 && left.every((each) => each.says !== "last");
      if (isCalm || of.some((each) => waits(each) === (each.done === true)))
        await deps.change(key, (run) => markWaiting(run, since, waits, isCalm ? "waits" : says));
    }
}

/** Reads the runs of these calls that are not known. They are over, or this process has only begun to take over the channel. */
async function readUnknown(
  { store }: Pick<Deps, "store">,
  waiting: Map<RunKey, WaitingCalls>,
  calls: readonly GatheredCall[],
): Promise<void> {
  for (const { run: key, done } of calls) {
    if (done === true || waiting.has(key)) continue;
    const stored = await store.load(key).catch(nullIfUnreadable);
    waiting.set(key, stored === null ? [] : waitingCalls(stored.run));
  }
}
