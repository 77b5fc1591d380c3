import { attr, html, type Html, type Part } from "../base/html.ts";
import { type Json, number, record, records, string } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";
import { emoji, fromCodePoints } from "./emoji.ts";
import { undrawn, undrawnWord } from "./media.ts";
import { broadcastMention, channelMention, codeBox, groupMention, link, personMention } from "./mention.ts";

/** Draws the elements of a `rich_text` block. Their text is never markup, which is why untrusted text belongs here. */
export function richText(elements: unknown, reader: Reader): Html {
  return html`${records(elements).map((element) => part(element, reader))}`;
}

function part(element: Json, reader: Reader): Html {
  const inner = records(element["elements"]);
  const border = attr("data-border", element["border"] === 1);
  switch (element["type"]) {
    case "rich_text_section":
      return html`<p>${inner.map((one) => inlineElement(one, reader))}</p>`;
    case "rich_text_preformatted": {
      const text = inner.map((one) => string(one["text"]) || string(one["url"])).join("");
      const box = codeBox(
        inner.map((one) => inlineElement(one, reader)),
        text,
        string(element["language"]),
      );
      return border === null ? box : html`<div${border}>${box}</div>`;
    }
    case "rich_text_quote":
      return html`<blockquote${border}>${inner.map((one) => inlineElement(one, reader))}</blockquote>`;
    case "rich_text_list":
      return list(element, reader, border);
    default:
      return undrawn("a rich-text part", element);
  }
}

function list(element: Json, reader: Reader, border: Html | null): Html {
  const items = records(element["elements"]).map(
    (item) => html`<li>${records(item["elements"]).map((one) => inlineElement(one, reader))}</li>`,
  );
  const indent = attr("data-indent", Math.min(number(element["indent"]) ?? 0, 8) || null);
  const offset = number(element["offset"]);
  if (element["style"] !== "ordered") return html`<ul${indent}${border}>${items}</ul>`;
  return html`<ol${indent}${border}${attr("start", offset === undefined ? null : offset + 1)}>${items}</ol>`;
}

function inlineElement(element: Json, reader: Reader): Part {
  return styled(bare(element, reader), record(element["style"]));
}

function bare(element: Json, reader: Reader): Part {
  switch (element["type"]) {
    case "text":
      return string(element["text"]);
    case "link": {
      const words = string(element["text"]) || string(element["url"]);
      return record(element["style"])["unlink"] === true
        ? words
        : link(reader, string(element["url"]), words);
    }
    case "user":
      return personMention(reader, string(element["user_id"]));
    case "channel":
      return channelMention(reader, string(element["channel_id"]));
    case "usergroup":
      return groupMention(reader, string(element["usergroup_id"]));
    case "team":
      return html`<span data-mention="group">${string(element["team_id"])}</span>`;
    case "broadcast":
      return broadcastMention(string(element["range"]));
    case "emoji":
      return emojiOf(element);
    case "color":
      return color(string(element["value"]));
    case "date":
      return date(element, reader);
    default:
      return undrawnWord("a rich-text element", element);
  }
}

/** Slack sends the code points of a standard emoji. A custom emoji has none, so its name is shown. */
function emojiOf(element: Json): string {
  const name = string(element["name"]);
  return emoji(name) ?? fromCodePoints(string(element["unicode"])) ?? `:${name}:`;
}

/** Draws a color as SVG, because the page's Content-Security-Policy forbids inline styles but not SVG attributes. */
function color(value: string): Html {
  if (!/^#[\da-f]{3,8}$/i.test(value)) return html`<code>${value}</code>`;
  return html`<span data-color
    ><svg viewBox="0 0 10 10" aria-hidden="true"><rect width="10" height="10" rx="2" fill="${value}" /></svg
    ><code>${value}</code></span
  >`;
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

const STYLES: Record<string, (inner: Part) => Html> = {
  code: (inner) => html`<code>${inner}</code>`,
  bold: (inner) => html`<strong>${inner}</strong>`,
  italic: (inner) => html`<em>${inner}</em>`,
  strike: (inner) => html`<s>${inner}</s>`,
  underline: (inner) => html`<u>${inner}</u>`,
  highlight: (inner) => html`<mark>${inner}</mark>`,
  client_highlight: (inner) => html`<mark>${inner}</mark>`,
};

function styled(inner: Part, style: Json): Part {
  return Object.entries(STYLES).reduce(
    (out, [name, draw]) => (style[name] === true ? draw(out) : out),
    inner,
  );
}
