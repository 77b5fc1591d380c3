// What the parts of the store's contract share: a store on an empty database, a hand-driven clock, and helpers.

import { afterEach, beforeEach, expect } from "vitest";
import type { RunKey } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import type { Store, StoredRun } from "#src/ports/store.ts";
import { aRun, NOON } from "../make/run.ts";

/** Opens a store on a new empty database, with a first lease of at least `LEASE_MS`. */
export type MakeStore = (options: { now: () => number }) => Promise<Store>;

export const LEASE_MS = 30_000;

export type Bench = {
  /** Milliseconds. Starts at `NOON` in each test. */
  now: number;
  readonly store: Store;
  stored(run?: Run): Promise<StoredRun>;
  loaded(key: RunKey): Promise<StoredRun>;
  claimedKeys(limit?: number): Promise<RunKey[]>;
};

/** Must be called inside a `describe`. */
export function storeBench(makeStore: MakeStore): Bench {
  let open: Store | null = null;
  const bench: Bench = {
    now: NOON,
    get store() {
      if (open === null) throw new Error("the store is open only while a test runs");
      return open;
    },
    async stored(run = aRun()) {
      expect(await bench.store.insert(run, {})).toBe("stored");
      return bench.loaded(run.key);
    },
    async loaded(key) {
      const found = await bench.store.load(key);
      if (found === null) throw new Error(`no run ${key}`);
      return found;
    },
    async claimedKeys(limit = 100) {
      await bench.store.renew(bench.now, LEASE_MS);
      return (await bench.store.claim(limit)).map(({ run }) => run.key);
    },
  };
  beforeEach(async () => {
    bench.now = NOON;
    open = await makeStore({ now: () => bench.now });
    await open.renew(bench.now, LEASE_MS);
  });
  afterEach(() => bench.store.close());
  return bench;
}
