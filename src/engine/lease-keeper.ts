// Claims every unfinished run without a lease, and renews the leases that this process holds. So all runs are watched again after a
// restart without anybody typing a command.

import { createBackgroundLoop } from "./background-loop.ts";
import type { Clock } from "./clock.ts";
import type { EventLog } from "../ports.ts";
import type { LeaseStore } from "../ports/store.ts";
import type { RunEngine } from "./run-engine.ts";

export const LEASE_MS = 60_000;
const RENEW_EVERY_MS = LEASE_MS / 4;
const CLAIM_BATCH = 200;

export type LeaseKeeper = { start(): Promise<number>; stop(): Promise<void> };

type Deps = {
  store: Pick<LeaseStore, "claim" | "renew">;
  engine: Pick<RunEngine, "resume">;
  clock: Clock;
  log: EventLog;
};

/** `start` resolves to how many runs were claimed; it rejects when the store cannot be read. */
export function createLeaseKeeper({ store, engine, clock, log }: Deps): LeaseKeeper {
  async function claimAll(stopping = (): boolean => false): Promise<number> {
    for (let taken = 0; ;) {
      if (stopping()) return taken;
      const batch = await store.claim(clock.monotonic(), LEASE_MS, CLAIM_BATCH);
      // A batch may be short because one of its rows cannot be read; only an empty batch is the last.
      if (batch.length === 0) return taken;
      for (const stored of batch) await engine.resume(stored);
      taken += batch.length;
    }
  }

  async function renew(stopping: () => boolean): Promise<void> {
    await store.renew(clock.monotonic(), LEASE_MS);
    const taken = await claimAll(stopping);
    if (taken > 0) log.info({ runs: taken }, "took up runs that nobody held");
  }

  const loop = createBackgroundLoop(
    { clock, log },
    {
      pass: renew,
      everyMs: RENEW_EVERY_MS,
      retryMs: [1_000, RENEW_EVERY_MS],
      failure: "could not renew the leases of runs; trying again",
    },
  );

  return {
    start: async () => {
      const taken = await claimAll();
      loop.start(RENEW_EVERY_MS);
      return taken;
    },
    stop: loop.stop,
  };
}
