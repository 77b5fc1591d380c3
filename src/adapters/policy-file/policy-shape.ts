// The schema of a policy file. Unknown keys are refused, not ignored.

import { z } from "zod";
import { NEVER_VOLATILE } from "../../domain/policy/policy.ts";
import { claim, escalate, extend, question, remind, urgent, whenShape } from "./rule-shape.ts";
import { hoursShape, lookBack } from "./hours-shape.ts";
import {
  approversShape,
  channel,
  EMPTY,
  EMPTY_LIST,
  group,
  NO_LISTS,
  principals,
  time,
  user,
  who,
} from "./policy-values.ts";
import { tasksShape } from "./tasks-shape.ts";

const chars = z
  .int("is not a whole number of characters")
  .min(0, "is less than 0")
  .max(3_000, "is more than the 3000 characters that Slack's form takes");

const mention = z.union(
  [
    z.literal("nobody"),
    z
      .strictObject({
        users: z.array(user).min(1, EMPTY).optional(),
        groups: z.array(group).min(1, EMPTY).optional(),
      })
      .refine(({ users, groups }) => users !== undefined || groups !== undefined, NO_LISTS),
  ],
  { error: "is neither the word nobody nor lists of users or groups, by their ids" },
);

const rule = z.strictObject({
  name: z.string("is not a text").min(1, "is empty").max(80, "is longer than 80 characters").meta({
    description:
      "shown in Details, refusals, receipts, the queue and the audit, not on the card; no two rules share one",
  }),
  when: whenShape.optional().meta({ description: "all that is given must hold; left out: always" }),
  approvers: approversShape.meta({
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
  quorum: z
    .int("is not a whole number of people")
    .min(1, "is less than 1")
    .max(20, "is more than 20 people")
    .default(1)
    .meta({ description: "how many different people must approve; one denial ends it" }),
  hold: time("10 min").optional().meta({
    description: "how long an approval waits before it is sent, with Undo; a denial goes at once",
  }),
  expiry: z
    .strictObject({
      after: time("365 d").meta({ description: "counted from when this request was first seen" }),
      outcome: z.enum(["nothing", "deny"], "is neither nothing nor deny").default("nothing"),
      warn: time("365 d").optional().meta({
        description:
          "the last reminder comes so long before; left out: a quarter of the time, at most 15 min",
      }),
      extend: extend.optional(),
    })
    .optional()
    .meta({ description: "what happens when the request is not decided in time; left out: it waits" }),
  friction: z
    .strictObject({
      "read-first": z.boolean("is neither true nor false").default(false),
      type: z
        .string("is not a text")
        .regex(/^[\p{L}\p{N}](?:[\p{L}\p{N} ._/-]{0,58}[\p{L}\p{N}])?$/u, {
          error: "is not one or a few words (letters, digits, spaces, . _ / -; at most 60 characters)",
        })
        .optional(),
    })
    .optional()
    .meta({ description: "before approving: open the request in full; type a given word" }),
  "deny-reasons": z
    .array(
      z
        .string("is not a text")
        .trim()
        .min(1, "is empty")
        .max(75, "is longer than the 75 characters that Slack's menu shows"),
      "is not a list of texts",
    )
    .min(1, EMPTY_LIST)
    .max(20, "has more than 20 texts")
    .optional()
    .meta({ description: "reasons that the form for a denial offers; the person may change the text" }),
  mention: mention.optional().meta({
    description: "whom the card mentions when it is posted; left out: the users and groups of approvers",
  }),
  remind: remind.optional(),
  escalate: escalate.optional(),
  claim: claim.optional(),
  question: question.optional(),
  hours: hoursShape.optional().meta({
    description: "when people are reminded and called; left out: the policy's hours, or at any time",
  }),
  urgent,
  receipt: z.enum(["at-once", "together"], "is neither at-once nor together").default("together").meta({
    description:
      "a receipt in a direct message at once for each decision, or one message for those of a quarter of an hour",
  }),
});

const starter = z.strictObject({
  channels: z
    .array(channel, "is not a list of channels' ids")
    .min(1, EMPTY)
    .optional()
    .meta({ description: "left out: every channel" }),
  who,
});

const cardFields = z
  .array(z.string("is not the name of a field").min(1, "is empty").max(200), "is not a list of fields")
  .max(20, "has more than 20 fields");

export const PolicyShape = z
  .strictObject({
    rules: z.array(rule, "is not a list of rules").min(1, "is empty, so no request could be decided").meta({
      description: "the first rule that matches counts; a request that matches none can't be decided",
    }),
    hours: hoursShape.optional().meta({ description: "the hours of every rule that names none" }),
    starters: z
      .array(starter, "is not a list")
      .min(1, "is empty, so no one could start a run; leave it out to let everyone")
      .optional()
      .meta({ description: "who may start and watch runs, and where; left out: everyone, everywhere" }),
    tasks: tasksShape
      .optional()
      .meta({ description: "saved tasks that people can start, with fields to fill in" }),
    volatile: z
      .array(
        z
          .string("is not the name of a field")
          .min(1, "is empty")
          .refine((path) => !NEVER_VOLATILE.includes(path.replace(/^run\./, "").split(".")[0] ?? ""), {
            error: "can't be left out: what is asked for is always part of what is decided",
          }),
        "is not a list of fields",
      )
      .min(1, EMPTY_LIST)
      .optional()
      .meta({
        description:
          "fields that may change under a decision, by name or path, those of the run as run.NAME; still shown",
      }),
    fallback: channel
      .optional()
      .meta({ description: "a channel that is also told when no one can approve a request" }),
    card: z
      .strictObject({
        risk: cardFields.meta({ description: "what says the risk: critical, high, medium, low" }),
        where: cardFields.meta({ description: "what says where it happens, such as production" }),
        lead: cardFields.meta({ description: "what comes first among the other fields" }),
      })
      .partial()
      .optional()
      .meta({
        description:
          "which fields a card shows first, by name or path, those of the run as run.NAME; left out: risk, severity, environment, tool and the like",
      }),
    auditors: principals
      .optional()
      .meta({ description: "who may be given the audit of a run, besides ADMINS; left out: no one" }),
    freezers: principals
      .optional()
      .meta({ description: "who may freeze and lift a freeze, besides ADMINS; left out: only ADMINS" }),
    "look-back": lookBack.optional(),
  })
  .meta({ title: "Countersign policy" });

/** Returns the JSON Schema for editors, which is stored in docs/policy.schema.json. */
export function policySchema(): object {
  return z.toJSONSchema(PolicyShape, { io: "input" });
}

export type PolicyText = z.output<typeof PolicyShape>;
