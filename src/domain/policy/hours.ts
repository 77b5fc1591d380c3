// Hours of the week in a time zone: when a rule applies, or when people are left in peace; and when a week ends, for the look back of the
// audit channel. They go by what a clock on a wall in that zone shows. So an hour that daylight saving skips is not there, and one that it
// repeats counts twice.

export const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
export type Weekday = (typeof WEEKDAYS)[number];

/**
 * `from` and `to`: "HH:MM", `to` up to "24:00"; never the same. Where `to` is the earlier one, the window crosses midnight, and `days`
 * are those on which it begins. `tz`: a name that `Intl` knows, such as Europe/Berlin.
 */
export type Hours = {
  readonly tz: string;
  readonly days: readonly Weekday[];
  readonly from: string;
  readonly to: string;
};

const [MINUTE, DAY] = [60_000, 86_400_000];

/** `at`: wall time (ms). The opening moment is within, the closing moment is not. */
export function isWithin(hours: Hours, at: number): boolean {
  const local = at + offsetAt(hours.tz, at);
  const day = Math.floor(local / DAY);
  const time = local - day * DAY;
  const [from, to] = [timeOf(hours.from), timeOf(hours.to)];
  const begins = (on: number): boolean => hours.days.includes(weekdayOf(on));
  if (from < to) return begins(day) && time >= from && time < to;
  return (begins(day) && time >= from) || (begins(day - 1) && time < to);
}

/** The first moment after `at` (both wall time, ms) at which the window opens. Null: it never does. */
export function nextOpening(hours: Hours, at: number): number | null {
  return nextTurn(hours, at, true);
}

/** The first moment after `at` (both wall time, ms) at which the window closes. Null: it never does. */
export function nextClosing(hours: Hours, at: number): number | null {
  return nextTurn(hours, at, false);
}

/** Whether a time zone has this name. */
export function isTimeZone(tz: string): boolean {
  try {
    return clockOf(tz) !== null;
  } catch {
    return false;
  }
}

/** Two weeks, because a zone that changes its side of the date line skips a day; and a day, because `at` may lie within the window. */
const SEARCHED_MS = 15 * DAY;
/** The longest interval between two looks at the offset (ms). No zone changes its offset and changes it back within a few hours. */
const LOOK_MS = 6 * 60 * MINUTE;

function nextTurn(hours: Hours, at: number, opens: boolean): number | null {
  const times = [0, timeOf(hours.from), timeOf(hours.to) % DAY];
  for (let from = at; from < at + SEARCHED_MS;) {
    const to = endOfOffset(hours.tz, from, from + LOOK_MS);
    const offset = offsetAt(hours.tz, from);
    const inside = times.flatMap((time) => {
      const moment = Math.ceil((from + offset + 1 - time) / DAY) * DAY + time - offset;
      return moment < to ? [moment] : [];
    });
    const turns = [...inside, to].toSorted((a, b) => a - b);
    const found = turns.find(
      (turn) => isWithin(hours, turn) === opens && isWithin(hours, turn - 1) !== opens,
    );
    if (found !== undefined) return found;
    from = to;
  }
  return null;
}

/** The moment in which the offset of `from` ends, or `latest` if it is still the same then. */
function endOfOffset(tz: string, from: number, latest: number): number {
  const offset = offsetAt(tz, from);
  if (offsetAt(tz, latest) === offset) return latest;
  let [same, other] = [from, latest];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(tz, middle) === offset) same = middle;
    else other = middle;
  }
  return other;
}

/** What the zone's clocks are ahead of UTC at the moment (ms). */
function offsetAt(tz: string, at: number): number {
  // The zone of a policy that names none: asking for its clock would cost as much as for any other.
  if (tz === "UTC") return 0;
  const shown = clockOf(tz).format(at).split(/\D+/);
  const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = shown.map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1_000) * 1_000;
}

/** Making one takes longer than all its answers; it holds nothing but the zone's rules. */
const clocks = new Map<string, Intl.DateTimeFormat>();

function clockOf(tz: string): Intl.DateTimeFormat {
  const known = clocks.get(tz);
  if (known !== undefined) return known;
  // It shows "12/31/2026, 23:59:59".
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

/** The day 0 of Unix time is a Thursday. */
function weekdayOf(day: number): Weekday {
  return WEEKDAYS[(((day + 3) % 7) + 7) % 7] ?? "mon";
}

function timeOf(text: string): number {
  const [hours, minutes] = text.split(":");
  return Number(hours) * 60 * MINUTE + Number(minutes) * MINUTE;
}

// When a week ends: the audit channel gets its look back then.

/** `at`: "HH:MM", on a clock in that zone. `tz`: a name that `Intl` knows. */
export type LookBackTime = { readonly tz: string; readonly day: Weekday; readonly at: string };

export const DEFAULT_LOOK_BACK: LookBackTime = { tz: "UTC", day: "mon", at: "08:00" };

/** In wall time (ms). `to` is the first moment that is not in it. */
export type Week = { readonly from: number; readonly to: number };

/** Two ends of a week lie in it, whatever a zone does to its clocks. */
const WEEKS_SEARCHED_MS = 22 * DAY;

/** The newest week that has ended at `now` (wall time, ms). Null: there is none, because `tz` has no such time. */
export function lastWeek({ tz, day, at }: LookBackTime, now: number): Week | null {
  const hours: Hours = { tz, days: [day], from: at, to: "24:00" };
  const ends: number[] = [];
  for (
    let end = nextOpening(hours, now - WEEKS_SEARCHED_MS);
    end !== null && end <= now;
    end = nextOpening(hours, end)
  ) {
    // An hour that daylight saving repeats is there twice; its first time counts.
    const last = ends.at(-1);
    if (last === undefined || end - last > DAY) ends.push(end);
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
