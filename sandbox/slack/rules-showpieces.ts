// The newer blocks: alerts and tables.

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
import { anyText } from "./rules-fields.ts";
import { richText } from "./rules-rich-text.ts";

/** @slack/types Block: block_id 255. */
export const block = (required: Fields, optional: Fields = {}, also?: Rule): Rule =>
  shape(required, { ...optional, block_id: string(1, 255) }, also);

export const needs =
  (...fields: readonly string[]): Rule =>
  (value, at, report) => {
    if (isJson(value) && fields.every((field) => value[field] === undefined))
      report(`missing required field: ${fields.join(" or ")}`, at);
  };

/** The value's kind is not checked: the types of a raw number say number, the docs string. */
const cell: Rule = oneOf({
  rich_text: block(richText),
  raw_text: shape({ text: string(1, 3000) }),
  raw_number: shape({}, { value: () => {}, text: string(1, 3000) }),
});

const columns: Rule = list(
  shape({}, { align: string(1, 20, ["left", "center", "right"]), is_wrapped: flag }),
  0,
  20,
);

/** docs.slack.dev, data table block: a header and 200 rows, 20 columns. */
const dataTable: Rule = block(
  { rows: list(list(cell, 1, 20), 1, 201), caption: string(1, 3000) },
  { page_size: integer(1, 100), row_header_column_index: integer(0, 19) },
);

export const showpieces: Rows = {
  alert: row(
    "docs.slack.dev, alert block: 200 characters",
    block(
      { text: anyText(200) },
      { level: string(1, 20, ["default", "info", "warning", "error", "success"]) },
    ),
  ),
  table: row(
    "@slack/types 3.2, TableBlock",
    block({ rows: list(list(cell, 1, 20), 1, 100) }, { column_settings: columns }),
  ),
  data_table: row("@slack/types 3.2, DataTableBlock", dataTable),
};
