// Saved tasks: texts with named fields, such as "Deploy {service} to {env}", that the policy offers to the people who start runs.

import type { ChannelId } from "../ids.ts";
import { isBlank } from "../text/text.ts";
import type { Principals } from "./named-people.ts";

export type TaskField = {
  readonly name: string;
  readonly label: string;
  /** Null: any text. */
  readonly choices: readonly string[] | null;
  readonly required: boolean;
};

export type SavedTask = {
  readonly name: string;
  readonly description: string;
  /** Fields in braces. */
  readonly text: string;
  /** In the order of the text. */
  readonly fields: readonly TaskField[];
  /** Where it can be used; null: everywhere. */
  readonly channels: readonly ChannelId[] | null;
  /** Who may use it; null: everyone who may start runs. */
  readonly who: Principals | null;
};

const FIELD = /\{([a-z][a-z0-9_-]{0,39})\}/g;

/** The names of a text's fields, once each. */
export const fieldNames = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(FIELD)].map(([, name = ""]) => name)),
];

export type TaskValues = { readonly [field: string]: string };

export type FilledTask =
  | { readonly type: "filled"; readonly text: string }
  /** `missing`: labels of fields that need a text; `wrong`: labels of fields whose text is not among their choices. */
  | {
      readonly type: "unfinished";
      readonly missing: readonly string[];
      readonly wrong: readonly string[];
      /** Names that are no fields of the task. */
      readonly unknown: readonly string[];
    };

/** Values are put in as they are: braces in them name no field. */
export function fillTask({ text, fields }: SavedTask, values: TaskValues): FilledTask {
  const given = (name: string): string => (Object.hasOwn(values, name) ? (values[name] ?? "") : "");
  const missing = fields.filter(({ name, required }) => required && isBlank(given(name)));
  const wrong = fields.filter(
    ({ name, choices }) => choices !== null && given(name) !== "" && !choices.includes(given(name)),
  );
  const unknown = Object.keys(values).filter((name) => !fields.some((field) => field.name === name));
  if (missing.length + wrong.length + unknown.length === 0)
    return { type: "filled", text: text.replace(FIELD, (_whole, name: string) => given(name)) };
  const labels = (some: readonly TaskField[]): readonly string[] => some.map(({ label }) => label);
  return { type: "unfinished", missing: labels(missing), wrong: labels(wrong), unknown };
}

const PAIR = /^([a-z][a-z0-9_-]{0,39})=(?:"([^"]*)"|“([^“”]*)”|([^\s"“”]*))(?:\s+|$)/u;

/**
 * What was typed after `run`, where it names a saved task: `deploy service=billing env="eu west"`. Null: it is a task in people's own
 * words, also where other words than fields follow the name.
 */
export function readTaskLine<Task extends Pick<SavedTask, "name">>(
  line: string,
  tasks: readonly Task[],
): { readonly task: Task; readonly values: TaskValues } | null {
  const [, first = "", after = ""] = /^\s*(\S+)(?:\s+([^]*))?$/u.exec(line) ?? [];
  const task = tasks.find(({ name }) => name === first);
  if (task === undefined) return null;
  const values: Record<string, string> = {};
  for (let rest = after; rest.trim() !== "";) {
    const [pair = "", name = "", straight, curly, bare = ""] = PAIR.exec(rest) ?? [];
    if (pair === "") return null;
    values[name] = straight ?? curly ?? bare;
    rest = rest.slice(pair.length);
  }
  return { task, values };
}
