// The newer blocks: alerts, cards, tables, plans and videos.

import {
  type Fields,
  flag,
  integer,
  isJson,
  list,
  oneOf,
  pick,
  row,
  type Rows,
  type Rule,
  shape,
  string,
} from "./rules-check.ts";
import { elements } from "./rules-elements.ts";
import { anyText, mrkdwnText, plainText } from "./rules-fields.ts";
import { richText } from "./rules-rich-text.ts";
import { https, webAddress } from "./rules-values.ts";

/** @slack/types Block: block_id 255. */
export const block = (required: Fields, optional: Fields = {}, also?: Rule): Rule =>
  shape(required, { ...optional, block_id: string(1, 255) }, also);

export const needs =
  (...fields: readonly string[]): Rule =>
  (value, at, report) => {
    if (isJson(value) && fields.every((field) => value[field] === undefined))
      report(`missing required field: ${fields.join(" or ")}`, at);
  };

const image: Rule = oneOf(pick(elements, ["image"]));
const rich: Rule = oneOf({ rich_text: block(richText) });

/** @slack/types CardBlock: title and subtitle 150, body 200. Three buttons: docs.slack.dev's design guide. */
const card: Rule = block(
  {},
  {
    hero_image: image,
    icon: image,
    title: mrkdwnText(150),
    subtitle: mrkdwnText(150),
    body: mrkdwnText(200),
    actions: list(oneOf(pick(elements, ["button"])), 1, 3),
  },
  needs("hero_image", "title", "actions", "body"),
);

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

const task: Rule = block(
  { task_id: string(1, 255), title: string(1, 3000) },
  {
    status: string(1, 20, ["pending", "in_progress", "complete", "error"]),
    details: rich,
    output: rich,
    sources: list(oneOf({ url: shape({ url: webAddress, text: string(1, 3000) }) }), 0, 100),
  },
);

const video: Rule = block(
  { video_url: https, thumbnail_url: webAddress, alt_text: string(1, 2000), title: plainText(199) },
  {
    title_url: https,
    author_name: string(1, 49),
    provider_name: string(1, 255),
    provider_icon_url: webAddress,
    description: plainText(3000),
  },
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
  card: row("@slack/types 3.2, CardBlock", card),
  carousel: row("@slack/types 3.2, CarouselBlock", block({ elements: list(oneOf({ card }), 1, 10) })),
  table: row(
    "@slack/types 3.2, TableBlock",
    block({ rows: list(list(cell, 1, 20), 1, 100) }, { column_settings: columns }),
  ),
  data_table: row("@slack/types 3.2, DataTableBlock", dataTable),
  task_card: row("@slack/types 3.2, TaskCardBlock; the status is optional in the docs", task),
  plan: row(
    "@slack/types 3.2, PlanBlock; 50 tasks: docs.slack.dev",
    block({ title: string(1, 3000) }, { tasks: list(oneOf({ task_card: task }), 0, 50) }),
  ),
  file: row(
    "@slack/types 3.2, FileBlock",
    block({ external_id: string(1, 255), source: string(1, 20, ["remote"]) }),
  ),
  video: row("@slack/types 3.2, VideoBlock", video),
};
