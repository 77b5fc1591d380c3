// Claims every unfinished run without a lease, and renews the leases that this process holds. So all runs are watched again after a
// restart without anybody typing a command.

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

/** `start` resolves to how many runs were claimed; it rejects when the store cannot be read. */
export function createLeaseKeeper({ store, engine, clock, log }: Deps): LeaseKeeper {
  let cancel = (): void => undefined;
  let stopped = false;

  async function claimAll(): Promise<number> {
    for (let taken = 0; ;) {
      const batch = await store.claim(clock.monotonic(), LEASE_MS, CLAIM_BATCH);
      // A batch may be short because one of its rows cannot be read; only an empty batch is the last.
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
      log.error({ error }, "could not renew the leases of runs; trying again");
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
