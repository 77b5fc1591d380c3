// Hours of the week, as a policy file writes them: { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" }; and the
// end of a week.

import { z } from "zod";
import {
  DEFAULT_LOOK_BACK,
  type Hours,
  isTimeZone,
  type LookBackTime,
  type Weekday,
  WEEKDAYS,
} from "../../domain/policy/hours.ts";
import { EMPTY_LIST } from "./policy-values.ts";

const DAY = `(?:${WEEKDAYS.join("|")})`;
const NO_DAYS = "is not a day or a range of days, such as sat or mon-fri";
const days = z.string(NO_DAYS).regex(new RegExp(`^${DAY}(?:-${DAY})?$`), NO_DAYS);

const clock = (latest: RegExp, says: string) => z.string(says).regex(latest, says);

/** Without `days`, the window applies every day. If `to` is earlier than `from`, the window ends on the next day. */
export const hoursShape = z
  .strictObject(
    {
      tz: z
        .string("is not a time zone such as Europe/Berlin")
        .refine((tz) => /^[A-Za-z]/.test(tz) && isTimeZone(tz), {
          error: "is not a time zone such as Europe/Berlin",
        })
        .meta({ description: "a time zone such as Europe/Berlin; daylight saving is its own" }),
      days: z
        .union([days, z.array(days).min(1, EMPTY_LIST)], {
          error: "is neither a day, nor a range of days such as mon-fri, nor a list of them",
        })
        .optional()
        .meta({
          description: "mon-fri, sat, or a list; on these days the window begins; left out: every day",
        }),
      from: clock(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'is not a time of day such as "08:00", in quotes'),
      to: clock(
        /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/,
        'is not a time of day such as "20:00", in quotes',
      ).meta({
        description: "the first minute outside; earlier than from: on the next day",
      }),
    },
    'is not hours such as { tz: Europe/Berlin, from: "08:00", to: "20:00" }',
  )
  .refine(({ from, to }) => from !== to, {
    error: 'has the same time twice; for a whole day write from: "00:00", to: "24:00"',
  })
  .transform(({ tz, days: given, from, to }): Hours => ({ tz, days: daysOf(given), from, to }));

function daysOf(given: string | readonly string[] | undefined): readonly Weekday[] {
  if (given === undefined) return WEEKDAYS;
  const named = new Set((typeof given === "string" ? [given] : given).flatMap(oneSpan));
  return WEEKDAYS.filter((day) => named.has(day));
}

/** Returns the days of a span. "fri-mon" covers the weekend. */
function oneSpan(span: string): readonly Weekday[] {
  const [first = "", last = first] = span.split("-");
  const at = (name: string): number => WEEKDAYS.findIndex((day) => day === name);
  const many = ((at(last) - at(first) + 7) % 7) + 1;
  return [...WEEKDAYS, ...WEEKDAYS].slice(at(first), at(first) + many);
}

// `look-back`: when the week ends for the audit channel's look back.

const says = "is neither the word off nor a day, a time and a time zone";

export const lookBack = z
  .union(
    [
      z.literal("off"),
      z.strictObject(
        {
          tz: z
            .string("is not a text")
            .refine((tz) => /^[A-Za-z]/.test(tz) && isTimeZone(tz), {
              error: "is not a time zone such as Europe/Berlin or UTC",
            })
            .default(DEFAULT_LOOK_BACK.tz),
          day: z
            .enum(WEEKDAYS, { error: `is not a day: ${WEEKDAYS.join(", ")}` })
            .default(DEFAULT_LOOK_BACK.day),
          at: z
            .string("is not a text")
            .regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/, { error: 'is not a time such as "08:00"' })
            .default(DEFAULT_LOOK_BACK.at),
        },
        says,
      ),
    ],
    { error: lookBackFault },
  )
  .meta({
    description: "when AUDIT_CHANNEL gets its look back at the week; left out: Mondays at 08:00 UTC",
  });

/** Names the fault of the first wrong key. */
function lookBackFault(issue: {
  code?: string | undefined;
  errors?: readonly { message: string }[][];
}): string {
  const [, fields = []] = issue.errors ?? [];
  const [first] = fields;
  return first === undefined || fields.length > 1 ? says : first.message;
}

/** Returns null if there is no look back. */
export function lookBackOf(given: z.output<typeof lookBack> | undefined): LookBackTime | null {
  return given === "off" ? null : (given ?? DEFAULT_LOOK_BACK);
}
