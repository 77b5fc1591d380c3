import { broadcastMention, channelMention, link, personMention } from "./mention.ts";
import { emoji } from "./emoji.ts";
import { attr, html } from "./html.ts";
import type { Html, Part } from "./html.ts";
import { number, record, records, string } from "./json.ts";
import type { Json } from "./json.ts";
import type { Reader } from "./reader.ts";

/** The elements of one `rich_text` block. Nothing in their text is markup: that is why untrusted text goes here. */
export function richText(elements: unknown, reader: Reader): Html {
  return html`${records(elements).map((element) => part(element, reader))}`;
}

function part(element: Json, reader: Reader): Html {
  const inner = records(element["elements"]);
  switch (element["type"]) {
    case "rich_text_section":
      return html`<p>${inner.map((one) => inlineElement(one, reader))}</p>`;
    case "rich_text_preformatted":
      return html`<pre>${inner.map((one) => inlineElement(one, reader))}</pre>`;
    case "rich_text_quote":
      return html`<blockquote>${inner.map((one) => inlineElement(one, reader))}</blockquote>`;
    case "rich_text_list":
      return list(element, reader);
    default:
      return unknown(element["type"]);
  }
}

function list(element: Json, reader: Reader): Html {
  const items = records(element["elements"]).map(
    (item) => html`<li>${records(item["elements"]).map((one) => inlineElement(one, reader))}</li>`,
  );
  const indent = attr("data-indent", Math.min(number(element["indent"]) ?? 0, 8) || null);
  const offset = number(element["offset"]);
  if (element["style"] !== "ordered") return html`<ul${indent}>${items}</ul>`;
  return html`<ol${indent}${attr("start", offset === undefined ? null : offset + 1)}>${items}</ol>`;
}

function inlineElement(element: Json, reader: Reader): Part {
  return styled(bare(element, reader), record(element["style"]));
}

function bare(element: Json, reader: Reader): Part {
  switch (element["type"]) {
    case "text":
      return string(element["text"]);
    case "link":
      return link(reader, string(element["url"]), string(element["text"]) || string(element["url"]));
    case "user":
      return personMention(reader, string(element["user_id"]));
    case "channel":
      return channelMention(reader, string(element["channel_id"]));
    case "usergroup":
      return html`<span data-mention="group">@${string(element["usergroup_id"])}</span>`;
    case "broadcast":
      return broadcastMention(string(element["range"]));
    case "emoji":
      return emoji(string(element["name"])) ?? `:${string(element["name"])}:`;
    case "color":
      return html`<code>${string(element["value"])}</code>`;
    case "date":
      return date(element, reader);
    default:
      return unknown(element["type"]);
  }
}

function date(element: Json, reader: Reader): Part {
  const atMs = (number(element["timestamp"]) ?? Number.NaN) * 1000;
  if (!(Math.abs(atMs) <= 8.64e15)) return string(element["fallback"]);
  const words = html`<time datetime="${new Date(atMs).toISOString()}" title="${reader.times.full(atMs)}"
    >${reader.times.tokens(string(element["format"]), atMs)}</time
  >`;
  const address = string(element["url"]);
  return address === "" ? words : link(reader, address, words);
}

function styled(inner: Part, style: Json): Part {
  let out = inner;
  if (style["code"] === true) out = html`<code>${out}</code>`;
  if (style["bold"] === true) out = html`<strong>${out}</strong>`;
  if (style["italic"] === true) out = html`<em>${out}</em>`;
  if (style["strike"] === true) out = html`<s>${out}</s>`;
  return out;
}

function unknown(type: unknown): Html {
  return html`<span data-undrawn
    >This sandbox cannot draw a rich-text element of type ${string(type) || "?"}</span
  >`;
}
