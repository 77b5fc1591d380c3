// Hours of the week in a time zone, which say when a rule applies or when people may be called, and the end of the week, for the look-back
// of the audit channel. Both follow the local time of the zone. So an hour that daylight saving time skips does not exist, and an hour that
// it repeats counts twice.

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/**
 * A window of time. `from` and `to`: "HH:MM", `to` up to "24:00", never equal. If `to` is earlier, the window crosses midnight. `days`: the
 * days on which it begins. `tz`: a name that `Intl` knows, such as Europe/Berlin.
 */
export type Hours = {
  readonly tz: string;
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
};

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Returns whether `at` (wall time, ms) is within the hours. The opening moment is; the closing moment is not. */
export function isWithin(hours: Hours, at: number): boolean {
  const local = at + offsetAt(hours.tz, at);
  const day = Math.floor(local / DAY);
  const time = local - day * DAY;
  const from = timeOf(hours.from);
  const to = timeOf(hours.to);
  const beginsOn = (date: number): boolean => hours.days.includes(weekdayOf(date));
  if (from < to) return beginsOn(day) && time >= from && time < to;
  return (beginsOn(day) && time >= from) || (beginsOn(day - 1) && time < to);
}

/** Returns the first moment after `at` at which the window opens (both wall time, ms). Returns null if it never does. */
export function nextOpening(hours: Hours, at: number): number | null {
  return nextTurn(hours, at, true);
}

/** Returns the first moment after `at` at which the window closes (both wall time, ms). Returns null if it never does. */
export function nextClosing(hours: Hours, at: number): number | null {
  return nextTurn(hours, at, false);
}

/** Returns whether a time zone has this name. */
export function isTimeZone(tz: string): boolean {
  try {
    return clockOf(tz) !== null;
  } catch {
    return false;
  }
}

/** How far ahead we search. Two weeks, because a zone that crosses the date line skips a day, plus a day if `at` is within the window. */
const SEARCHED_MS = 15 * DAY;
/** The interval at which the offset is checked (ms). No zone changes its offset and changes it back within a few hours. */
const LOOK_MS = 6 * 60 * MINUTE;

function nextTurn(hours: Hours, at: number, opens: boolean): number | null {
  const times = [0, timeOf(hours.from), timeOf(hours.to) % DAY];
  for (let from = at; from < at + SEARCHED_MS;) {
    const to = endOfOffset(hours.tz, from, from + LOOK_MS);
    const offset = offsetAt(hours.tz, from);
    const moments = times.flatMap((time) => {
      const moment = Math.ceil((from + offset + 1 - time) / DAY) * DAY + time - offset;
      return moment < to ? [moment] : [];
    });
    const found = [...moments, to]
      .toSorted((a, b) => a - b)
      .find((moment) => isWithin(hours, moment) === opens && isWithin(hours, moment - 1) !== opens);
    if (found !== undefined) return found;
    from = to;
  }
  return null;
}

/** Returns the moment at which the offset of `from` ends, or `latest` if it has not ended by then. */
function endOfOffset(tz: string, from: number, latest: number): number {
  const offset = offsetAt(tz, from);
  if (offsetAt(tz, latest) === offset) return latest;
  let before = from;
  let after = latest;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(tz, middle) === offset) before = middle;
    else after = middle;
  }
  return after;
}

/** Returns how far the zone's local time is ahead of UTC (ms). */
function offsetAt(tz: string, at: number): number {
  // A fast path for policies that name no zone.
  if (tz === "UTC") return 0;
  const shown = clockOf(tz).format(at).split(/\D+/);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = shown.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** A cache by time zone, because making a format is slow. A format holds only the rules of its zone, so it never goes stale. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(tz: string): Intl.DateTimeFormat {
  const cached = clocks.get(tz);
  if (cached !== undefined) return cached;
  // Formats like "12/31/2026, 23:59:59".
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone: tz,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  clocks.set(tz, clock);
  return clock;
}

/** `day` counts from the start of Unix time, which was a Thursday. */
function weekdayOf(day: number): Weekday {
  return WEEKDAYS[(((day + 3) % 7) + 7) % 7] ?? "mon";
}

function timeOf(text: string): number {
  const [hours, minutes] = text.split(":");
  return Number(hours) * 60 * MINUTE + Number(minutes) * MINUTE;
}

// The end of the week, when the audit channel gets its look-back.

/** `at`: "HH:MM", local time of the zone. `tz`: a name that `Intl` knows. */
export type LookBackTime = { readonly tz: string; readonly day: Weekday; readonly at: string };

export const DEFAULT_LOOK_BACK: LookBackTime = { tz: "UTC", day: "mon", at: "08:00" };

/** Both ends are wall time (ms). `to` is the first moment after the week. */
export type Week = { readonly from: number; readonly to: number };

/** How far back we search. Two ends of a week always lie within, whatever a zone does to its clocks. */
const WEEKS_SEARCHED_MS = 22 * DAY;

/** Returns the newest week that has ended by `now` (wall time, ms). Returns null if there is none, because `tz` has no such time. */
export function lastWeek({ tz, day, at }: LookBackTime, now: number): Week | null {
  const hours: Hours = { tz, days: [day], from: at, to: "24:00" };
  const ends: number[] = [];
  for (
    let end = nextOpening(hours, now - WEEKS_SEARCHED_MS);
    end !== null && end <= now;
    end = nextOpening(hours, end)
  ) {
    // An hour that daylight saving time repeats occurs twice. The first one counts.
    const last = ends.at(-1);
    if (last === undefined || end - last > DAY) ends.push(end);
  }
  const [from, to] = ends.slice(-2);
  return from === undefined || to === undefined ? null : { from, to };
}

/** A window that opens at each midnight, or soon after if a zone skips that hour. */
const MIDNIGHTS = { days: WEEKDAYS, from: "00:00", to: "12:00" } as const;

/** Returns when each calendar day of the week begins in that zone (ms). The first and the last day may be in the week only in part. */
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
