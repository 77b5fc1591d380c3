// The form that starts a run. The bare command opens it for the channel where it was typed. From the Home tab, the form also asks for a
// channel. If the policy has saved tasks, the form shows a menu of them and the fields of the chosen one. Texts from the policy are drawn
// as plain text.

import type { Block, PlainTextElement, View } from "@slack/types";
import type { SavedTask, TaskField, TaskValues } from "../../../domain/policy/saved-task.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import {
  CHANNEL_BLOCK,
  CHANNEL_INPUT,
  RUN_FORM,
  TASK_BLOCK,
  TASK_CHOICE,
  TASK_FIELD_BLOCK,
  TASK_FIELD_INPUT,
  TASK_INPUT,
  TASK_MENU_BLOCK,
} from "../names.ts";
import { INPUT_CHARS, plain } from "./rich.ts";

/** Slack's limit for the text of an option, and for its description. */
const OPTION_CHARS = 75;

const label = (text: string): PlainTextElement => ({ type: "plain_text", text });

function startView(metadata: string, blocks: readonly object[]): View {
  return {
    type: "modal",
    callback_id: RUN_FORM,
    private_metadata: metadata,
    title: label("Start a run"),
    submit: label("Start"),
    close: label("Cancel"),
    blocks,
  } as View;
}

/** `menu` is the menu of saved tasks. `asksWhere` adds the field for the channel. `task` prefills the task's field. */
export function runForm(metadata: string, asksWhere: boolean, task = "", menu: readonly Block[] = []): View {
  const hint = asksWhere
    ? "What should the agent do? Its thread opens in the channel you choose."
    : "What should the agent do? Its thread opens in the channel you came from.";
  return startView(metadata, [
    ...menu,
    {
      type: "input",
      block_id: TASK_BLOCK,
      label: label("Task"),
      hint: label(hint),
      element: taskInput(task),
    },
    ...(asksWhere ? [WHERE] : []),
  ]);
}

const taskInput = (task: string): object => ({
  ...TASK,
  ...(task === "" ? {} : { initial_value: task }),
});

const TASK = {
  type: "plain_text_input",
  action_id: TASK_INPUT,
  multiline: true,
  max_length: INPUT_CHARS,
  placeholder: label("Deploy billing-api 2026.11.3 to production"),
};

const WHERE = {
  type: "input",
  block_id: CHANNEL_BLOCK,
  label: label("Channel"),
  hint: label("Its members see the run, its requests and its output. Countersign must be in it."),
  element: {
    type: "conversations_select",
    action_id: CHANNEL_INPUT,
    placeholder: label("Choose a channel"),
    filter: { include: ["public", "private"], exclude_bot_users: true },
  },
};

// Saved tasks.

/** The value of the menu entry "In my own words". No saved task can have this name. */
export const OWN_WORDS = "*";

/** `drawing`: a word that no earlier drawing of this form had. It makes the menu's block id new. Empty for a new form. */
export function taskMenu(tasks: readonly SavedTask[], chosen: SavedTask | null, drawing = ""): Block[] {
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
  // Each drawing has a block id of its own, because Slack keeps a menu's old selection for its block id.
  return [{ type: "actions", block_id: `${TASK_MENU_BLOCK}:${drawing}`, elements: [menu] } as Block];
}

/** Whether Slack takes these values into the form's fields. */
export const fitsForm = (values: TaskValues): boolean =>
  Object.values(values).every(({ length }) => length <= INPUT_CHARS);

/** `values` are the field values that the person typed with the command. They must fit (see `fitsForm`). */
export function savedTaskForm(
  metadata: string,
  menu: readonly Block[],
  chosen: SavedTask,
  values: TaskValues = {},
): View {
  const text = { type: "section", text: plain(chosen.text) };
  const about = { type: "context", elements: [plain(chosen.description)] };
  return startView(metadata, [
    ...menu,
    about,
    text,
    ...chosen.fields.map((field) => fieldInput(chosen, field, values)),
  ]);
}

export const fieldBlock = (task: Pick<SavedTask, "name">, field: string): string =>
  `${TASK_FIELD_BLOCK}${task.name}:${field}`;

function fieldInput(
  task: SavedTask,
  { name, label: title, choices, required }: TaskField,
  values: TaskValues,
): Block {
  const typed = Object.hasOwn(values, name) ? values[name] : undefined;
  const block = { type: "input", block_id: fieldBlock(task, name), label: plain(title), optional: !required };
  if (choices === null) {
    const initial = typed === undefined || typed === "" ? {} : { initial_value: typed };
    const element = { type: "plain_text_input", action_id: TASK_FIELD_INPUT, max_length: INPUT_CHARS };
    return { ...block, element: { ...element, ...initial } } as Block;
  }
  const options = choices.map((text) => ({ text: plain(text), value: text }));
  const initial = options.find(({ value }) => value === typed);
  const element = {
    type: "static_select",
    action_id: TASK_FIELD_INPUT,
    placeholder: plain("Choose"),
    options,
    ...(initial === undefined ? {} : { initial_option: initial }),
  };
  return { ...block, element } as Block;
}
