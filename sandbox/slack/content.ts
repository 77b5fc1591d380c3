// What a message may say: text, blocks, Markdown and metadata, checked before it is kept.

import { kept } from "./marks.ts";
import type { Block, Message } from "./model.ts";
import { Refused } from "./refused.ts";
import { isJson } from "./rules-check.ts";
import type { Json } from "./rules-check.ts";
import { acceptBlocks } from "./rules-surface.ts";

export type Content = { readonly text: string; readonly blocks: Block[]; readonly truncated: boolean };

/** docs.slack.dev, chat.postMessage: longer texts are cut; markdown_text holds 12,000. */
const maxText = 40_000;
const maxMarkdownText = 12_000;

type Given = {
  readonly text?: string | undefined;
  readonly blocks?: unknown;
  readonly markdown_text?: string | undefined;
};

export const acceptContent = (given: Given): Content => {
  const { text = "", markdown_text: markdown } = given;
  if (markdown !== undefined && (given.text !== undefined || given.blocks !== undefined))
    throw new Refused("markdown_text_conflict");
  if (markdown !== undefined && markdown.length > maxMarkdownText) throw new Refused("msg_too_long");
  const blocks = markdown?.trim() ? [{ type: "markdown", text: markdown }] : (given.blocks ?? []);
  const accepted = acceptBlocks(blocks);
  if (text.trim() === "" && accepted.length === 0) throw new Refused("no_text");
  const shown = text === "" ? (markdown ?? "") : text;
  return { text: kept(shown.slice(0, maxText)), blocks: accepted, truncated: shown.length > maxText };
};

export const acceptMetadata = (metadata: Json | undefined): Message["metadata"] => {
  if (metadata === undefined) return null;
  const { event_type: type, event_payload: payload } = metadata;
  if (typeof type !== "string" || type === "" || !isJson(payload))
    throw new Refused("invalid_metadata_schema");
  return { event_type: type, event_payload: payload };
};

export const truncation = ({ truncated }: Content): Json =>
  truncated ? { warning: "message_truncated", response_metadata: { warnings: ["message_truncated"] } } : {};
