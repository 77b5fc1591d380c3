// The saved tasks of a policy file.

import { z } from "zod";
import { ChannelId } from "../../domain/ids.ts";
import { fieldNames, type SavedTask, type TaskField } from "../../domain/policy/saved-task.ts";
import { channel, EMPTY, EMPTY_LIST, principalsOf, who } from "./policy-values.ts";

const NAME = /^[a-z][a-z0-9_-]{0,39}$/;
const label = (most: number) =>
  z.string("is not a text").trim().min(1, "is empty").max(most, `is longer than ${most} characters`);

const field = z.strictObject({
  /** Slack's menus show 75 characters; labels are ours. */
  label: label(75).optional(),
  choices: z
    .array(label(75), "is not a list of texts")
    .min(1, "is empty; leave it out to take any text")
    .max(100, "has more than the 100 choices that Slack's menu takes")
    .optional(),
  required: z.boolean("is neither true nor false").default(true),
});

/** Slack accepts 100 blocks in a form, but people do not like forms with more fields than this. */
const MAX_FIELDS = 10;

const task = z
  .strictObject({
    name: z
      .string("is not a text")
      .regex(NAME, "is not a name such as deploy or restart-web (small letters, digits, - and _)"),
    description: label(150),
    text: z
      .string("is not a text")
      .trim()
      .min(1, "is empty")
      .max(2_000, "is longer than 2000 characters")
      .meta({ description: "what the agent is told; fields in braces: Deploy {service} to {env}" }),
    fields: z
      .record(z.string().regex(NAME, "is not the name of a field"), field)
      .default({})
      .meta({ description: "by the names in the text; one that is left out takes any text" }),
    channels: z
      .array(channel, "is not a list of channels' ids")
      .min(1, EMPTY)
      .optional()
      .meta({ description: "where it can be used; left out: everywhere" }),
    who: who.optional().meta({ description: "who may use it; left out: all who may start runs" }),
  })
  .superRefine(({ text, fields }, issues) => {
    const named = fieldNames(text);
    for (const name of Object.keys(fields))
      if (!named.includes(name))
        issues.addIssue({ code: "custom", path: ["fields", name], message: "is no field of the text" });
    if (named.length > MAX_FIELDS)
      issues.addIssue({ code: "custom", path: ["text"], message: `has more than ${MAX_FIELDS} fields` });
  });

/** Slack's limit for a menu is 100, and the form has one more entry. */
const MAX_TASKS = 99;

export const tasksShape = z
  .array(task, "is not a list of tasks")
  .min(1, EMPTY_LIST)
  .max(MAX_TASKS, `has more than ${MAX_TASKS} tasks`)
  .superRefine((tasks, issues) => {
    for (const [at, { name }] of tasks.entries())
      if (tasks.findIndex((each) => each.name === name) < at)
        issues.addIssue({ code: "custom", path: [at, "name"], message: `names a second task "${name}"` });
  });

export function tasksOf(given: z.output<typeof tasksShape> | undefined): readonly SavedTask[] {
  return (given ?? []).map(({ fields, channels, who: people, ...task }) => ({
    ...task,
    fields: fieldNames(task.text).map((name): TaskField => {
      const { label: shown = name, choices = null, required = true } = fields[name] ?? {};
      return { name, label: shown, choices, required };
    }),
    channels: channels?.map(ChannelId) ?? null,
    who: people === undefined ? null : principalsOf(people),
  }));
}
