// When a week ends, on the clocks of a time zone.

import { describe, expect, test } from "vitest";
import { daysIn, lastWeek, type LookBackTime } from "#src/domain/policy/look-back-time.ts";

const at = (text: string): number => Date.parse(text);
const week = (from: string, to: string) => ({ from: at(from), to: at(to) });
const BERLIN: LookBackTime = { tz: "Europe/Berlin", day: "mon", at: "08:00" };

describe("the last week", () => {
  test("ends at its moment, and not before", () => {
    const utc = { ...BERLIN, tz: "UTC" };
    const ended = week("2026-11-09T08:00Z", "2026-11-16T08:00Z");
    expect(lastWeek(utc, at("2026-11-16T08:00Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-20T12:00Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-23T07:59:59.999Z"))).toEqual(ended);
    expect(lastWeek(utc, at("2026-11-23T08:00Z"))).toEqual(week("2026-11-16T08:00Z", "2026-11-23T08:00Z"));
  });

  test("is an hour longer or shorter where the clocks change in it", () => {
    expect(lastWeek(BERLIN, at("2026-10-26T12:00Z"))).toEqual(week("2026-10-19T06:00Z", "2026-10-26T07:00Z"));
    expect(lastWeek(BERLIN, at("2026-03-30T12:00Z"))).toEqual(week("2026-03-23T07:00Z", "2026-03-30T06:00Z"));
  });

  test("ends once where its hour comes twice, and soon after where its hour is skipped", () => {
    const night: LookBackTime = { tz: "Europe/Berlin", day: "sun", at: "02:30" };
    for (const now of ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-31T12:00Z"])
      expect(lastWeek(night, at(now))?.to).toBe(at("2026-10-25T00:30Z"));
    expect(lastWeek(night, at("2026-03-29T12:00Z"))?.to).toBe(at("2026-03-29T01:00Z"));
  });

  test("has moments that only grow while time goes on, in every zone", () => {
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

test("the days of a week begin at midnight in its zone, but for the first", () => {
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
