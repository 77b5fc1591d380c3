// Draws a run's Markdown output without side effects: links, images and HTML appear as text, nothing is fetched, and no one is
// mentioned. `marked` parses the text, and this file decides how each token is drawn.

import type {
  RichTextElement,
  RichTextList,
  RichTextPreformatted,
  RichTextQuote,
  RichTextSection,
} from "@slack/types";
import { lexer, type Token, type Tokens } from "marked";
import { OUTPUT_IN_THREAD_CHARS } from "../../../domain/observe.ts";
import { channelText } from "../../../domain/text/text.ts";
import { boxes, countedLength, line, type Style, span } from "./rich.ts";

type Part = RichTextSection | RichTextList | RichTextPreformatted | RichTextQuote;

/** Slack indents lists no further than this; deeper nesting is drawn flat. */
const MAX_DEPTH = 6;

/**
 * Draws Markdown. Text that the parser cannot read, or that nests too deeply, is shown as it was written. So is text that the drawing makes
 * too long, for example because it repeats an address at each reference to it.
 */
export function markdown(text: string): Part[] {
  const shown = channelText(text);
  if (NESTED.test(shown)) return boxes(shown);
  try {
    const parts = lexer(shown, { gfm: true }).flatMap((token) => block(token, 0));
    const fits = parts.length > 0 && countedLength(parts) <= OUTPUT_IN_THREAD_CHARS;
    return fits ? parts : boxes(shown);
  } catch {
    return boxes(shown);
  }
}

/** Matches a line that opens twenty quotes or lists. The parser recurses for each, so hostile text could exhaust the stack. */
const NESTED = /^(?:[ \t]*(?:>|[-*+]|\d{1,9}[.)])){20}/m;

function block(token: Token, depth: number): Part[] {
  switch (token.type) {
    case "space":
      return [];
    case "heading":
      return [line(...inline(token, { bold: true }, depth), span("\n"))];
    case "paragraph":
    case "text":
      return [line(...inline(token, {}, depth), span("\n"))];
    case "list":
      return list(token as Tokens.List, depth);
    case "blockquote":
      return [{ type: "rich_text_quote", elements: inline(token, {}, depth) }];
    case "hr":
      return [line(span("———\n"))];
    case "code":
      return code(token as Tokens.Code);
    default:
      // Tables, HTML and everything else are shown as they were written.
      return boxes(token.raw.trimEnd());
  }
}

/** The language after the fence is shown too, because it is part of the output. */
function code({ lang, text: inside }: Tokens.Code): Part[] {
  return lang === undefined || lang === ""
    ? boxes(inside)
    : [line(span(lang, { italic: true })), ...boxes(inside)];
}

/**
 * The largest number that a list of Slack gets. Slack documents no limit, and a list beyond it would cost the whole message. Slack documents
 * no list that starts below 1 either. If a number is outside these limits, the items are lines, with the numbers as they were written.
 */
const MAX_NUMBER = 9_999;

/** Slack's lists cannot nest. A nested list therefore interrupts the outer list, and an ordered outer list then continues its numbers. */
function list(token: Tokens.List, depth: number): Part[] {
  const out: Part[] = [];
  let open: Numbered | null = null;
  const first = typeof token.start === "number" ? token.start : 1;
  const isLines = token.ordered && (first < 1 || first + token.items.length - 1 > MAX_NUMBER);
  for (const [index, item] of token.items.entries()) {
    const words = itemWords(item, depth);
    if (isLines) out.push(line(span(`${writtenNumber(item) ?? `${first + index}.`} `), ...words, span("\n")));
    else if (open === null) {
      open = newList(token.ordered, depth, token.ordered ? first - 1 + index : 0);
      out.push(open);
    }
    open?.elements.push(line(...words));
    const nested = item.tokens.filter((child): child is Tokens.List => child.type === "list");
    if (nested.length === 0) continue;
    out.push(...nested.flatMap((child) => list(child, depth + 1)));
    open = null;
  }
  return out;
}

function itemWords({ tokens, task, checked }: Tokens.ListItem, depth: number): RichTextElement[] {
  const content = tokens.filter(({ type }) => type !== "list");
  const box = task ? [span(checked === true ? "☑ " : "☐ ")] : [];
  return [...box, ...content.flatMap((child) => inline(child, {}, depth + 1))];
}

const writtenNumber = ({ raw }: Tokens.ListItem): string | undefined => /^\s*(\d+[.)])/.exec(raw)?.[1];

/** docs.slack.dev documents `offset` for lists; the types of @slack/types lack it. */
type Numbered = RichTextList & { offset?: number };

function newList(ordered: boolean, depth: number, offset: number): Numbered {
  const bare: Numbered = {
    type: "rich_text_list",
    style: ordered ? "ordered" : "bullet",
    indent: Math.min(depth, MAX_DEPTH),
    elements: [],
  };
  return offset > 0 ? { ...bare, offset } : bare;
}

function inline(token: Token, style: Style, depth: number): RichTextElement[] {
  const children = "tokens" in token && token.tokens !== undefined && depth < 40 ? token.tokens : null;
  const through = (more: Style): RichTextElement[] =>
    children === null
      ? text(token.raw, style)
      : children.flatMap((child) => inline(child, { ...style, ...more }, depth + 1));
  switch (token.type) {
    case "checkbox":
      // itemWords draws the box.
      return [];
    case "strong":
      return through({ bold: true });
    case "em":
      return through({ italic: true });
    case "del":
      return through({ strike: true });
    case "codespan":
      return text((token as Tokens.Codespan).text, { ...style, code: true });
    case "br":
      return text("\n", style);
    case "escape":
      return text((token as Tokens.Escape).text, style);
    case "link":
      return link(token as Tokens.Link, style);
    case "image":
      return text(token.raw, style);
    case "paragraph":
    case "heading":
    case "text":
    case "blockquote":
      return children === null
        ? text("text" in token ? String(token["text"]) : token.raw, style)
        : through({});
    default:
      return text(token.raw, style);
  }
}

/** Shows the address in full, because a label must not hide where a link leads. */
function link({ text: label, href, title }: Tokens.Link, style: Style): RichTextElement[] {
  const where = typeof title === "string" && title !== "" ? `${href} "${title}"` : href;
  return text(label === where ? where : `${label} (${where})`, style);
}

function text(raw: string, style: Style): RichTextElement[] {
  if (raw === "") return [];
  return [Object.keys(style).length === 0 ? span(raw) : span(raw, style)];
}
