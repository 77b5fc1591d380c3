// People, channels, broadcasts and links in text, drawn the same way for mrkdwn and rich text.

import { attr, html, type Html, type Part } from "../base/html.ts";
import { hrefOf } from "../base/place.ts";
import type { Reader } from "../base/reader.ts";

export function personMention(reader: Reader, id: string): Html {
  const name = reader.nameOf(id);
  if (name === undefined) return html`<span data-mention="unknown">@${id}</span>`;
  const me = id === reader.place.person ? "me" : "person";
  return html`<span data-mention="${me}" title="${id}">@${name}</span>`;
}

export function channelMention(reader: Reader, id: string): Html {
  const name = reader.channelName(id);
  if (name === undefined) return html`<span data-mention="unknown">#a channel you cannot see</span>`;
  const href = hrefOf({ ...reader.place, where: id, thread: null });
  return html`<a data-mention="channel" href="${href}">#${name}</a>`;
}

export function groupMention(reader: Reader, id: string, label = ""): Html {
  return html`<span data-mention="group" title="${id}">${label || `@${reader.groupName(id) ?? id}`}</span>`;
}

/** Conspicuous on purpose: an app that lets untrusted text produce a broadcast has a bug. */
export function broadcastMention(range: string): Html {
  return html`<span data-mention="broadcast">@${range}</span>`;
}

export function link(reader: Reader, address: string, label: Html | string): Html {
  const href = reader.linkTo(address);
  if (href === null) return html`${label}`;
  if (href.startsWith("/")) return html`<a href="${href}">${label}</a>`;
  return html`<a href="${href}" target="_blank" rel="noopener noreferrer" title="${href}">${label}</a>`;
}

// Preformatted text. In messages, CSS folds long text, but all of it stays in the page.

const SHOWN_LINES = 14;
/** About as many characters as `SHOWN_LINES` hold. */
const SHOWN_CHARACTERS = 1_400;

export function codeBox(inner: Part, text: string, language = ""): Html {
  const lines = text.split("\n").length;
  const pre = html`<pre${attr("data-language", language || null)}>${inner}</pre>`;
  if (lines <= SHOWN_LINES && text.length <= SHOWN_CHARACTERS) return pre;
  const all = lines > SHOWN_LINES ? `${lines} lines` : `${text.length.toLocaleString("en-US")} characters`;
  return html`<div data-fold>
    ${pre}
    <details>
      <summary><span data-unfold>Show all ${all}</span><span data-refold>Show less</span></summary>
    </details>
  </div>`;
}
