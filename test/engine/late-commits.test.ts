import { expect, test } from "vitest";
import { createLateCommits } from "#src/engine/late-commits.ts";
import type { StoredRun } from "#src/ports/store.ts";
import { createHandClock } from "../make/clock.ts";
import { failure } from "../make/bot.ts";
import { aRun, aRunKey } from "../make/run.ts";

/** Loses an answer, and then passes an hour in which `look` answers the looks at the run. Returns the times of the looks since then (ms). */
async function anHourOf(look: (n: number) => Promise<StoredRun>) {
  const clock = createHandClock();
  const [looks, errors]: [number[], object[]] = [[], []];
  const lostAt = clock.monotonic();
  const load = (): Promise<StoredRun> => look(looks.push(clock.monotonic() - lostAt));
  const log = { error: (facts: object) => void errors.push(facts), debug: () => undefined };
  const { watched } = createLateCommits({ store: { load }, clock, log }, { resume: () => Promise.resolve() });
  await expect(watched(aRunKey(), Promise.reject(lost()))).rejects.toThrow("store_slow");
  await clock.pass(60 * 60_000);
  return { looks, errors };
}

const lost = () => failure("store_slow", { applied: "maybe" });

test("an answer that gets lost while an earlier look is in progress has looks of its own", async () => {
  const clock = createHandClock();
  const looks: number[] = [];
  const inProgress = Promise.withResolvers<void>();
  const { watched } = createLateCommits(
    {
      store: { load: () => Promise.resolve({ run: aRun(), revision: 1 }) },
      clock,
      log: { error: () => undefined, debug: () => undefined },
    },
    {
      async resume() {
        looks.push(clock.monotonic());
        if (looks.length === 3) await inProgress.promise;
      },
    },
  );
  const key = aRunKey();
  await expect(watched(key, Promise.reject(lost()))).rejects.toThrow("store_slow");
  await clock.pass(36_000);
  expect(looks).toHaveLength(3);
  const lostAt = clock.monotonic();
  await expect(watched(key, Promise.reject(lost()))).rejects.toThrow("store_slow");
  inProgress.resolve();
  await clock.pass(200_000);
  expect(looks.slice(3).map((at) => at - lostAt)).toEqual([1_000, 6_000, 36_000, 156_000]);
});

test("an answer that says no is looked for no more", async () => {
  const clock = createHandClock();
  let looks = 0;
  const { watched } = createLateCommits(
    {
      store: { load: () => Promise.resolve({ run: aRun(), revision: 1 }) },
      clock,
      log: { error: () => undefined, debug: () => undefined },
    },
    { resume: () => Promise.resolve(void (looks += 1)) },
  );
  await expect(watched(aRunKey(), Promise.reject(failure("store_busy")))).rejects.toThrow("store_busy");
  await clock.pass(200_000);
  expect(looks).toBe(0);
});

test("looks at a run that cannot be read end when all waits are over", async () => {
  const { looks } = await anHourOf(() => Promise.reject(failure("row_unreadable", { retry: "never" })));
  expect(looks).toEqual([1_000, 6_000, 36_000, 156_000]);
});

test("a look that fails is repeated, at first soon and then every 30 seconds, and the first success is followed by the other looks", async () => {
  const { looks } = await anHourOf((n) =>
    n > 7 ? Promise.resolve({ run: aRun(), revision: 1 }) : Promise.reject(failure("store_busy")),
  );
  expect(looks.map((at, n) => (at - (looks[n - 1] ?? 0)) / 1_000)).toEqual([
    1, 2, 4, 8, 16, 30, 30, 30, 5, 30, 120,
  ]);
});

test("looks that fail for the same reason are logged once a minute", async () => {
  const { looks, errors } = await anHourOf(() => Promise.reject(failure("store_busy")));
  expect(looks.length).toBeGreaterThan(100);
  expect(errors.length).toBeGreaterThan(50);
  expect(errors.length).toBeLessThanOrEqual(61);
});
