import { expect, test } from "vitest";
import { grownIn, type Sample } from "./growth.ts";

/** Twenty samples of one process, a minute apart. */
const sampled = (at: (minute: number) => Partial<Sample>): readonly Sample[] =>
  Array.from({ length: 20 }, (_, minute) => ({ rssMb: 180, files: 40, sockets: 20, ...at(minute) }));

test("a process that loads and compiles in its first minutes, and then varies, does not grow", () => {
  const samples = sampled((minute) => ({
    rssMb: minute < 4 ? 120 + 15 * minute : 180 + (minute % 3) * 4,
    files: 40 + (minute % 4) * 6,
    sockets: 20 + (minute % 4) * 6,
  }));
  expect(grownIn(samples)).toEqual([]);
});

test("high samples are no growth while others are as low as before", () => {
  expect(grownIn(sampled((minute) => (minute > 15 ? { rssMb: 300, sockets: 130 } : {})))).toEqual([]);
});

test("a leak shows as growth from the second to the last quarter", () => {
  const leaking = sampled((minute) => ({
    rssMb: 180 + 3 * minute,
    files: 40 + 3 * minute,
    sockets: 20 + 3 * minute,
  }));
  expect(grownIn(leaking)).toEqual([
    "rssMb grew from 195 to 225",
    "files grew from 55 to 85",
    "sockets grew from 35 to 65",
  ]);
});

test("too few samples prove nothing", () => {
  expect(grownIn(sampled(() => ({})).slice(0, 3))).toEqual([
    "there are 3 samples, which are too few to compare",
  ]);
});

test("what is not a number counts as growth", () => {
  expect(grownIn(sampled(() => ({ rssMb: Number.NaN })))).toEqual(["rssMb grew from NaN to NaN"]);
});
