// External images are described, never fetched: fetching would reveal to their host who looks at them, and when.

import { html, type Html } from "../base/html.ts";
import { type Json, record, string } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";
import { drawText } from "./mrkdwn.ts";

/** An image block. */
export function picture(block: Json, reader: Reader): Html {
  const title =
    block["title"] === undefined ? null : html`<strong>${drawText(record(block["title"]), reader)}</strong>`;
  return html`<figure data-picture="image">
    <span data-sign aria-hidden="true">🖼</span>
    <figcaption>${title}<span data-alt>${altOf(block)}</span><small>${addressOf(block)}</small></figcaption>
  </figure>`;
}

/** An image among other elements: its description, with the address as a tooltip. */
export function thumbnail(element: Json): Html {
  return html`<span data-thumbnail title="${addressOf(element)}"
    ><span aria-hidden="true">🖼</span> ${altOf(element)}</span
  >`;
}

function altOf(element: Json): string {
  return string(element["alt_text"]) || "An image without a description";
}

function addressOf(element: Json): string {
  const file = record(element["slack_file"]);
  return string(element["image_url"]) || string(file["url"]) || string(file["id"]);
}

// Nothing that an app sends may disappear, so what cannot be drawn is shown with its type and its JSON.

export function undrawn(what: string, value: unknown): Html {
  return html`<details data-undrawn>
    <summary>${saying(what, value)}</summary>
    <pre tabindex="0">${JSON.stringify(value, null, 2) ?? ""}</pre>
  </details>`;
}

/** Like `undrawn`, for running text, where nothing can be opened. */
export function undrawnWord(what: string, value: unknown): Html {
  return html`<span data-undrawn>${saying(what, value)} <code>${JSON.stringify(value) ?? ""}</code></span>`;
}

function saying(what: string, value: unknown): string {
  return `This sandbox cannot draw ${what} of type ${string(record(value)["type"]) || "?"}.`;
}
