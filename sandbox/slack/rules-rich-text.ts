// The rich_text block: literal text in sections, lists, quotes and preformatted pieces.

import { anything, flag, integer, list, oneOf, pick, shape, string } from "./rules-check.ts";
import type { Fields, Rule } from "./rules-check.ts";
import { channelId, link, usergroupId, userId, webAddress } from "./rules-values.ts";

/** @slack/types RichTextStyleable; user and channel mentions have two more styles, which are accepted. */
const style: Rule = shape(
  {},
  {
    bold: flag,
    italic: flag,
    strike: flag,
    code: flag,
    underline: flag,
    highlight: flag,
    client_highlight: flag,
    unlink: flag,
  },
);

/** A piece of text has no limit of its own. The limit of the message counts all of them. */
const anyLength = 100_000;

/** @slack/types RichTextElement and the elements beside it. */
const pieces: Fields = {
  text: shape({ text: string(1, anyLength) }, { style }),
  link: shape({ url: link }, { text: string(0, anyLength), unsafe: flag, style }),
  emoji: shape({ name: string(1, 255) }, { unicode: string(1, 255), url: webAddress, style }),
  user: shape({ user_id: userId }, { style }),
  usergroup: shape({ usergroup_id: usergroupId }, { style }),
  channel: shape({ channel_id: channelId }, { style }),
  team: shape({ team_id: string(1, 255) }, { style }),
  broadcast: shape({ range: string(1, 255, ["here", "channel", "everyone"]) }, { style }),
  color: shape({ value: string(1, 255) }, { style }),
  date: shape(
    { timestamp: integer(0, Number.MAX_SAFE_INTEGER), format: string(1, 3000) },
    { url: link, fallback: string(1, 3000), style },
  ),
};

const many = 10_000;
const border: Fields = { border: integer(0, 1) };
const section: Rule = shape({ elements: list(oneOf(pieces), 0, many) });

/** @slack/types RichTextBlockElement: section, list, quote, preformatted (text and links only). */
const parts: Fields = {
  rich_text_section: section,
  rich_text_list: shape(
    {
      style: string(1, 20, ["bullet", "ordered"]),
      elements: list(oneOf({ rich_text_section: section }), 1, many),
    },
    { indent: integer(0, 8), offset: integer(0, many), ...border },
  ),
  rich_text_quote: shape({ elements: list(oneOf(pieces), 0, many) }, border),
  rich_text_preformatted: shape(
    { elements: list(oneOf(pick(pieces, ["text", "link"])), 0, many) },
    { ...border, language: anything },
  ),
};

export const richText: Fields = { elements: list(oneOf(parts), 1, many) };
