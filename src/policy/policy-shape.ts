// What a policy file may hold. Whatever is not named here is refused, not ignored.

import { z } from "zod";

const id = (letters: string, what: string, example: string) =>
  z.string(`is not ${what} such as ${example}`).regex(new RegExp(`^[${letters}][A-Z0-9]{1,30}$`), {
    error: `is not ${what} such as ${example}; names are not ids`,
  });

const user = id("UW", "a person's id", "U0123ABCD");
const group = id("S", "a user group's id", "S0123ABCD");
const channel = id("CG", "a channel's id", "C0123ABCD");

const EMPTY = "is empty, so nobody is in it";

function oneOrMore<Item extends z.ZodType<string>>(item: Item, what: string) {
  return z.union([item, z.array(item).min(1)], {
    error: `is neither ${what} nor a list of them (an empty one does not count)`,
  });
}

const pattern = z.string("is not a text").min(1, "is empty").max(500, "is longer than 500 characters");
const patterns = oneOrMore(pattern, "a text (with * for any text)");
const value = z.union([pattern, z.number(), z.boolean()]);
const values = z.union([value, z.array(value).min(1)], {
  error: "is neither a value (a text with * for any text, a number, true or false) nor a list of them",
});

const circle = z
  .strictObject(
    {
      users: z.array(user, "is not a list of people's ids").min(1, EMPTY).optional(),
      groups: z.array(group, "is not a list of user groups' ids").min(1, EMPTY).optional(),
      channels: z.array(channel, "is not a list of channels' ids").min(1, EMPTY).optional(),
    },
    { error: circleFault },
  )
  .refine((given) => Object.values(given).some((list) => list !== undefined), {
    error: "names nobody: give users, groups or channels, or the word anyone",
  });
const who = z.union([z.literal("anyone"), circle], { error: circleFault });

function circleFault(issue: { code?: string | undefined; errors?: unknown }): string | undefined {
  if (issue.code === "unrecognized_keys") return undefined;
  const nested = JSON.stringify(issue.errors ?? "");
  return nested.includes(EMPTY)
    ? `has a list that ${EMPTY}`
    : "is neither the word anyone nor lists of users, groups or channels, by their ids";
}

const chars = z
  .int("is not a whole number of characters")
  .min(0, "is less than 0")
  .max(3_000, "is more than the 3000 characters that Slack's form takes");

const rule = z.strictObject({
  name: z
    .string("is not a text")
    .min(1, "is empty")
    .max(80, "is longer than 80 characters")
    .meta({ description: "shown on the card, in refusals and in the audit; no two rules share one" }),
  when: z
    .strictObject({
      channel: oneOrMore(channel, "a channel's id").optional(),
      requester: oneOrMore(user, "a person's id").optional(),
      action: patterns.optional().meta({
        description: "the whole action, with * for any text; case and invisible characters do not count",
      }),
      input: patterns.optional().meta({ description: "the run's task, likewise" }),
      field: z
        .record(z.string().min(1), values)
        .optional()
        .meta({ description: "fields of the request by name, or by path with dots" }),
    })
    .optional()
    .meta({ description: "all that is given must hold; left out: always" }),
  approvers: who.meta({
    description: "who may decide: anyone (every full member who sees the card), or lists that add up",
  }),
  "self-approval": z.boolean("is neither true nor false").default(false),
  reason: z
    .strictObject({
      approve: chars.default(0),
      deny: chars.min(1, "is less than 1: a denial needs a reason").default(1),
    })
    .default({ approve: 0, deny: 1 })
    .meta({ description: "the fewest characters of a reason" }),
});

const starter = z.strictObject({
  channels: z
    .array(channel, "is not a list of channels' ids")
    .min(1, EMPTY)
    .optional()
    .meta({ description: "left out: every channel" }),
  who,
});

export const PolicyShape = z
  .strictObject({
    rules: z
      .array(rule, "is not a list of rules")
      .min(1, "is empty, so nobody could decide anything")
      .meta({ description: "the first that fits counts; where none fits, nobody may decide" }),
    starters: z
      .array(starter, "is not a list")
      .min(1, "is empty, so nobody could start a run; leave it out to let everybody")
      .optional()
      .meta({ description: "who may start and watch runs, and where; left out: everybody, everywhere" }),
    auditors: circle
      .optional()
      .meta({ description: "who may be given the audit of a run, besides ADMINS; left out: nobody" }),
  })
  .meta({ title: "Countersign policy" });

/** For editors; docs/policy.schema.json holds it. */
export function policySchema(): object {
  return z.toJSONSchema(PolicyShape, { io: "input" });
}

export type PolicyText = z.output<typeof PolicyShape>;
