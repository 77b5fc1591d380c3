// Takes up every unfinished run that nobody holds, and renews the lease on those that are held. After a restart this is how
// all of them are watched again with nobody typing anything.

import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { LeaseStore } from "../ports/store.ts";
import type { RunEngine } from "./run-engine.ts";

export const LEASE_MS = 60_000;
const CLAIM_BATCH = 200;

export type LeaseKeeper = { start(): Promise<number>; stop(): void };

type Deps = {
  store: Pick<LeaseStore, "claim" | "renew">;
  engine: Pick<RunEngine, "resume">;
  clock: Clock;
  log: EventLog;
};

/** `start` resolves to how many runs were taken up; rejects when the store can't be read. */
export function createLeaseKeeper({ store, engine, clock, log }: Deps): LeaseKeeper {
  let cancel = (): void => undefined;
  let stopped = false;

  async function claimAll(): Promise<number> {
    for (let taken = 0; ;) {
      const batch = await store.claim(clock.monotonic(), LEASE_MS, CLAIM_BATCH);
      // A batch may be short because a row of it can't be read; only an empty one is the last.
      if (batch.length === 0) return taken;
      for (const stored of batch) await engine.resume(stored);
      taken += batch.length;
    }
  }

  async function again(): Promise<void> {
    try {
      await store.renew(clock.monotonic(), LEASE_MS);
      const taken = await claimAll();
      if (taken > 0) log.info({ runs: taken }, "took up runs that nobody held");
    } catch (error) {
      log.error({ error }, "could not renew the hold on runs; trying again");
    }
    next();
  }

  function next(): void {
    if (!stopped) cancel = clock.after(LEASE_MS / 4, () => void again());
  }

  return {
    start: async () => {
      const taken = await claimAll();
      next();
      return taken;
    },
    stop: () => {
      stopped = true;
      cancel();
    },
  };
}
