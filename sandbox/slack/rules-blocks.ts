// Blocks: what each may hold, and on which surfaces it is allowed.

import {
  type Fields,
  flag,
  list,
  oneOf,
  pick,
  row,
  type Rows,
  type Rule,
  rulesOf,
  shape,
  string,
} from "./rules-check.ts";
import { asAccessory, elements, inActions, inInput, pictured } from "./rules-elements.ts";
import { anyText, exactlyOne, plainText } from "./rules-fields.ts";
import { richText } from "./rules-rich-text.ts";
import { block, needs, showpieces } from "./rules-showpieces.ts";

const context: Fields = {
  ...pick(elements, ["image"]),
  plain_text: shape({ text: string(1, 3000) }, { emoji: flag }),
  mrkdwn: shape({ text: string(1, 3000) }, { verbatim: flag }),
};

const section: Rule = block(
  {},
  {
    text: anyText(3000),
    fields: list(anyText(2000), 1, 10),
    accessory: oneOf(asAccessory),
    expand: flag,
  },
  needs("text", "fields"),
);

const basics: Rows = {
  section: row("@slack/types 3.2, SectionBlock", section),
  header: row("@slack/types 3.2, HeaderBlock", block({ text: plainText(150) })),
  context: row("@slack/types 3.2, ContextBlock", block({ elements: list(oneOf(context), 1, 10) })),
  actions: row("@slack/types 3.2, ActionsBlock", block({ elements: list(oneOf(inActions), 1, 25) })),
  divider: row("@slack/types 3.2, DividerBlock", block({})),
  rich_text: row("@slack/types 3.2, RichTextBlock", block(richText)),
  input: row(
    "@slack/types 3.2, InputBlock",
    block(
      { label: plainText(2000), element: oneOf(inInput) },
      { hint: plainText(2000), optional: flag, dispatch_action: flag },
    ),
  ),
  markdown: row("@slack/types 3.2, MarkdownBlock", block({ text: string(1, 12_000) })),
  image: row(
    "@slack/types 3.2, ImageBlock",
    block(
      { alt_text: string(1, 2000) },
      { title: plainText(2000), ...pictured },
      exactlyOne("image_url", "slack_file"),
    ),
  ),
};

export const blockRows: Rows = {
  ...basics,
  ...showpieces,
};

const blocks: Fields = rulesOf(blockRows);

const except = (types: readonly string[]): Fields =>
  pick(
    blocks,
    Object.keys(blocks).filter((type) => !types.includes(type)),
  );

/** docs.slack.dev, each block's surfaces. Slack lets a few inputs into messages; no app should count on it. */
const inMessage = except(["input", "alert"]);
const inModal = except(["markdown", "table", "data_table"]);
const inHome = except(["markdown", "alert"]);

/** docs.slack.dev, blocks: 50 in a message, 100 in a modal or Home tab. */
export const messageBlocks: Rule = list(oneOf(inMessage), 0, 50);
export const modalBlocks: Rule = list(oneOf(inModal), 1, 100);
export const homeBlocks: Rule = list(oneOf(inHome), 0, 100);
