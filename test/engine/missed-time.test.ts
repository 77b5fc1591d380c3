// How long a machine was suspended, by its wall clock and the database's clock.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createMissedTime } from "#src/engine/missed-time.ts";

const MIN = 60_000;
const NONE = { monotonic: 0, wall: 0, database: 0, tookMs: 0 };

/** Time passes on each of the clocks, looked at after each step, by an answer that took so long. Returns what each look finds. */
function looks(...steps: readonly Partial<typeof NONE>[]): readonly number[] {
  const missedTime = createMissedTime();
  const at = { monotonic: 0, wall: 50 * MIN, database: 40 * MIN };
  missedTime({ ...at, tookMs: 0 });
  return steps.map(({ monotonic = 0, wall = monotonic, database = monotonic, tookMs = 0 }) => {
    at.monotonic += monotonic;
    at.wall += wall;
    at.database += database;
    const missed = missedTime({ ...at, tookMs });
    at.monotonic += missed;
    return missed;
  });
}

describe("time that was missed", () => {
  const suspended = { monotonic: 100, wall: 100 + 11 * MIN, database: 100 + 11 * MIN };

  test("is what both other clocks report, and is found once", () => {
    expect(looks({ monotonic: 750 }, suspended, { monotonic: 750 })).toEqual([0, 11 * MIN, 0]);
  });

  test("is found each time, however often the machine is suspended", () => {
    expect(looks(suspended, suspended)).toEqual([11 * MIN, 11 * MIN]);
  });

  test("is the shorter of both reports", () => {
    const further = { monotonic: 0, wall: 11 * MIN, database: 10 * MIN };
    expect(looks(further, { monotonic: 750 })).toEqual([10 * MIN, 0]);
  });

  test.each(["wall", "database"] as const)("is none if only the %s clock is set forward or back", (clock) => {
    for (const ms of [-MIN, MIN, 400 * 24 * 60 * MIN])
      expect(looks({ monotonic: 750, [clock]: ms }, { monotonic: 750 }, { monotonic: 750 })).toEqual([
        0, 0, 0,
      ]);
  });

  test("is found although one clock is corrected minutes after the machine resumes", () => {
    const late = [{ monotonic: 100, database: 11 * MIN }, { monotonic: 34 * MIN }, { wall: 11 * MIN }];
    expect(looks(...late)).toEqual([0, 0, 11 * MIN - 100]);
  });

  test("is found in full if a clock was corrected a little some time before, and is then corrected in parts", () => {
    const inParts = [{ wall: 200 }, { monotonic: 50 * MIN }, { database: 11 * MIN }, { monotonic: 20 * MIN }];
    const corrections = [{ wall: 5 * MIN }, { wall: 6 * MIN }];
    const found = looks(...inParts, ...corrections);
    expect(found.reduce((sum, ms) => sum + ms, 0)).toBe(11 * MIN);
  });

  test("is found in full if it is longer than an hour and one clock is corrected in two parts", () => {
    const suspendedFor = { database: 120 * MIN, wall: 61 * MIN };
    expect(looks(suspendedFor, { wall: 59 * MIN })).toEqual([61 * MIN, 59 * MIN]);
  });

  test("is found in full if an answer from before the suspension arrives after it", () => {
    const before = Array.from({ length: 9 }, (_, index) => ({
      monotonic: 750,
      database: index % 2 === 0 ? 600 : 900,
      tookMs: index % 2 === 0 ? 150 : 0,
    }));
    const steps = [
      ...before,
      { monotonic: 100, wall: 100 + 11 * MIN },
      { monotonic: 100, database: 11 * MIN },
    ];
    const found = looks(...steps);
    expect(found.slice(0, -1).every((ms) => ms === 0)).toBe(true);
    expect(found.at(-1)).toBeGreaterThan(11 * MIN - 300);
  });

  test("is none if the clocks were set forward at different times", () => {
    expect(looks({ database: 11 * MIN }, { monotonic: 61 * MIN }, { wall: 11 * MIN })).toEqual([0, 0, 0]);
  });

  test("does not add up from answers that arrive a little late or early", () => {
    const jitter = Array.from({ length: 1_000 }, (_, index) => ({
      monotonic: 750,
      wall: 750 + (index % 2 === 0 ? 60 : -60),
      database: 750 + (index % 3 === 0 ? 90 : -45),
    }));
    expect(new Set(looks(...jitter))).toEqual(new Set([0]));
  });

  test("is none for answers that take a second or not, although the wall clock was set forward", () => {
    const slowAndQuick = [
      { monotonic: 1_750, database: 750, tookMs: 1_000 },
      { monotonic: 750, database: 1_750 },
    ];
    const answers = Array.from({ length: 200 }, () => slowAndQuick).flat();
    expect(new Set(looks({ monotonic: 750, wall: 11 * MIN }, ...answers))).toEqual(new Set([0]));
  });

  test("does not add up from a database that is slow for minutes again and again", () => {
    const slowly = [
      { monotonic: 2_250, database: 750, tookMs: 1_500 },
      ...Array.from({ length: 20 }, () => ({ monotonic: MIN, tookMs: 1_500 })),
      { monotonic: 750, database: 2_250 },
      { monotonic: 30 * MIN },
    ];
    const day = Array.from({ length: 30 }, () => slowly).flat();
    expect(new Set(looks(...day, { wall: 11 * MIN }))).toEqual(new Set([0]));
  });

  test("is none if the process stood still beside a running machine while it waited for an answer", () => {
    const stale = { monotonic: 20 * MIN, wall: 20 * MIN, database: 0, tookMs: 20 * MIN };
    expect(looks(stale, { monotonic: 750, database: 750 + 20 * MIN }, { wall: 11 * MIN })).toEqual([0, 0, 0]);
  });

  test.each(["wall", "database"] as const)(
    "is found in full although the %s clock was set back right before",
    (clock) => {
      expect(looks({ monotonic: MIN, [clock]: MIN - 20 * MIN }, suspended)).toEqual([0, 11 * MIN]);
    },
  );

  test.each(["wall", "database"] as const)(
    "is none if the %s clock was set forward and back, and then the other one forward",
    (clock) => {
      const other = clock === "wall" ? "database" : "wall";
      expect(looks({ [clock]: 60 * MIN }, { [clock]: -60 * MIN }, { [other]: MIN })).toEqual([0, 0, 0]);
    },
  );

  test("is found if the database answers again only after an hour", () => {
    expect(looks({ monotonic: 750 }, { monotonic: 60 * MIN, wall: 65 * MIN, database: 65 * MIN })).toEqual([
      0,
      5 * MIN,
    ]);
  });

  test("is found in full if the first answer after the suspension takes long", () => {
    const first = { monotonic: 900, wall: 900 + 4_000, database: 100 + 4_000, tookMs: 800 };
    const next = { monotonic: 100, database: 900 };
    expect(looks({ monotonic: 750 }, first, next)).toEqual([0, 3_200, 800]);
  });

  /** The machine was suspended before the question, or while the answer was on its way; the database read its clock at `share` of that. */
  const round = fc.record({
    ran: fc.integer({ min: 1, max: 5_000 }),
    tookMs: fc.integer({ min: 0, max: 3_000 }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
    suspendedMs: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 30 * MIN })),
    when: fc.constantFrom("before the question", "before the reading", "after the reading"),
  });

  test("is never more than that of all suspensions, and 100 ms less at most, however long the answers take", () => {
    fc.assert(
      fc.property(fc.array(round, { maxLength: 20 }), (rounds) => {
        const steps: Partial<typeof NONE>[] = [];
        let [shown, truth] = [0, 0];
        let suspendedInAll = 0;
        for (const { ran, tookMs, share, suspendedMs, when } of rounds) {
          const readAfterMs = Math.floor(tookMs * share);
          const isSeen = when !== "after the reading";
          const reading = truth + ran + readAfterMs + (isSeen ? suspendedMs : 0);
          steps.push({
            monotonic: ran + tookMs,
            wall: ran + tookMs + suspendedMs,
            database: reading - shown,
            tookMs,
          });
          shown = reading;
          truth += ran + tookMs + suspendedMs;
          suspendedInAll += suspendedMs;
        }
        const found = looks(...steps, { monotonic: 1, database: truth + 1 - shown });
        const foundInAll = found.reduce((sum, ms) => sum + ms, 0);
        expect(foundInAll).toBeLessThanOrEqual(suspendedInAll);
        expect(foundInAll).toBeGreaterThan(suspendedInAll - 100);
      }),
      { numRuns: 500 },
    );
  });
});
