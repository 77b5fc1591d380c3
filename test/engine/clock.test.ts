import { expect, test } from "vitest";
import { createClock } from "#src/engine/clock.ts";

test("monotonic time is whole milliseconds, also after a stored time that was not", () => {
  const clock = createClock();
  expect(clock.monotonic() % 1).toBe(0);
  clock.continueAfter(clock.monotonic() + 1_000.5);
  expect(clock.monotonic() % 1).toBe(0);
});
