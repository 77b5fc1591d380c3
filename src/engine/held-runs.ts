// The runs that this process looks after. The lease keeper says which shards are its own.

import { type RunKey, shardOf } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import type { EffectExecutor } from "./effect-executor.ts";

export type HeldShards = {
  /** Calls the listener with every run that another process looks after from now on. */
  onDrop(listener: (key: RunKey) => void): void;
  /** From now on this process looks after the runs of these shards only. Before the first call it looks after all that it is given. */
  lookAfter(shards: ReadonlySet<number>): void;
  looksAfter(shard: number): boolean;
  /** Is an effect of a run of this shard under way, although the shard is not looked after any more? */
  isLeaving(shard: number): boolean;
};

type HeldRuns = HeldShards & {
  /** False: another process looks after the run. */
  readonly hold: (run: Run) => boolean;
  readonly has: (run: Run) => boolean;
  /** No effect of the run is under way any more. */
  readonly idle: (key: RunKey) => void;
};

export function createHeldRuns(executor: Pick<EffectExecutor, "isBusy">): HeldRuns {
  const shards = new Map<RunKey, number>();
  /** Runs that are not looked after any more, and still have effects under way. */
  const leaving = new Map<RunKey, number>();
  const listeners: ((key: RunKey) => void)[] = [];
  let mine: ReadonlySet<number> | null = null;
  const looksAfter = (shard: number): boolean => mine === null || mine.has(shard);

  function dropRun(key: RunKey, shard: number): void {
    shards.delete(key);
    if (executor.isBusy(key)) leaving.set(key, shard);
    for (const listener of listeners) listener(key);
  }

  function hold(run: Run): boolean {
    const shard = shardOf(run);
    if (looksAfter(shard)) shards.set(run.key, shard);
    return looksAfter(shard);
  }

  function lookAfter(next: ReadonlySet<number>): void {
    mine = next;
    for (const [key, shard] of shards) if (!next.has(shard)) dropRun(key, shard);
  }

  return {
    hold,
    has: ({ key }) => shards.has(key),
    lookAfter,
    looksAfter,
    isLeaving: (shard) => leaving.values().some((each) => each === shard),
    idle: (key) => void leaving.delete(key),
    onDrop: (listener) => void listeners.push(listener),
  };
}
