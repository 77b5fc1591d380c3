// Puts the name of the deployment first, for people who use several Countersigns, and links run ids to the operators' page about the run.

import type { Block, RichTextBlock, RichTextElement } from "@slack/types";
import { oneLine, shortened } from "../../../domain/text/excerpt.ts";
import { type Message, note, span, untrustedSpan } from "./rich.ts";

export type Deployment = {
  /** Empty if the deployment has no name. */
  readonly name: string;
  /** An address with the placeholder `{run}` for a run's id. Null if run ids are not links. */
  readonly runUrl: string | null;
  /** The slash command. `COMMAND` if left out. */
  readonly command?: string;
};

export const UNNAMED: Deployment = { name: "", runUrl: null };

/** Names the deployment in the notification and on the message itself. */
export function named<Drawn extends Message>(message: Drawn, deployment: Deployment): Drawn {
  if (deployment.name === "") return message;
  const [first, ...rest] = message.blocks;
  const blocks = first === undefined ? [] : [withName(first, deployment.name), ...rest];
  return { ...namedText(message, deployment), blocks };
}

/** Names the deployment only in the notification. Used for replies, because the opening of their thread already shows the name. */
export function namedText<Drawn extends Message>(message: Drawn, { name }: Deployment): Drawn {
  return name === "" ? message : { ...message, text: `${name} · ${message.text}` };
}

function withName(block: Block, name: string): Block {
  if (isHeader(block)) {
    const text = { ...block.text, text: `${name} · ${block.text.text}` };
    return { ...block, text } as Block;
  }
  if (!isRich(block)) return block;
  const [first, ...rest] = block.elements;
  if (first?.type !== "rich_text_section") return block;
  const elements = [span(`${name} · `, { bold: true }), ...first.elements];
  return { ...block, elements: [{ ...first, elements }, ...rest] } as Block;
}

type Header = Block & { readonly text: { readonly text: string } };

const isHeader = (block: Block): block is Header => block.type === "header";
const isRich = (block: Block): block is RichTextBlock => block.type === "rich_text";

const ID_CHARS = 120;
const NOTE_ID_CHARS = 60;
/** Slack's limit for an address. */
const URL_CHARS = 3_000;

/** A run's id, as a link if the deployment has an address for runs. */
export function runIdElement(id: string, deployment: Deployment): RichTextElement {
  const shown = untrustedSpan(id, ID_CHARS, { code: true });
  const url = runAddress(id, deployment);
  return url === null ? shown : { type: "link", url, text: shown.text, style: { code: true } };
}

/** Small print that begins with the run's id. */
export function runNote(id: string, deployment: Deployment, ...parts: readonly string[]): Block {
  const url = runAddress(id, deployment);
  // A link in small print needs markup, so the id is a link only if none of its characters could be markup.
  if (url === null || !/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/.test(id) || id.length > NOTE_ID_CHARS)
    return note(`Run ${oneLine(id, NOTE_ID_CHARS)}`, ...parts);
  const linked = { type: "mrkdwn", text: `Run <${url}|${id}>`, verbatim: true };
  const rest = parts.map((text) => ({ type: "plain_text", text, emoji: false }));
  return { type: "context", elements: [linked, ...rest] } as Block;
}

/** Returns null if there is no address, or if the id must not appear in an address. */
function runAddress(id: string, { runUrl }: Deployment): string | null {
  // "." and ".." would name another page. An id that is shown masked, cut or marked must not appear in full in an address either.
  if (runUrl === null || /^\.{1,2}$/.test(id) || shortened(id, URL_CHARS, "masked") !== id) return null;
  const encoded = encodeURIComponent(id.toWellFormed()).replace(
    /[!'()*~]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const url = runUrl.replace("{run}", () => encoded);
  return url.length > URL_CHARS ? null : url;
}
