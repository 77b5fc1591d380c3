// Checks the text, blocks, Markdown and metadata of a message before it is stored.

import { Refused } from "./errors.ts";
import type { Block, Message } from "./model.ts";
import { isJson, type Json } from "./json-object.ts";
import { acceptBlocks } from "./rules-surface.ts";
import type { Workspace } from "./workspace.ts";

export type Content = { readonly text: string; readonly blocks: Block[]; readonly truncated: boolean };

/** docs.slack.dev, chat.postMessage: a longer text is truncated. markdown_text can have 12,000 characters. */
const maxText = 40_000;
const maxMarkdownText = 12_000;

type ContentArgs = {
  readonly text?: string | undefined;
  readonly blocks?: unknown;
  readonly markdown_text?: string | undefined;
};

export function acceptContent(args: ContentArgs): Content {
  const { text = "", markdown_text: markdown } = args;
  if (markdown !== undefined && (args.text !== undefined || args.blocks !== undefined))
    throw new Refused("markdown_text_conflict");
  if (markdown !== undefined && markdown.length > maxMarkdownText) throw new Refused("msg_too_long");
  const blocks = markdown?.trim() ? [{ type: "markdown", text: markdown }] : (args.blocks ?? []);
  const accepted = acceptBlocks(blocks);
  if (text.trim() === "" && accepted.length === 0) throw new Refused("no_text");
  const shown = text === "" ? (markdown ?? "") : text;
  return { text: escaped(shown.slice(0, maxText)), blocks: accepted, truncated: shown.length > maxText };
}

export function acceptMetadata(metadata: Json | undefined): Message["metadata"] {
  if (metadata === undefined) return null;
  const { event_type: type, event_payload: payload } = metadata;
  if (typeof type !== "string" || type === "" || !isJson(payload))
    throw new Refused("invalid_metadata_schema");
  return { event_type: type, event_payload: payload };
}

export const truncation = ({ truncated }: Content): Json =>
  truncated ? { warning: "message_truncated", response_metadata: { warnings: ["message_truncated"] } } : {};

// & < > in the text of a message. Slack's own markup uses angle brackets. All other & < > are stored as entities.

/** docs.slack.dev, formatting: mentions, special mentions, dates and links, each with an optional label. */
const markup =
  /(<(?:[@#][A-Z0-9]|!(?:here|channel|everyone|group|subteam\^|date\^)|(?:https?|mailto|tel):)[^<>\n]*>)/;

/** Escapes & < > outside markup. Existing entities stay (third party: texts that bots have read back). */
const escaped = (text: string): string =>
  text
    .replace(/&(?!(?:amp|lt|gt);)/g, "&amp;")
    .split(markup)
    .map((piece, index) => (index % 2 === 1 ? piece : bracketless(piece)))
    .join("");

const bracketless = (text: string): string => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** Escapes what a person types. It contains no markup. */
export const entities = (text: string): string => bracketless(text.replaceAll("&", "&amp;"));

/** Converts what a person types like Slack's client: handles, ignoring case, become mentions, and everything else is text. */
export const typed = ({ people }: Pick<Workspace, "people">, text: string): string =>
  entities(text).replace(/(?<![\w@])@([\w.-]+)/g, (name, handle: string) => {
    const person = [...people.values()].find((one) => one.handle === handle.toLowerCase());
    return person === undefined ? name : `<@${person.id}>`;
  });
