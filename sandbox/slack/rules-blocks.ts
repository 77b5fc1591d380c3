// Blocks: the fields of each, and the surfaces where it is allowed.

import { z } from "zod";
import {
  exactlyOne,
  type Fields,
  flag,
  integer,
  list,
  needs,
  oneOf,
  oneWordOf,
  shape,
  sources,
  string,
  typed,
} from "./rules-check.ts";
import { asAccessory, image, inActions, inInput, pictured } from "./rules-elements.ts";
import { anyText, mrkdwn, plain, plainText } from "./rules-fields.ts";
import { richText } from "./rules-rich-text.ts";

/** @slack/types Block: block_id 255. */
const block = (type: string, required: Fields, optional: Fields = {}) =>
  typed(type, required, { ...optional, block_id: string(1, 255) });

const section = block(
  "section",
  {},
  { text: anyText(3000), fields: list(anyText(2000), 1, 10), accessory: asAccessory, expand: flag },
)
  .refine(...needs("text", "fields"))
  .register(sources, { source: "@slack/types 3.2, SectionBlock" });

const header = block("header", { text: plainText(150) }).register(sources, {
  source: "@slack/types 3.2, HeaderBlock",
});

const context = block("context", {
  elements: list(oneOf(image, plain(3000), mrkdwn(3000)), 1, 10),
}).register(sources, { source: "@slack/types 3.2, ContextBlock" });

const actions = block("actions", { elements: list(inActions, 1, 25) }).register(sources, {
  source: "@slack/types 3.2, ActionsBlock",
});

const divider = block("divider", {}).register(sources, { source: "@slack/types 3.2, DividerBlock" });

const rich = block("rich_text", richText).register(sources, { source: "@slack/types 3.2, RichTextBlock" });

const input = block(
  "input",
  { label: plainText(2000), element: inInput },
  { hint: plainText(2000), optional: flag, dispatch_action: flag },
).register(sources, { source: "@slack/types 3.2, InputBlock" });

const markdown = block("markdown", { text: string(1, 12_000) }).register(sources, {
  source: "@slack/types 3.2, MarkdownBlock",
});

const picture = block("image", { alt_text: string(1, 2000) }, { title: plainText(2000), ...pictured })
  .refine(...exactlyOne("image_url", "slack_file"))
  .register(sources, { source: "@slack/types 3.2, ImageBlock" });

const alert = block(
  "alert",
  { text: anyText(200) },
  { level: oneWordOf(["default", "info", "warning", "error", "success"]) },
).register(sources, { source: "docs.slack.dev, alert block: 200 characters" });

/** The type of a raw number's value is not checked, because the SDK's types say number and the documentation says string. */
const cell = oneOf(
  rich,
  typed("raw_text", { text: string(1, 3000) }),
  typed("raw_number", {}, { value: z.unknown(), text: string(1, 3000) }),
);

const columns = list(shape({}, { align: oneWordOf(["left", "center", "right"]), is_wrapped: flag }), 0, 20);

const table = block(
  "table",
  { rows: list(list(cell, 1, 20), 1, 100) },
  { column_settings: columns },
).register(sources, { source: "@slack/types 3.2, TableBlock" });

/** docs.slack.dev, data table block: a header and 200 rows, 20 columns. */
const dataTable = block(
  "data_table",
  { rows: list(list(cell, 1, 20), 1, 201), caption: string(1, 3000) },
  { page_size: integer(1, 100), row_header_column_index: integer(0, 19) },
).register(sources, { source: "@slack/types 3.2, DataTableBlock" });

const everywhere = [section, header, context, actions, divider, rich, picture] as const;

/** docs.slack.dev, surfaces of each block. Slack accepts some inputs in messages, but no app should rely on that. */
const inMessage = oneOf(...everywhere, markdown, table, dataTable);
const inModal = oneOf(...everywhere, input, alert);
const inHome = oneOf(...everywhere, input, table, dataTable);

export const allBlocks = oneOf(...everywhere, input, markdown, alert, table, dataTable);

/** docs.slack.dev, blocks: 50 in a message, 100 in a modal or Home tab. */
export const messageBlocks = list(inMessage, 0, 50);
export const modalBlocks = list(inModal, 1, 100);
export const homeBlocks = list(inHome, 0, 100);
