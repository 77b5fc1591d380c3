// Blocks: what may stand in each, and on which surface each may stand.

import { anything, flag, isJson, list, oneOf, pick, shape, string } from "./rules-check.ts";
import type { Fields, Rule } from "./rules-check.ts";
import { asAccessory, elements, inActions, inContextActions, inInput } from "./rules-elements.ts";
import { richText } from "./rules-rich-text.ts";
import { anyText, plainText } from "./rules-text.ts";

/** @slack/types Block: block_id 255. */
const block = (required: Fields, optional: Fields = {}, also?: Rule): Rule =>
  shape(required, { ...optional, block_id: string(1, 255) }, also);

const loose: Rule = anything;

const needs =
  (...fields: readonly string[]): Rule =>
  (value, at, report) => {
    if (isJson(value) && fields.every((field) => value[field] === undefined))
      report(`missing required field: ${fields.join(" or ")}`, at);
  };

const context: Fields = {
  ...pick(elements, ["image"]),
  plain_text: shape({ text: string(1, 3000) }, { emoji: flag }),
  mrkdwn: shape({ text: string(1, 3000) }, { verbatim: flag }),
};

const blocks: Fields = {
  /** @slack/types SectionBlock: text 1–3000, 10 fields of 2000. */
  section: block(
    {},
    {
      text: anyText(3000),
      fields: list(anyText(2000), 1, 10),
      accessory: oneOf(asAccessory),
      expand: flag,
    },
    needs("text", "fields"),
  ),
  /** @slack/types HeaderBlock: plain text, 150. */
  header: block({ text: plainText(150) }),
  /** @slack/types ContextBlock: 10 elements. */
  context: block({ elements: list(oneOf(context), 1, 10) }),
  /** @slack/types ActionsBlock: 25 elements. */
  actions: block({ elements: list(oneOf(inActions), 1, 25) }),
  divider: block({}),
  rich_text: block(richText),
  /** @slack/types InputBlock: label and hint 2000. */
  input: block(
    { label: plainText(2000), element: oneOf(inInput) },
    { hint: plainText(2000), optional: flag, dispatch_action: flag },
  ),
  /** @slack/types MarkdownBlock: 12,000, counted over the whole payload too. */
  markdown: block({ text: string(1, 12_000) }),
  /** @slack/types ImageBlock: alt text and title 2000, a URL or a Slack file. */
  image: block(
    { alt_text: string(1, 2000) },
    { title: plainText(2000), image_url: string(1, 3000), slack_file: loose },
    needs("image_url", "slack_file"),
  ),
  /** @slack/types ContextActionsBlock: 5 elements. */
  context_actions: block({ elements: list(oneOf(inContextActions), 1, 5) }),
  /** docs.slack.dev, alert block: 200. */
  alert: block(
    { text: anyText(200) },
    { level: string(1, 20, ["default", "info", "warning", "error", "success"]) },
  ),
  ...Object.fromEntries(
    [
      "card",
      "carousel",
      "container",
      "data_table",
      "data_visualization",
      "file",
      "plan",
      "table",
      "task_card",
      "video",
    ].map((type) => [type, loose]),
  ),
};

const except = (types: readonly string[]): Fields =>
  pick(
    blocks,
    Object.keys(blocks).filter((type) => !types.includes(type)),
  );

/** docs.slack.dev, each block's surfaces. Slack lets a few inputs into messages; no app should count on it. */
const messageOnly = ["markdown", "plan", "task_card", "context_actions"];
const inMessage = except(["input", "alert"]);
const inModal = except([...messageOnly, "carousel", "table", "data_table", "data_visualization", "file"]);
const inHome = except([...messageOnly, "alert", "file"]);

/** docs.slack.dev, blocks: 50 in a message, 100 in a modal or Home tab. */
export const messageBlocks: Rule = list(oneOf(inMessage), 0, 50);
export const modalBlocks: Rule = list(oneOf(inModal), 1, 100);
export const homeBlocks: Rule = list(oneOf(inHome), 0, 100);
