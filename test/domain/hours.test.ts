// Hours of the week, and the end of a week, follow the wall clock in their time zone.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hoursShape } from "#src/adapters/policy-file/hours-shape.ts";
import {
  daysIn,
  type Hours,
  isTimeZone,
  isWithin,
  lastWeek,
  type LookBackTime,
  nextClosing,
  nextOpening,
  WEEKDAYS,
} from "#src/domain/policy/hours.ts";

const OFFICE: Hours = {
  tz: "Europe/Berlin",
  days: ["mon", "tue", "wed", "thu", "fri"],
  from: "08:00",
  to: "20:00",
};
const NIGHT: Hours = { ...OFFICE, days: ["fri"], from: "22:00", to: "06:00" };
const ALWAYS: Hours = { ...OFFICE, days: WEEKDAYS, from: "00:00", to: "24:00" };
const at = (moment: string): number => Date.parse(moment);
const moment = (wall: number | null): string | null => (wall === null ? null : new Date(wall).toISOString());

describe("a window within a day", () => {
  test.each([
    ["2026-11-23T07:00:00.000Z", true], // Monday 08:00
    ["2026-11-23T06:59:59.999Z", false],
    ["2026-11-23T18:59:59.999Z", true],
    ["2026-11-23T19:00:00.000Z", false], // Monday 20:00
    ["2026-11-22T11:00:00.000Z", false], // Sunday
    ["2026-07-20T06:00:00.000Z", true], // in summer, 08:00 here is 06:00 UTC
  ])("%s: within is %s", (when, within) => {
    expect(isWithin(OFFICE, at(when))).toBe(within);
  });

  test("opens on the next of its days and closes on the same day", () => {
    expect(moment(nextOpening(OFFICE, at("2026-11-20T20:00:00Z")))).toBe("2026-11-23T07:00:00.000Z");
    expect(moment(nextClosing(OFFICE, at("2026-11-20T12:00:00Z")))).toBe("2026-11-20T19:00:00.000Z");
  });

  test("an opening moment is not its own next opening", () => {
    expect(moment(nextOpening(OFFICE, at("2026-11-23T07:00:00Z")))).toBe("2026-11-24T07:00:00.000Z");
  });
});

describe("a window that crosses midnight", () => {
  test("begins on its days and ends on the day after", () => {
    expect(isWithin(NIGHT, at("2026-11-20T21:00:00Z"))).toBe(true); // Friday 22:00
    expect(isWithin(NIGHT, at("2026-11-21T04:59:00Z"))).toBe(true); // Saturday 05:59
    expect(isWithin(NIGHT, at("2026-11-21T05:00:00Z"))).toBe(false);
    expect(isWithin(NIGHT, at("2026-11-20T04:00:00Z"))).toBe(false); // Friday 05:00 belongs to Thursday
    expect(moment(nextClosing(NIGHT, at("2026-11-20T22:00:00Z")))).toBe("2026-11-21T05:00:00.000Z");
  });
});

describe("daylight saving", () => {
  test("a window whose opening time is skipped opens when the clock jumps over it", () => {
    const skipped: Hours = { ...ALWAYS, from: "02:30", to: "05:00" };
    expect(moment(nextOpening(skipped, at("2026-03-29T00:00:00Z")))).toBe("2026-03-29T01:00:00.000Z");
  });

  test("a window whose closing time comes twice closes twice", () => {
    const twice: Hours = { ...ALWAYS, to: "02:30" };
    const first = nextClosing(twice, at("2026-10-24T22:30:00Z"));
    expect(moment(first)).toBe("2026-10-25T00:30:00.000Z");
    expect(moment(nextOpening(twice, first ?? 0))).toBe("2026-10-25T01:00:00.000Z");
    expect(moment(nextClosing(twice, first ?? 0))).toBe("2026-10-25T01:30:00.000Z");
  });
});

test("a window that is always open never opens and never closes", () => {
  expect([nextOpening(ALWAYS, 0), nextClosing(ALWAYS, 0)]).toEqual([null, null]);
});

test("a day that a time zone skips delays the window by a week", () => {
  const apia: Hours = { tz: "Pacific/Apia", days: ["fri"], from: "09:00", to: "10:00" };
  expect(moment(nextOpening(apia, at("2011-12-24T00:00:00Z")))).toBe("2012-01-05T19:00:00.000Z");
});

const two = (many: number): string => String(many).padStart(2, "0");
const time = fc.integer({ min: 0, max: 1_439 }).map((all) => `${two(Math.floor(all / 60))}:${two(all % 60)}`);
const hours: fc.Arbitrary<Hours> = fc
  .record({
    tz: fc.constantFrom("Europe/Berlin", "America/St_Johns", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"),
    days: fc.subarray([...WEEKDAYS], { minLength: 1 }),
    from: time,
    to: fc.oneof(time, fc.constant("24:00")),
  })
  .filter(({ from, to }) => from !== to);
/** Near the 2026 clock changes in Europe, Canada and Australia, and anywhere in the year. */
const wall = fc.oneof(
  ...["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01", "2026-04-05", "2026-10-04"].map((day) =>
    fc.integer({ min: at(day) - 2 * 86_400_000, max: at(day) + 2 * 86_400_000 }),
  ),
  fc.integer({ min: at("2026-01-01"), max: at("2027-01-01") }),
);

test("the wall clock decides, in every time zone and across every clock change", () => {
  fc.assert(
    fc.property(hours, wall, (window, moment) => {
      const [day = "", shown = ""] = new Intl.DateTimeFormat("en-GB", {
        timeZone: window.tz,
        weekday: "short",
        hour: "2-digit",
        minute: "2-digit",
        hourCycle: "h23",
      })
        .format(moment)
        .toLowerCase()
        .split(/,? /);
      const today = WEEKDAYS.findIndex((each) => each === day);
      const begins = (index: number): boolean => window.days.includes(WEEKDAYS[(index + 7) % 7] ?? "mon");
      const { from, to } = window;
      const within =
        from < to
          ? begins(today) && shown >= from && shown < to
          : (begins(today) && shown >= from) || (begins(today - 1) && shown < to);
      expect(isWithin(window, moment)).toBe(within);
    }),
    { numRuns: 400 },
  );
});

test("nothing changes before the next opening or closing, and it changes there", () => {
  fc.assert(
    fc.property(hours, wall, fc.double({ min: 0, max: 0.999_999, noNaN: true }), (window, moment, part) => {
      const within = isWithin(window, moment);
      const turn = within ? nextClosing(window, moment) : nextOpening(window, moment);
      const until = turn ?? moment + 14 * 86_400_000;
      const between = moment + Math.floor((until - moment) * part);
      expect(isWithin(window, between)).toBe(within);
      const { days, from, to } = window;
      const isAlways = days.length === 7 && from === "00:00" && to === "24:00";
      const turned = turn === null ? [] : [isWithin(window, turn - 1), isWithin(window, turn)];
      expect(turned).toEqual(isAlways ? [] : [within, !within]);
    }),
    { numRuns: 400 },
  );
});

describe("hours as a policy file writes them", () => {
  const read = (given: object) =>
    hoursShape.safeParse({ tz: "Europe/Berlin", from: "08:00", to: "20:00", ...given });

  test.each([
    ["mon-fri", ["mon", "tue", "wed", "thu", "fri"]],
    [
      ["sat", "sun"],
      ["sat", "sun"],
    ],
    ["fri-mon", ["mon", "fri", "sat", "sun"]],
    [
      ["mon-tue", "tue", "sun"],
      ["mon", "tue", "sun"],
    ],
    [undefined, [...WEEKDAYS]],
  ])("accepts days %j", (days, means) => {
    expect(read(days === undefined ? {} : { days }).data?.days).toEqual(means);
  });

  test.each([
    [{ tz: "Europe/Brlin" }],
    [{ tz: "+02:00" }],
    [{ days: [] }],
    [{ days: "monday" }],
    [{ from: "8:00" }],
    [{ from: 480 }], // YAML 1.1 reads 8:00 as a number
    [{ from: "24:00" }],
    [{ to: "24:01" }],
    [{ from: "20:00" }],
    [{ at: "08:00" }],
  ])("refuses %j", (given) => {
    expect(read(given).success).toBe(false);
  });
});

test("a time zone is recognized by its name", () => {
  expect(["UTC", "Europe/Berlin", "Mars/Base", ""].map(isTimeZone)).toEqual([true, true, false, false]);
});

const week = (from: string, to: string) => ({ from: at(from), to: at(to) });
const BERLIN: LookBackTime = { tz: "Europe/Berlin", day: "mon", at: "08:00" };

describe("the last week", () => {
  test("ends at its exact moment, and not before", () => {
    const utc = { ...BERLIN, tz: "UTC" };
    const ended = week("2026-11-09T08:00Z", "2026-11-16T08:00Z");
    expect(lastWeek(utc, at("2026-11-16T08:00Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-20T12:00Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-23T07:59:59.999Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-23T08:00Z"))).toEqual(week("2026-11-16T08:00Z", "2026-11-23T08:00Z"));
  });

  test("is an hour longer or shorter when the clocks change in it", () => {
    expect(lastWeek(BERLIN, at("2026-10-26T12:00Z"))).toEqual(week("2026-10-19T06:00Z", "2026-10-26T07:00Z"));
    expect(lastWeek(BERLIN, at("2026-03-30T12:00Z"))).toEqual(week("2026-03-23T07:00Z", "2026-03-30T06:00Z"));
  });

  test("ends once if its hour comes twice, and soon after if its hour is skipped", () => {
    const night: LookBackTime = { tz: "Europe/Berlin", day: "sun", at: "02:30" };
    for (const now of ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-31T12:00Z"])
      expect(lastWeek(night, at(now))?.to).toBe(at("2026-10-25T00:30Z"));
    expect(lastWeek(night, at("2026-03-29T12:00Z"))?.to).toBe(at("2026-03-29T01:00Z"));
  });

  test("has an end that only moves forward as time passes, in every time zone", () => {
    for (const tz of ["UTC", "America/New_York", "Pacific/Apia", "Asia/Kathmandu", "Australia/Lord_Howe"]) {
      let last = 0;
      for (let now = at("2026-01-01T00:00Z"); now < at("2027-01-01T00:00Z"); now += 7 * 3_600_000) {
        const { from = 0, to = 0 } = lastWeek({ tz, day: "thu", at: "23:45" }, now) ?? {};
        expect(to).toBeGreaterThanOrEqual(last);
        expect(to).toBeLessThanOrEqual(now);
        expect(to - from).toBeGreaterThan(6 * 86_400_000);
        last = to;
      }
    }
  });
});

test("all days of a week except the first begin at midnight in its time zone", () => {
  const days = daysIn(week("2026-10-19T06:00Z", "2026-10-26T07:00Z"), "Europe/Berlin");
  expect(days.map((day) => new Date(day).toISOString().slice(0, 16))).toEqual([
    "2026-10-19T06:00",
    "2026-10-19T22:00",
    "2026-10-20T22:00",
    "2026-10-21T22:00",
    "2026-10-22T22:00",
    "2026-10-23T22:00",
    "2026-10-24T22:00",
    "2026-10-25T23:00",
  ]);
});
