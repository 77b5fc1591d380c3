// Saved tasks in the form that starts a run: the menu, and the fields of the one that is chosen. The policy's texts stand in plain text.

import type { Block, View } from "@slack/types";
import type { SavedTask, TaskField, TaskValues } from "../../../domain/policy/saved-task.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { RUN_FORM, TASK_CHOICE, TASK_FIELD_BLOCK, TASK_FIELD_INPUT, TASK_MENU_BLOCK } from "../names.ts";

/** Slack's limit for the text of an option, and for its description. */
const OPTION_CHARS = 75;
/** A field of a task is a word or a line, not a page. */
const VALUE_CHARS = 500;

const plain = (text: string): object => ({ type: "plain_text", text, emoji: false });

/** The value of the entry for a task in one's own words; no name of a task looks like it. */
export const OWN_WORDS = "*";

export function taskMenu(tasks: readonly SavedTask[], chosen: SavedTask | null): Block[] {
  if (tasks.length === 0) return [];
  const own = { text: plain("In my own words"), value: OWN_WORDS };
  const options = tasks.map(({ name, description }) => ({
    text: plain(name),
    description: plain(oneLine(description, OPTION_CHARS)),
    value: name,
  }));
  const initial = options.find(({ value }) => value === chosen?.name) ?? own;
  const menu = {
    type: "static_select",
    action_id: TASK_CHOICE,
    placeholder: plain("Choose a saved task"),
    options: [own, ...options],
    initial_option: initial,
  };
  // The block's id names the choice: Slack keeps what a menu shows as long as its block stays.
  const block_id = `${TASK_MENU_BLOCK}${chosen === null ? "" : `:${chosen.name}`}`;
  return [{ type: "actions", block_id, elements: [menu] } as Block];
}

/** `values`: what the person gave with the command. */
export function savedTaskForm(
  metadata: string,
  tasks: readonly SavedTask[],
  chosen: SavedTask,
  values: TaskValues = {},
): View {
  const text = { type: "section", text: plain(chosen.text) };
  const about = { type: "context", elements: [plain(chosen.description)] };
  return {
    type: "modal",
    callback_id: RUN_FORM,
    private_metadata: metadata,
    title: { type: "plain_text", text: "Start a run" },
    submit: { type: "plain_text", text: "Start" },
    close: { type: "plain_text", text: "Cancel" },
    blocks: [
      ...taskMenu(tasks, chosen),
      about,
      text,
      ...chosen.fields.map((field) => fieldInput(chosen, field, values)),
    ],
  };
}

export const fieldBlock = (task: Pick<SavedTask, "name">, field: string): string =>
  `${TASK_FIELD_BLOCK}${task.name}:${field}`;

function fieldInput(
  task: SavedTask,
  { name, label, choices, required }: TaskField,
  values: TaskValues,
): Block {
  const given = Object.hasOwn(values, name) ? values[name] : undefined;
  const block = { type: "input", block_id: fieldBlock(task, name), label: plain(label), optional: !required };
  if (choices === null) {
    const initial = given === undefined || given === "" ? {} : { initial_value: given.slice(0, VALUE_CHARS) };
    const element = { type: "plain_text_input", action_id: TASK_FIELD_INPUT, max_length: VALUE_CHARS };
    return { ...block, element: { ...element, ...initial } } as Block;
  }
  const options = choices.map((text) => ({ text: plain(text), value: text }));
  const initial = options.find(({ value }) => value === given);
  const element = {
    type: "static_select",
    action_id: TASK_FIELD_INPUT,
    placeholder: plain("Choose"),
    options,
    ...(initial === undefined ? {} : { initial_option: initial }),
  };
  return { ...block, element } as Block;
}
