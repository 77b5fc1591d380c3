// The rich_text block: literal text in sections, lists, quotes and preformatted blocks.

import { z } from "zod";
import { flag, integer, list, oneOf, oneWordOf, shape, string, typed } from "./rules-check.ts";
import { channelId, link, usergroupId, userId, webAddress } from "./rules-fields.ts";

/** @slack/types RichTextStyleable. The two additional styles of user and channel mentions are accepted everywhere. */
const style = shape(
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

/** A text element has no limit of its own. The limit of the message counts all of them. */
const anyLength = 100_000;

const text = typed("text", { text: string(1, anyLength) }, { style });
const linked = typed("link", { url: link }, { text: string(0, anyLength), unsafe: flag, style });

/** The inline elements: @slack/types RichTextElement and related types. */
export const richTextPieces = oneOf(
  text,
  linked,
  typed("emoji", { name: string(1, 255) }, { unicode: string(1, 255), url: webAddress, style }),
  typed("user", { user_id: userId }, { style }),
  typed("usergroup", { usergroup_id: usergroupId }, { style }),
  typed("channel", { channel_id: channelId }, { style }),
  typed("team", { team_id: string(1, 255) }, { style }),
  typed("broadcast", { range: oneWordOf(["here", "channel", "everyone"], 255) }, { style }),
  typed("color", { value: string(1, 255) }, { style }),
  typed(
    "date",
    { timestamp: integer(0, Number.MAX_SAFE_INTEGER), format: string(1, 3000) },
    { url: link, fallback: string(1, 3000), style },
  ),
);

const many = 10_000;
const border = { border: integer(0, 1) };
const section = typed("rich_text_section", { elements: list(richTextPieces, 0, many) });

/** @slack/types RichTextBlockElement: section, list, quote and preformatted (which has only text and links). */
export const richTextParts = oneOf(
  section,
  typed(
    "rich_text_list",
    { style: oneWordOf(["bullet", "ordered"]), elements: list(oneOf(section), 1, many) },
    { indent: integer(0, 8), offset: integer(0, many), ...border },
  ),
  typed("rich_text_quote", { elements: list(richTextPieces, 0, many) }, border),
  typed(
    "rich_text_preformatted",
    { elements: list(oneOf(text, linked), 0, many) },
    { ...border, language: z.unknown() },
  ),
);

export const richText = { elements: list(richTextParts, 1, many) };
