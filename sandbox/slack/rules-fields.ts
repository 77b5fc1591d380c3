// Fields that several kinds of elements share.

import {
  type Fields,
  flag,
  isJson,
  type Json,
  list,
  oneOf,
  type Rule,
  shape,
  string,
} from "./rules-check.ts";
import { link } from "./rules-values.ts";

// Composition objects: texts, options and confirmations.

/** @slack/types PlainTextElement and MrkdwnElement: 1–3000 characters unless the field says less. */
const plainRow = (max: number): Rule => shape({ text: string(1, max) }, { emoji: flag });
const mrkdwnRow = (max: number): Rule => shape({ text: string(1, max) }, { verbatim: flag });

export const plainText = (max: number): Rule => oneOf({ plain_text: plainRow(max) });
export const anyText = (max: number): Rule => oneOf({ plain_text: plainRow(max), mrkdwn: mrkdwnRow(max) });

/** @slack/types Option: text, value and description 75 each; the description is plain text. */
const optionWith = (text: Rule): Rule =>
  shape({ text, value: string(1, 75) }, { description: plainText(75), url: link });

/** @slack/types: a menu's options are plain text; radio buttons and checkboxes take mrkdwn too. */
export const menuOption: Rule = optionWith(plainText(75));
export const choiceOption: Rule = optionWith(anyText(75));

/** @slack/types OptionGroup: label 75, 100 options. */
export const optionGroup: Rule = shape({ label: plainText(75), options: list(menuOption, 1, 100) });

/** @slack/types ConfirmationDialog: title 100, text 300, buttons 30. */
export const confirmation: Rule = shape(
  { text: anyText(300) },
  {
    title: plainText(100),
    confirm: plainText(30),
    deny: plainText(30),
    style: string(1, 20, ["primary", "danger"]),
  },
);

/** @slack/types Actionable: action_id 255. */
export const actionable: Fields = { action_id: string(1, 255) };
/** @slack/types Confirmable, Focusable. */
export const picking: Fields = { ...actionable, confirm: confirmation, focus_on_load: flag };
/** @slack/types Placeholdable: 150. */
export const menu: Fields = { ...picking, placeholder: plainText(150) };

export const exactlyOne =
  (one: string, other: string): Rule =>
  (value, at, report) => {
    const given = [one, other].filter((field) => isJson(value) && value[field] !== undefined);
    if (given.length !== 1) report(`must provide exactly one of: ${one}, ${other}`, at);
  };

const optionsOf = (element: Json): Json[] => {
  const listed = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : []);
  return [element, ...listed(element["option_groups"])].flatMap((one) => listed(one["options"]));
};

/** An initial option is one of the options, to the letter (@slack/types, StaticSelect). */
export const initialIsOffered: Rule = (value, at, report) => {
  if (!isJson(value)) return;
  const offered = new Set(optionsOf(value).map((option) => JSON.stringify(option)));
  const initial = value["initial_options"] ?? [value["initial_option"]];
  for (const option of Array.isArray(initial) ? (initial as unknown[]) : [])
    if (option !== undefined && !offered.has(JSON.stringify(option)))
      report("initial option must be one of the options", at);
};

/** The first field may not be larger than the second. */
export const notAbove =
  (least: string, most: string): Rule =>
  (value, at, report) => {
    if (!isJson(value) || value[least] === undefined || value[most] === undefined) return;
    if (Number(value[least]) > Number(value[most])) report(`${least} must not be more than ${most}`, at);
  };
