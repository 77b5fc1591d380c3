// A commit that got no answer may be stored, or may be stored only after its time limit. This looks at the run again, several times, so that
// what is stored is acted on.

import type { RunKey } from "../domain/ids.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import { createDelayedWork } from "./background-work.ts";
import type { Clock } from "./clock.ts";
import { createRunFailureLog, type RunFailureLog } from "./logging.ts";

export type LateCommits = {
  /** For a run whose insert was not answered: if a look finds the run stored, this process follows it. */
  readonly followIfStored: (key: RunKey) => void;
  /** Settles as `saving` does. If the answer to its commit was lost, this process follows the run as it is at each of several looks. */
  readonly watched: <Result>(key: RunKey, saving: Promise<Result>) => Promise<Result>;
  /** Begins no more looks and waits at most `ms` for those in progress. */
  readonly stop: (ms: number) => Promise<void>;
};

type Deps = {
  readonly store: Pick<RunStore, "load">;
  readonly clock: Clock;
  readonly log: Pick<EventLog, "error" | "debug">;
};

/** The part of the engine that this needs. It leaves a run alone that belongs to another process. */
type Engine = { readonly resume: (stored: StoredRun) => Promise<void> };

/** The wait before each look (ms). The longest covers a server that held the commit back, for example for its standby. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000] as const;
/** The longest wait before a failed look is repeated (ms). The wait doubles with each failure. */
const LONGEST_REPEAT_MS = 30_000;

export function createLateCommits(deps: Deps, { resume }: Engine): LateCommits {
  const { store, clock } = deps;
  const { lookLater, stop } = createLooks(clock, createRunFailureLog(deps));

  async function followed(key: RunKey): Promise<boolean> {
    const stored = await store.load(key);
    if (stored !== null) await resume(stored);
    return stored !== null;
  }

  return {
    followIfStored: (key) => lookLater(key, () => followed(key)),
    async watched(key, saving) {
      try {
        return await saving;
      } catch (error) {
        if (error instanceof PortError && error.applied === "maybe")
          lookLater(key, () => followed(key).then(() => false));
        throw error;
      }
    },
    stop,
  };
}

/** Resolves to whether this was the last look. */
type Look = () => Promise<boolean>;

/** Looks at a run until one look is the last, or until all waits are over. A look that rejects is repeated, unless no repeat can help. */
function createLooks(clock: Clock, logFailure: RunFailureLog) {
  const delayed = createDelayedWork(clock);
  /** The newest series of looks at each run. Another lost answer during a look begins a new series, which the old one must not cut short. */
  const series = new Map<RunKey, Look>();

  function lookLater(key: RunKey, look: Look): void {
    series.set(key, look);
    lookAfter(key, look, WAITS_MS);
  }

  function lookAfter(key: RunKey, look: Look, waits: readonly number[]): void {
    if (series.get(key) !== look) return;
    const [waitMs] = waits;
    if (waitMs === undefined) series.delete(key);
    else delayed.run(key, waitMs, async () => lookAfter(key, look, await waitsAfter(key, look, waits)));
  }

  /** Looks once, after the first of the waits. Resolves to the waits that are left. */
  async function waitsAfter(
    key: RunKey,
    look: Look,
    [waitMs = 0, ...later]: readonly number[],
  ): Promise<readonly number[]> {
    try {
      return (await look()) ? [] : later;
    } catch (error) {
      logFailure({ run: key, error }, "could not look for a run that may be stored; trying again");
      const isFinal = error instanceof PortError && error.retry === "never";
      return isFinal ? later : [Math.min(2 * waitMs, LONGEST_REPEAT_MS), ...later];
    }
  }

  return { lookLater, stop: async (ms: number) => delayed.stop(ms) };
}
