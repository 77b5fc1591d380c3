// Saved tasks: texts with named fields, such as "Deploy {service} to {env}", that the policy offers to people who start runs.

import type { ChannelId } from "../ids.ts";
import { isBlank } from "../text/text.ts";
import type { Principals } from "./named-people.ts";

export type TaskField = {
  readonly name: string;
  readonly label: string;
  /** The allowed values. Null if any text is allowed. */
  readonly choices: readonly string[] | null;
  readonly required: boolean;
};

export type SavedTask = {
  readonly name: string;
  readonly description: string;
  /** The task, with its fields in braces. */
  readonly text: string;
  /** The fields, in the order of the text. */
  readonly fields: readonly TaskField[];
  /** Where the task can be used. Null if everywhere. */
  readonly channels: readonly ChannelId[] | null;
  /** Who may use the task. Null if everyone who may start runs. */
  readonly who: Principals | null;
};

const FIELD = /\{([a-z][a-z0-9_-]{0,39})\}/g;

/** Returns the names of the text's fields, once each. */
export const fieldNames = (text: string): readonly string[] => [
  ...new Set([...text.matchAll(FIELD)].map(([, name = ""]) => name)),
];

export type TaskValues = { readonly [field: string]: string };

export type WrongField = { readonly label: string; readonly choices: readonly string[] };

export type FilledTask =
  | { readonly type: "filled"; readonly text: string }
  | {
      readonly type: "unfinished";
      /** Labels of required fields without a value. */
      readonly missing: readonly string[];
      /** The fields whose value is not among their choices. */
      readonly wrong: readonly WrongField[];
      /** Names that do not belong to a field of the task. */
      readonly unknown: readonly string[];
    };

/** Fills the fields. Values are inserted as they are, so braces in them do not name a field. */
export function fillTask({ text, fields }: SavedTask, values: TaskValues): FilledTask {
  const valueOf = (name: string): string => (Object.hasOwn(values, name) ? (values[name] ?? "") : "");
  const missing = fields.filter(({ name, required }) => required && isBlank(valueOf(name)));
  const wrong = fields.flatMap(({ name, label, choices }) =>
    choices !== null && valueOf(name) !== "" && !choices.includes(valueOf(name)) ? [{ label, choices }] : [],
  );
  const unknown = Object.keys(values).filter((name) => !fields.some((field) => field.name === name));
  if (missing.length + wrong.length + unknown.length === 0)
    return { type: "filled", text: text.replace(FIELD, (_whole, name: string) => valueOf(name)) };
  const labels = (some: readonly TaskField[]): readonly string[] => some.map(({ label }) => label);
  return { type: "unfinished", missing: labels(missing), wrong, unknown };
}

const PAIR = /^([a-z][a-z0-9_-]{0,39})=(?:"([^"]*)"|“([^“”]*)”|([^\s"“”]*))(?:\s+|$)/u;

/**
 * Reads what was typed after `run`, if it names a saved task: `deploy service=billing env="eu west"`. Returns null if it is a task in the
 * person's own words. That includes a name that is followed by anything except fields.
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
