import { describe, expect, test } from "vitest";
import type { RunKey } from "#src/domain/ids.ts";
import { NOON } from "../make/run.ts";
import { LEASE_MS, type MakeStore, storeBench } from "./store-bench.ts";

/** The part of the store's contract about leases: who may write, and who takes over. */
export function leaseContract(name: string, makeStore: MakeStore): void {
  describe(`${name} keeps leases`, () => {
    const bench = storeBench(makeStore);

    test("an inserted run is held at once", async () => {
      const first = await bench.stored();
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("saved");
      expect(await bench.claimedKeys()).toEqual([]);
    });

    test("a process that no longer holds the run can save only if holding is not required", async () => {
      const first = await bench.stored();
      await bench.store.release();
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("not-held");
      expect(await bench.store.save(first, first.run)).toBe("passed-on");
    });

    test("a lease holds up to its last millisecond", async () => {
      const first = await bench.stored();
      bench.now = NOON + LEASE_MS - 1;
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("saved");
      const second = await bench.loaded(first.run.key);
      bench.now = NOON + LEASE_MS;
      expect(await bench.store.save(second, second.run, { mustHold: true })).toBe("not-held");
    });

    test("runs that were handed back are claimed in portions, each run once", async () => {
      const keys = new Set<RunKey>();
      for (let n = 0; n < 5; n += 1) keys.add((await bench.stored()).run.key);
      await bench.store.release();
      const portions = [
        await bench.claimedKeys(2),
        await bench.claimedKeys(2),
        await bench.claimedKeys(2),
        await bench.claimedKeys(2),
      ];
      expect(portions.map((portion) => portion.length)).toEqual([2, 2, 1, 0]);
      expect(new Set(portions.flat())).toEqual(keys);
    });

    test("a claim shuts out every writer that read the run before", async () => {
      const before = await bench.stored();
      await bench.store.release();
      await bench.store.renew(bench.now, LEASE_MS);
      const [claimed] = await bench.store.claim(1);
      expect(claimed).toEqual({ run: before.run, revision: before.revision + 1 });
      expect(await bench.store.save(before, before.run)).toBe("lost");
      expect(claimed && (await bench.store.save(claimed, claimed.run, { mustHold: true }))).toBe("saved");
    });

    test("a renewed lease continues", async () => {
      const first = await bench.stored();
      bench.now += LEASE_MS - 1;
      await bench.store.renew(bench.now, LEASE_MS);
      bench.now += LEASE_MS - 1;
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("saved");
      expect(await bench.claimedKeys()).toEqual([]);
    });

    test("a lapsed lease is lost: renewing does not restore it, and claiming does, in portions", async () => {
      const first = await bench.stored();
      const second = await bench.stored();
      bench.now += LEASE_MS;
      await bench.store.renew(bench.now, LEASE_MS);
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("not-held");
      expect(await bench.claimedKeys(1)).toHaveLength(1);
      expect(await bench.claimedKeys(1)).toHaveLength(1);
      expect(await bench.claimedKeys(1)).toEqual([]);
      const again = await bench.loaded(second.run.key);
      expect(await bench.store.save(again, again.run, { mustHold: true })).toBe("saved");
    });

    test("a lease that is extended lasts on; one that has lapsed cannot be extended", async () => {
      const first = await bench.stored();
      bench.now += LEASE_MS - 1;
      expect(await bench.store.extend(bench.now, LEASE_MS)).toBe(true);
      bench.now += LEASE_MS - 1;
      expect(await bench.store.save(first, first.run, { mustHold: true })).toBe("saved");
      const second = await bench.loaded(first.run.key);
      bench.now += 1;
      expect(await bench.store.extend(bench.now, LEASE_MS)).toBe(false);
      expect(await bench.store.save(second, second.run, { mustHold: true })).toBe("not-held");
    });

    test("a finished run cannot be claimed", async () => {
      const over = await bench.stored();
      await bench.store.save(over, over.run, { finished: true });
      await bench.store.release();
      expect(await bench.claimedKeys()).toEqual([]);
    });

    test("a save that does not say whether the run is finished does not change that", async () => {
      const over = await bench.stored();
      await bench.store.save(over, over.run, { finished: true });
      const later = await bench.loaded(over.run.key);
      await bench.store.save(later, later.run);
      await bench.store.release();
      expect(await bench.claimedKeys()).toEqual([]);
    });

    test("the process that reopens a finished run holds it", async () => {
      const over = await bench.stored();
      await bench.store.save(over, over.run, { finished: true });
      await bench.store.release();
      await bench.store.renew(bench.now, LEASE_MS);
      const later = await bench.loaded(over.run.key);
      expect(await bench.store.save(later, later.run, { finished: false })).toBe("saved");
      const reopened = await bench.loaded(over.run.key);
      expect(await bench.store.save(reopened, reopened.run, { mustHold: true, finished: false })).toBe(
        "saved",
      );
      await bench.store.release();
      expect(await bench.claimedKeys()).toEqual([over.run.key]);
    });

    test("a save that calls an unfinished run unfinished does not claim it", async () => {
      const first = await bench.stored();
      await bench.store.release();
      await bench.store.renew(bench.now, LEASE_MS);
      await bench.store.save(first, first.run, { finished: false });
      expect(await bench.claimedKeys()).toEqual([first.run.key]);
    });
  });
}
