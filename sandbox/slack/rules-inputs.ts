// Elements that take text and dates.

import { type Fields, flag, integer, list, row, type Rows, type Rule, shape, string } from "./rules-check.ts";
import { actionable, menu, notAbove, plainText } from "./rules-fields.ts";
import { date } from "./rules-values.ts";

/** @slack/types DispatchActionConfig. */
const dispatching: Rule = shape({
  trigger_actions_on: list(string(1, 30, ["on_enter_pressed", "on_character_entered"]), 1, 2),
});

const typing: Fields = {
  ...actionable,
  placeholder: plainText(150),
  focus_on_load: flag,
  dispatch_action_config: dispatching,
};

const longInput = shape(
  {},
  {
    ...typing,
    initial_value: string(0, 3000),
    multiline: flag,
    min_length: integer(0, 3000),
    max_length: integer(1, 3000),
  },
  notAbove("min_length", "max_length"),
);

export const inputs: Rows = {
  plain_text_input: row("@slack/types 3.2, PlainTextInput", longInput),
  datepicker: row("@slack/types 3.2, Datepicker", shape({}, { ...menu, initial_date: date })),
};
