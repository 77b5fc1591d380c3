// The moments at which the hours of a policy begin or end, in one week of winter and one of summer. Between two of them nothing changes,
// so looking at these moments looks at the whole week.

import { isWithin, nextClosing, nextOpening } from "../../domain/policy/hours.ts";
import type { When } from "../../domain/policy/policy.ts";

const WEEKS = [Date.UTC(2026, 0, 5), Date.UTC(2026, 6, 6)];
/** A window of one day in the week turns within eight days. */
const WEEK_MS = 8 * 86_400_000;
type Timed = Pick<When, "hours" | "outsideHours">;

/** Wall time (ms), in order. */
export function sampleHours(conditions: readonly Timed[]): readonly number[] {
  const windows = conditions.flatMap(({ hours = [], outsideHours = [] }) => [...hours, ...outsideHours]);
  const found = new Set(WEEKS);
  for (const start of WEEKS)
    for (const window of windows)
      for (const next of [nextOpening, nextClosing])
        for (let at = next(window, start); at !== null && at < start + WEEK_MS; at = next(window, at))
          found.add(at);
  return [...found].toSorted((a, b) => a - b);
}

/** Whether the time is right for the condition. */
export function isTimeOf({ hours, outsideHours }: Timed, at: number): boolean {
  const within = (windows: When["hours"]): boolean => windows?.some((each) => isWithin(each, at)) ?? false;
  return (hours === undefined || within(hours)) && !within(outsideHours);
}
