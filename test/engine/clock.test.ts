import { expect, test } from "vitest";
import { createClock } from "#src/engine/clock.ts";

test("monotonic time is whole milliseconds, also after a stored time that was not", () => {
  const clock = createClock();
  expect(clock.monotonic() % 1).toBe(0);
  clock.continueAfter(clock.monotonic() + 1_000.5);
  expect(clock.monotonic() % 1).toBe(0);
});

test("a clock that starts from another time continues from there, also backwards", () => {
  const clock = createClock();
  clock.beginAt(1_000_000);
  expect(clock.monotonic()).toBeGreaterThanOrEqual(1_000_000);
  expect(clock.monotonic()).toBeLessThan(1_060_000);
});
