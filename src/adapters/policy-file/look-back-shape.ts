// `look-back` in a policy file: when the week ends for the audit channel's look back.

import { z } from "zod";
import { DEFAULT_LOOK_BACK, isTimeZone, type LookBackTime, WEEKDAYS } from "../../domain/policy/hours.ts";

const says = "is neither the word off nor a day, a time and a time zone";

export const lookBack = z
  .union(
    [
      z.literal("off"),
      z.strictObject({
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
      }),
    ],
    { error: lookBackFault },
  )
  .meta({
    description: "when AUDIT_CHANNEL gets its look back at the week; left out: Mondays at 08:00 UTC",
  });

/** Names what is wrong with the one key that is. */
function lookBackFault(issue: {
  code?: string | undefined;
  errors?: readonly { message: string }[][];
}): string {
  const [, fields = []] = issue.errors ?? [];
  const [first] = fields;
  return first === undefined || fields.length > 1 ? says : first.message;
}

/** Null: there is none. */
export function lookBackOf(given: z.output<typeof lookBack> | undefined): LookBackTime | null {
  return given === "off" ? null : (given ?? DEFAULT_LOOK_BACK);
}
