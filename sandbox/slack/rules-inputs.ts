// Elements that take text, numbers, dates and files.

import {
  type Fields,
  flag,
  integer,
  isJson,
  list,
  oneOf,
  row,
  type Rows,
  type Rule,
  shape,
  string,
} from "./rules-check.ts";
import { actionable, menu, notAbove, picking, plainText } from "./rules-fields.ts";
import { richText } from "./rules-rich-text.ts";
import { date, decimal, time, whole, zone } from "./rules-values.ts";

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

const numbers = (kind: Rule): Rule =>
  shape(
    { is_decimal_allowed: flag },
    { ...typing, initial_value: kind, min_value: kind, max_value: kind },
    notAbove("min_value", "max_value"),
  );

const numberInput: Rule = (value, at, report) =>
  numbers(isJson(value) && value["is_decimal_allowed"] === false ? whole : decimal)(value, at, report);

const richTextInput = shape(
  {},
  {
    ...typing,
    initial_value: oneOf({ rich_text: shape(richText, { block_id: string(1, 255) }) }),
    min_lines: integer(1, 100),
    max_lines: integer(1, 100),
  },
);

/** Ten digits: seconds. */
const moment = integer(1_000_000_000, 9_999_999_999);

export const inputs: Rows = {
  plain_text_input: row("@slack/types 3.2, PlainTextInput", longInput),
  email_text_input: row(
    "@slack/types 3.2, EmailInput",
    shape({}, { ...typing, initial_value: string(0, 3000) }),
  ),
  url_text_input: row("@slack/types 3.2, URLInput", shape({}, { ...typing, initial_value: string(0, 3000) })),
  number_input: row("@slack/types 3.2, NumberInput", numberInput),
  rich_text_input: row("@slack/types 3.2, RichTextInput", richTextInput),
  file_input: row(
    "@slack/types 3.2, FileInput",
    shape({}, { ...actionable, filetypes: list(string(1, 50), 1, 100), max_files: integer(1, 10) }),
  ),
  datepicker: row("@slack/types 3.2, Datepicker", shape({}, { ...menu, initial_date: date })),
  timepicker: row("@slack/types 3.2, Timepicker", shape({}, { ...menu, initial_time: time, timezone: zone })),
  datetimepicker: row(
    "@slack/types 3.2, DateTimepicker",
    shape({}, { ...picking, initial_date_time: moment }),
  ),
};
