// The picture of a week in words: the name of each day, and what it shows of it.

import type { DayFigures, LookBack } from "./look-back.ts";

/** "Mon 16". A week that ends in the morning has a part of two Mondays. */
export function dayName({ from }: Pick<DayFigures, "from">, tz: string): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: tz, weekday: "short", day: "numeric" })
    .format(from)
    .replace(",", "");
}

/** The text alternative of the picture. */
export function lookBackWords({ days }: Pick<LookBack, "days">, tz: string): string {
  const told = days.map(
    (day) =>
      `${dayName(day, tz)}: ${day.approved} approved, ${day.denied} denied, ${day.expired} not decided in time`,
  );
  return `Bar chart of the decisions of each day. ${told.join("; ")}.`;
}
