// When a week ends: the audit channel gets its look back then.

import { type Hours, nextOpening, type Weekday, WEEKDAYS } from "./hours.ts";

/** `at`: "HH:MM", on a clock in that zone. `tz`: a name that `Intl` knows. */
export type LookBackTime = { readonly tz: string; readonly day: Weekday; readonly at: string };

export const DEFAULT_LOOK_BACK: LookBackTime = { tz: "UTC", day: "mon", at: "08:00" };

/** In wall time (ms). `to` is the first moment that is not in it. */
export type Week = { readonly from: number; readonly to: number };

const DAY_MS = 86_400_000;
/** Two ends of a week lie in it, whatever a zone does to its clocks. */
const SEARCHED_MS = 22 * DAY_MS;

/** The newest week that has ended at `now` (wall time, ms). Null: there is none, because `tz` has no such time. */
export function lastWeek({ tz, day, at }: LookBackTime, now: number): Week | null {
  const hours: Hours = { tz, days: [day], from: at, to: "24:00" };
  const ends: number[] = [];
  for (
    let end = nextOpening(hours, now - SEARCHED_MS);
    end !== null && end <= now;
    end = nextOpening(hours, end)
  ) {
    // An hour that daylight saving repeats is there twice; its first time counts.
    const last = ends.at(-1);
    if (last === undefined || end - last > DAY_MS) ends.push(end);
  }
  const [from, to] = ends.slice(-2);
  return from === undefined || to === undefined ? null : { from, to };
}

/** Opens at each midnight; where a zone skips that hour, soon after. */
const MIDNIGHTS = { days: WEEKDAYS, from: "00:00", to: "12:00" } as const;

/** When the calendar days of the week begin in that zone (ms): the first and the last one may be in it only in part. */
export function daysIn({ from, to }: Week, tz: string): readonly number[] {
  const days = [from];
  for (
    let midnight = nextOpening({ tz, ...MIDNIGHTS }, from);
    midnight !== null && midnight < to;
    midnight = nextOpening({ tz, ...MIDNIGHTS }, midnight)
  )
    days.push(midnight);
  return days;
}
