// Composition objects: texts, options and confirmations.

import { flag, list, oneOf, shape, string } from "./rules-check.ts";
import type { Rule } from "./rules-check.ts";
import { link } from "./rules-values.ts";

/** @slack/types PlainTextElement and MrkdwnElement: 1–3000 characters unless the field says less. */
const plainRow = (max: number): Rule => shape({ text: string(1, max) }, { emoji: flag });
const mrkdwnRow = (max: number): Rule => shape({ text: string(1, max) }, { verbatim: flag });

export const plainText = (max: number): Rule => oneOf({ plain_text: plainRow(max) });
export const mrkdwnText = (max: number): Rule => oneOf({ mrkdwn: mrkdwnRow(max) });
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
