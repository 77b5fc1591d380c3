// The unfinished runs that this process holds. The lease keeper says which shards the process holds, and so which runs.

import { type RunKey, shardOf } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";

export type HeldShards = {
  /** Calls the listener with every run that this process no longer holds. */
  onDrop(listener: (key: RunKey) => void): void;
  /** From now on, this process holds only the runs of these shards. Before the first call it holds none. */
  readonly setHeldShards: (shards: ReadonlySet<number>) => void;
  readonly holdsShard: (shard: number) => boolean;
};

export type HeldRuns = HeldShards & {
  /** Adds the run to the held ones. Returns false, and adds nothing, if another process holds its shard. */
  readonly holdRun: (run: Run) => boolean;
  readonly holdsRun: (run: Run) => boolean;
  readonly dropRun: (key: RunKey) => void;
};

export function createHeldRuns(): HeldRuns {
  const shards = new Map<RunKey, number>();
  const listeners: ((key: RunKey) => void)[] = [];
  let heldShards: ReadonlySet<number> = new Set();
  const holdsShard = (shard: number): boolean => heldShards.has(shard);

  function dropRun(key: RunKey): void {
    shards.delete(key);
    for (const listener of listeners) listener(key);
  }

  function holdRun(run: Run): boolean {
    const shard = shardOf(run);
    if (holdsShard(shard)) shards.set(run.key, shard);
    return holdsShard(shard);
  }

  function setHeldShards(next: ReadonlySet<number>): void {
    heldShards = next;
    for (const [key, shard] of shards) if (!next.has(shard)) dropRun(key);
  }

  const onDrop: HeldRuns["onDrop"] = (listener) => void listeners.push(listener);
  return { holdRun, holdsRun: ({ key }) => shards.has(key), dropRun, setHeldShards, holdsShard, onDrop };
}
