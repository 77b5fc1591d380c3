// Names the deployment first, for people who have several Countersigns.

import type { Block, RichTextBlock } from "@slack/types";
import { type Message, span } from "./rich.ts";

/** The deployment is named in the notification and on the message itself. Empty: it has no name. */
export function named<Drawn extends Message>(message: Drawn, deployment: string): Drawn {
  if (deployment === "") return message;
  const [first, ...rest] = message.blocks;
  const blocks = first === undefined ? [] : [withName(first, deployment), ...rest];
  return { ...namedText(message, deployment), blocks };
}

/** For a reply: the opening of its thread shows the name, and only the notification stands alone. */
export function namedText<Drawn extends Message>(message: Drawn, deployment: string): Drawn {
  return deployment === "" ? message : { ...message, text: `${deployment} · ${message.text}` };
}

function withName(block: Block, deployment: string): Block {
  if (isHeader(block)) {
    const text = { ...block.text, text: `${deployment} · ${block.text.text}` };
    return { ...block, text } as Block;
  }
  if (!isRich(block)) return block;
  const [first, ...rest] = block.elements;
  if (first?.type !== "rich_text_section") return block;
  const elements = [span(`${deployment} · `, { bold: true }), ...first.elements];
  return { ...block, elements: [{ ...first, elements }, ...rest] } as Block;
}

type Header = Block & { readonly text: { readonly text: string } };

const isHeader = (block: Block): block is Header => block.type === "header";
const isRich = (block: Block): block is RichTextBlock => block.type === "rich_text";
