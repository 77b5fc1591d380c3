// The keys of a rule that say what happens while its request waits, and what they mean.

import { z } from "zod";
import type { Hours } from "../../domain/policy/hours.ts";
import { type FollowUpRule, NO_FOLLOW_UP, type Stage } from "../../domain/policy/follow-up-rule.ts";
import { channel, principals, principalsOf, time } from "./policy-values.ts";

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
  .min(1, "is empty; leave it out")
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
  .meta({ description: "who may approve can extend the time; left out: no one can" });

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
    { readonly warn?: number | undefined; readonly extend?: z.output<typeof extend> | undefined } | undefined;
};

/** `usual`: the hours of a rule that names none. */
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
