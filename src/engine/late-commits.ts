// A commit that got no answer may be stored, or may be stored only after its time limit. This looks at the run again, several times, so that
// what is stored is acted on.

import type { RunKey } from "../domain/ids.ts";
import { type EventLog, PortError } from "../ports.ts";
import type { RunStore, StoredRun } from "../ports/store.ts";
import { createDelayedWork } from "./background-work.ts";
import type { Clock } from "./clock.ts";

export type LateCommits = {
  /** For a run whose insert was not answered: if the run is stored, this process follows it as soon as the store answers. */
  readonly followIfStored: (key: RunKey) => void;
  /** Settles as `saving` does. If the answer to its commit was lost, the run is reconciled again, several times. */
  readonly watched: <Result>(key: RunKey, saving: Promise<Result>) => Promise<Result>;
  readonly forget: (key: RunKey) => void;
  /** Begins no more looks and waits at most `ms` for those in progress. */
  readonly stop: (ms: number) => Promise<void>;
};

type Deps = {
  readonly store: Pick<RunStore, "load">;
  readonly clock: Clock;
  readonly log: Pick<EventLog, "error">;
};

/** The parts of the engine that this needs. `wake` reconciles the run, and never rejects. */
type Engine = {
  readonly resume: (stored: StoredRun) => Promise<void>;
  readonly wake: (key: RunKey) => Promise<void>;
};

/** The wait before each look (ms). The longest covers a server that held the commit back, for example for its standby. */
const WAITS_MS = [1_000, 5_000, 30_000, 120_000] as const;
const [REPEAT_MS] = WAITS_MS;

export function createLateCommits({ store, clock, log }: Deps, { resume, wake }: Engine): LateCommits {
  const delayed = createDelayedWork(clock);

  /** Looks until `look` resolves to true, or until all waits are over. A look that rejects is repeated. */
  function lookLater(key: RunKey, look: () => Promise<boolean>, waits: readonly number[] = WAITS_MS): void {
    const [waitMs, ...later] = waits;
    if (waitMs === undefined) return;
    delayed.run(key, waitMs, async () => {
      try {
        if (!(await look())) lookLater(key, look, later);
      } catch (error) {
        log.error({ run: key, error }, "could not look for a run that may be stored; trying again");
        lookLater(key, look, [REPEAT_MS, ...later]);
      }
    });
  }

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
          lookLater(key, () => wake(key).then(() => false));
        throw error;
      }
    },
    forget: (key) => delayed.cancel(key),
    stop: async (ms) => delayed.stop(ms),
  };
}
