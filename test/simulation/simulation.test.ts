// A slice of the histories that `npm run simulate` plays.

import { expect, test } from "vitest";
import { playSeed } from "./random-history.ts";

/** Faults, several replicas and several rules are among these. */
const TWICE = [1, 2, 3, 4, 5];

test("one seed is one history, to the byte", async () => {
  for (const seed of TWICE) {
    const [first, second] = [await playSeed(seed), await playSeed(seed)];
    expect(first.notes.length).toBeGreaterThan(50);
    expect(second.digest()).toBe(first.digest());
  }
});
