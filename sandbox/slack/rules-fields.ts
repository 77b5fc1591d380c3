// What several kinds of elements have in common.

import { flag, isJson, string } from "./rules-check.ts";
import type { Fields, Json, Rule } from "./rules-check.ts";
import { confirmation, plainText } from "./rules-text.ts";

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
