// Block elements. The ones an approvals app sends are checked field by field, the rest of Slack's only by name.

import { anything, flag, integer, isJson, list, pick, shape, string } from "./rules-check.ts";
import type { Fields, Json, Rule } from "./rules-check.ts";
import { choiceOption, confirmation, menuOption, optionGroup, plainText } from "./rules-text.ts";

/** @slack/types Actionable: action_id 255. */
const actionable: Fields = { action_id: string(1, 255) };
/** @slack/types Confirmable, Focusable, Placeholdable: placeholder 150. */
const picking: Fields = { ...actionable, confirm: confirmation, focus_on_load: flag };
const menu: Fields = { ...picking, placeholder: plainText(150) };

const exactlyOne =
  (one: string, other: string): Rule =>
  (value, at, report) => {
    const given = [one, other].filter((field) => isJson(value) && value[field] !== undefined);
    if (given.length !== 1) report(`must provide exactly one of: ${one}, ${other}`, at);
  };

const optionsOf = (element: Json): Json[] => {
  const listed = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
  return [element, ...listed(element["option_groups"])].flatMap((one) => listed(one["options"]));
};

/** An initial option is one of the options, to the letter (docs.slack.dev, select menu element). */
const initialIsOffered: Rule = (value, at, report) => {
  if (!isJson(value)) return;
  const offered = new Set(optionsOf(value).map((option) => JSON.stringify(option)));
  const initial = value["initial_options"] ?? [value["initial_option"]];
  for (const option of Array.isArray(initial) ? (initial as unknown[]) : [])
    if (option !== undefined && !offered.has(JSON.stringify(option)))
      report("initial option must be one of the options", at);
};

const both =
  (...rules: readonly Rule[]): Rule =>
  (value, at, report) => {
    for (const rule of rules) rule(value, at, report);
  };

/** @slack/types RadioButtons and Checkboxes: 1–10 options. */
const choices = (initial: Fields): Rule =>
  shape({ options: list(choiceOption, 1, 10) }, { ...picking, ...initial }, initialIsOffered);

const loose: Rule = anything;

export const elements: Fields = {
  /** @slack/types Button: text 75, value 2000, url 3000, accessibility_label 75. */
  button: shape(
    { text: plainText(75) },
    {
      ...actionable,
      value: string(0, 2000),
      url: string(1, 3000),
      style: string(1, 20, ["primary", "danger"]),
      confirm: confirmation,
      accessibility_label: string(1, 75),
    },
  ),
  /** @slack/types StaticSelect: 100 options or 100 groups, never both. */
  static_select: shape(
    {},
    {
      ...menu,
      options: list(menuOption, 1, 100),
      option_groups: list(optionGroup, 1, 100),
      initial_option: menuOption,
    },
    both(exactlyOne("options", "option_groups"), initialIsOffered),
  ),
  /** @slack/types UsersSelect. */
  users_select: shape({}, { ...menu, initial_user: string(1, 255) }),
  radio_buttons: choices({ initial_option: choiceOption }),
  checkboxes: choices({ initial_options: list(choiceOption, 1, 10) }),
  /** @slack/types PlainTextInput: max_length 1–3000, min_length 0–3000. */
  plain_text_input: shape(
    {},
    {
      ...actionable,
      placeholder: plainText(150),
      initial_value: string(0, 3000),
      multiline: flag,
      min_length: integer(0, 3000),
      max_length: integer(1, 3000),
      focus_on_load: flag,
      dispatch_action_config: loose,
    },
  ),
  /** @slack/types ImageElement: a URL or a Slack file, alt text required. */
  image: shape(
    { alt_text: string(1, 2000) },
    { image_url: string(1, 3000), slack_file: loose },
    exactlyOne("image_url", "slack_file"),
  ),
  /** @slack/types Overflow: 5 options. */
  overflow: shape({ options: list(menuOption, 1, 5) }, { ...actionable, confirm: confirmation }),
  ...Object.fromEntries(
    [
      "channels_select",
      "conversations_select",
      "external_select",
      "multi_channels_select",
      "multi_conversations_select",
      "multi_external_select",
      "multi_static_select",
      "multi_users_select",
      "datepicker",
      "datetimepicker",
      "timepicker",
      "email_text_input",
      "url_text_input",
      "number_input",
      "rich_text_input",
      "file_input",
      "workflow_button",
      "feedback_buttons",
      "icon_button",
    ].map((type) => [type, loose]),
  ),
};

const selects = Object.keys(elements).filter((type) => type.endsWith("_select"));
const pickers = [...selects, "datepicker", "timepicker", "radio_buttons", "checkboxes"];

/** @slack/types ActionsBlockElement, SectionBlockAccessory, InputBlockElement, ContextActionsBlockElement. */
export const inActions = pick(elements, [
  ...pickers,
  "button",
  "overflow",
  "datetimepicker",
  "rich_text_input",
  "workflow_button",
]);
export const asAccessory = pick(elements, [...pickers, "button", "overflow", "image", "workflow_button"]);
export const inInput = pick(elements, [
  ...pickers,
  "plain_text_input",
  "datetimepicker",
  "email_text_input",
  "url_text_input",
  "number_input",
  "rich_text_input",
  "file_input",
]);
export const inContextActions = pick(elements, ["feedback_buttons", "icon_button"]);
