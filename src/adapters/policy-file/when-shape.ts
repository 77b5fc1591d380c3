// The conditions of a rule, as a policy file writes them, and as the domain reads them.

import { z } from "zod";
import { ChannelId, GroupId, UserId } from "../../domain/ids.ts";
import { looksLikeComparison, readComparison } from "../../domain/policy/comparison.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import type { Pattern } from "../../domain/policy/pattern.ts";
import type { When } from "../../domain/policy/policy.ts";
import { hoursShape } from "./hours-shape.ts";
import { channel, EMPTY, group, oneOrMore, user } from "./policy-values.ts";

const pattern = z.string("is not a text").min(1, "is empty").max(500, "is longer than 500 characters");
const patterns = oneOrMore(pattern, "a text (with * for any text)");
/** JavaScript would change a number with more digits. */
const number = z.number().refine((each) => !Number.isInteger(each) || Number.isSafeInteger(each), {
  error: "has more digits than a number can keep; write it as a text",
});
/** A text that begins like a comparison and is none would be a rule that never applies. */
const fieldText = pattern.refine((text) => !looksLikeComparison(text) || readComparison(text) !== null, {
  error:
    'begins like a comparison and is none: write "> 1000", "<= 0.5" or ">= 10 and < 100"; for the text itself begin with a backslash: \'\\> 1000\'',
});
const value = z.union([fieldText, number, z.boolean()], { error: valueFault });
const values = z.union([value, z.array(value).min(1)], { error: valueFault });

function valueFault({ input }: { readonly input?: unknown }): string {
  const wrong = (Array.isArray(input) ? input : [input]).flatMap((each) => {
    const fault = fieldText.safeParse(each).error?.issues.find(({ code }) => code === "custom");
    return fault === undefined ? [] : [fault.message];
  });
  return (
    wrong[0] ??
    "is neither a value (a text with * for any text, a number, a comparison, true or false) nor a list of them"
  );
}

const requester = z.union(
  [
    user,
    z.array(user).min(1),
    z
      .strictObject({
        users: z.array(user).min(1, EMPTY).optional(),
        groups: z.array(group).min(1, EMPTY).optional(),
      })
      .refine(({ users, groups }) => users !== undefined || groups !== undefined),
  ],
  { error: "is neither a person's id nor a list of them nor lists of users or groups, by their ids" },
);

const hours = z.union([hoursShape, z.array(hoursShape).min(1)], {
  error:
    'is neither hours such as { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" } nor a list of them',
});

export const whenShape = z.strictObject({
  channel: oneOrMore(channel, "a channel's id").optional(),
  requester: requester.optional().meta({
    description: "a person's id, a list of them, or lists of users and groups, which add up",
  }),
  action: patterns.optional().meta({
    description: "the whole action as it is written, with * for any text",
  }),
  input: patterns.optional().meta({ description: "the run's task, likewise" }),
  field: z.record(z.string().min(1), values).optional().meta({
    description:
      'fields of the request by name, or by path with dots (a dot in a name: \\.); types count; "> 1000" compares numbers',
  }),
  hours: hours.optional().meta({ description: "it is within these hours, or one of them" }),
  "outside-hours": hours.optional().meta({ description: "it is outside these hours, or all of them" }),
});

export function whenOf({
  channel: channels,
  requester: asked,
  action,
  input,
  field = {},
  hours: within,
  "outside-hours": outside,
}: z.output<typeof whenShape>): When {
  return {
    channels: many(channels)?.map(ChannelId) ?? null,
    ...requestersOf(asked),
    action: many(action),
    input: many(input),
    fields: Object.fromEntries(
      Object.entries(field).map(([path, given]) => [path, (many(given) ?? []).map(patternOf)]),
    ),
    ...(within === undefined ? {} : { hours: many<Hours>(within) ?? [] }),
    ...(outside === undefined ? {} : { outsideHours: many<Hours>(outside) ?? [] }),
  };
}

function requestersOf(
  asked: z.output<typeof requester> | undefined,
): Pick<When, "requesters" | "requesterGroups"> {
  if (asked === undefined) return { requesters: null };
  const { users = [], groups } =
    typeof asked === "string" || Array.isArray(asked)
      ? { users: many(asked) ?? [], groups: undefined }
      : asked;
  return {
    requesters: users.map(UserId),
    ...(groups === undefined ? {} : { requesterGroups: groups.map(GroupId) }),
  };
}

function patternOf(given: string | number | boolean): Pattern {
  if (typeof given !== "string") return given;
  return readComparison(given) ?? given.replace(/^\\(?=\s*[<>])/, "");
}

function many<Item>(given: Item | readonly Item[] | undefined): readonly Item[] | null {
  if (given === undefined) return null;
  return isMany(given) ? given : [given];
}

function isMany<Item>(given: Item | readonly Item[]): given is readonly Item[] {
  return Array.isArray(given);
}
