// The runs that this process looks after. The lease keeper says which shards are its own.

import { type RunKey, shardOf } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";

export type HeldShards = {
  /** Calls the listener with every run that another process looks after from now on. */
  onDrop(listener: (key: RunKey) => void): void;
  /** From now on this process looks after the runs of these shards only. Before the first call it looks after all that it is given. */
  readonly lookAfter: (shards: ReadonlySet<number>) => void;
  readonly looksAfter: (shard: number) => boolean;
};

type HeldRuns = HeldShards & {
  /** False: another process looks after the run. */
  readonly hold: (run: Run) => boolean;
  readonly has: (run: Run) => boolean;
};

export function createHeldRuns(): HeldRuns {
  const shards = new Map<RunKey, number>();
  const listeners: ((key: RunKey) => void)[] = [];
  let mine: ReadonlySet<number> | null = null;
  const looksAfter = (shard: number): boolean => mine === null || mine.has(shard);

  function dropRun(key: RunKey): void {
    shards.delete(key);
    for (const listener of listeners) listener(key);
  }

  function hold(run: Run): boolean {
    const shard = shardOf(run);
    if (looksAfter(shard)) shards.set(run.key, shard);
    return looksAfter(shard);
  }

  function lookAfter(next: ReadonlySet<number>): void {
    mine = next;
    for (const [key, shard] of shards) if (!next.has(shard)) dropRun(key);
  }

  const onDrop: HeldRuns["onDrop"] = (listener) => void listeners.push(listener);
  return { hold, has: ({ key }) => shards.has(key), lookAfter, looksAfter, onDrop };
}
