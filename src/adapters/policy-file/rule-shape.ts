// The conditions of a rule, as a policy file writes them, and as the domain reads them.

import { z } from "zod";
import { ChannelId, GroupId, UserId } from "../../domain/ids.ts";
import { looksLikeComparison, readComparison } from "../../domain/policy/comparison.ts";
import { type FollowUpRule, NO_FOLLOW_UP, type Stage } from "../../domain/policy/follow-up-rule.ts";
import type { Hours } from "../../domain/policy/hours.ts";
import type { Pattern } from "../../domain/policy/pattern.ts";
import type { When } from "../../domain/policy/policy.ts";
import { hoursShape } from "./hours-shape.ts";
import {
  BY_SHAPE,
  channel,
  EMPTY,
  EMPTY_LIST,
  group,
  NO_LISTS,
  oneOrMore,
  principals,
  principalsOf,
  time,
  user,
} from "./policy-values.ts";

const pattern = z.string("is not a text").min(1, "is empty").max(500, "is longer than 500 characters");
const patterns = oneOrMore(pattern, "a text (with * for any text)");
/** Refuses numbers with more digits than JavaScript keeps. */
const number = z.number().refine((each) => !Number.isInteger(each) || Number.isSafeInteger(each), {
  error: "has more digits than a number can keep; write it as a text",
});
/** Refuses a text that begins like a comparison but is not one, because such a rule would never apply. */
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
    z.array(user).min(1, EMPTY),
    z
      .strictObject({
        users: z.array(user).min(1, EMPTY).optional(),
        groups: z.array(group).min(1, EMPTY).optional(),
      })
      .refine(({ users, groups }) => users !== undefined || groups !== undefined, NO_LISTS),
  ],
  { error: "is neither a person's id nor a list of them nor lists of users or groups, by their ids" },
);

const hours = z.union([hoursShape, z.array(hoursShape).min(1, EMPTY_LIST)], {
  error: ({ input }) => (typeof input === "object" && input !== null ? BY_SHAPE : NO_HOURS),
});
const NO_HOURS =
  'is neither hours such as { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" } nor a list of them';

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

// The keys of a rule that say what happens while its request waits.

export const remind = z
  .strictObject({
    after: time("30 d").meta({ description: "how long the request has waited at the first reminder" }),
    // oxlint-disable-next-line unicorn/no-thenable -- the key of the file; nothing awaits this object
    then: z.enum(["double", "same"], "is neither double nor same").default("double").meta({
      description: "whether each further wait is twice as long or as long as the first",
    }),
    "at-most": z
      .int("is not a whole number of reminders")
      .min(1, "is less than 1; leave remind out")
      .max(20, "is more than 20 reminders")
      .default(4),
  })
  .meta({
    description: "reminders in the thread, which mention the people who can still decide; left out: none",
  });

const people = z.union([principals, z.strictObject({ channel })], {
  error: "is neither lists of users, groups or channels nor one channel, by their ids",
});

const stage = z
  .strictObject({
    after: time("30 d").meta({ description: "how long the request has waited by then" }),
    to: people.optional().meta({ description: "who may decide from then on, besides the approvers" }),
    call: people.optional().meta({ description: "who is only called" }),
  })
  .refine(({ to, call }) => to !== undefined || call !== undefined, { error: "has neither to nor call" });

export const escalate = z
  .array(stage, "is not a list of stages")
  .min(1, EMPTY_LIST)
  .max(5, "has more than 5 stages")
  .refine((stages) => stages.every(({ after }, at) => after > (stages[at - 1]?.after ?? 0)), {
    error: "has a stage that is not later than the one before it",
  })
  .meta({ description: "further people, stage by stage, when no one decides" });

export const claim = time("1 d").meta({
  description: 'how long "I\'m looking at it" lasts; left out: 30 min',
});

export const question = z
  .strictObject({ pause: time("7 d") })
  .meta({ description: "for how long a question to the requester stops the clocks; left out: 1 h" });

export const extend = z
  .strictObject({
    by: time("30 d").meta({ description: "what one press of Extend adds" }),
    "at-most": time("365 d").meta({ description: "what all of them add together" }),
  })
  .refine((given) => given["at-most"] >= given.by, { error: "has an at-most below its by" })
  .meta({ description: "people who may decide can extend the time; left out: no one can" });

export const urgent = z.boolean("is neither true nor false").default(false).meta({
  description: "people are reminded and called at any time, whatever the hours",
});

type Given = {
  readonly remind?: z.output<typeof remind> | undefined;
  readonly escalate?: z.output<typeof escalate> | undefined;
  readonly claim?: number | undefined;
  readonly question?: z.output<typeof question> | undefined;
  readonly hours?: Hours | undefined;
  readonly urgent: boolean;
  readonly expiry?:
    | { readonly warn?: number | undefined; readonly extend?: z.output<typeof extend> | undefined }
    | undefined;
};

/** `usual` is the default for a rule without hours. */
export function followUpOf(given: Given, usual: Hours | null): FollowUpRule {
  const { remind: reminders, expiry } = given;
  const longer = expiry?.extend;
  return {
    remind:
      reminders === undefined
        ? null
        : { afterMs: reminders.after, doubles: reminders.then === "double", atMost: reminders["at-most"] },
    escalate: (given.escalate ?? []).map(stageOf),
    claimMs: given.claim ?? NO_FOLLOW_UP.claimMs,
    questionMs: given.question?.pause ?? NO_FOLLOW_UP.questionMs,
    warnMs: expiry?.warn ?? null,
    extend: longer === undefined ? null : { byMs: longer.by, atMostMs: longer["at-most"] },
    hours: given.hours ?? usual,
    urgent: given.urgent,
  };
}

function stageOf({ after, to, call }: z.output<typeof stage>): Stage {
  return { afterMs: after, to: peopleOf(to), call: peopleOf(call) };
}

function peopleOf(given: z.output<typeof people> | undefined): Stage["to"] {
  if (given === undefined) return null;
  return principalsOf("channel" in given ? { channels: [given.channel] } : given);
}
