import { expect, test } from "vitest";
import { createLateCommits } from "#src/engine/late-commits.ts";
import { createHandClock } from "../make/clock.ts";
import { failure } from "../make/bot.ts";
import { aRun, aRunKey } from "../make/run.ts";

const lost = () => failure("store_slow", { applied: "maybe" });

test("an answer that gets lost while an earlier look is in progress has looks of its own", async () => {
  const clock = createHandClock();
  const looks: number[] = [];
  const inProgress = Promise.withResolvers<void>();
  const { watched } = createLateCommits(
    {
      store: { load: () => Promise.resolve({ run: aRun(), revision: 1 }) },
      clock,
      log: { error: () => undefined },
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
      log: { error: () => undefined },
    },
    { resume: () => Promise.resolve(void (looks += 1)) },
  );
  await expect(watched(aRunKey(), Promise.reject(failure("store_busy")))).rejects.toThrow("store_busy");
  await clock.pass(200_000);
  expect(looks).toBe(0);
});
