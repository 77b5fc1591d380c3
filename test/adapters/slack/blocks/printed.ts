// Messages and views as text, so that reviewers can read them in a snapshot.

import { isList, isRecord, type Json } from "#src/domain/json.ts";
import { wire } from "./oracle.ts";

type Item = { readonly [field: string]: Json };

const items = (value: Json | undefined): readonly Item[] =>
  value !== undefined && isList(value) ? value.filter(isRecord) : [];
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
const textOf = (value: Json | undefined): string =>
  value !== undefined && isRecord(value) ? text(value["text"]) : text(value);

export function printedMessage(message: { text: string; blocks: unknown }): string {
  return `text: ${message.text}\n\n${printedBlocks(message.blocks)}`;
}

export function printedBlocks(blocks: unknown): string {
  return items(wire(blocks)).map(block).join("\n");
}

export function printedView(view: unknown): string {
  const data = wire(view);
  if (!isRecord(data)) throw new TypeError("a view is an object");
  const buttons = [data["submit"], data["close"]].map(textOf).filter((each) => each !== "");
  return [
    `== ${textOf(data["title"])} ==`,
    ...items(data["blocks"]).map(block),
    buttons.map((each) => `[${each}]`).join(" "),
  ].join("\n");
}

/** Names on the left, values on the right. */
function columns(fields: readonly Item[]): string {
  const texts = fields.map(textOf);
  return texts.flatMap((each, at) => (at % 2 === 0 ? [`${each} | ${texts[at + 1] ?? ""}`] : [])).join("\n");
}

function block(item: Item): string {
  switch (item["type"]) {
    case "header":
      return `# ${textOf(item["text"])}`;
    case "section":
      return item["fields"] === undefined ? textOf(item["text"]) : columns(items(item["fields"]));
    case "context":
      return items(item["elements"])
        .map((each) => `(${textOf(each)})`)
        .join(" ");
    case "actions":
      return items(item["elements"]).map(button).join(" ");
    case "input":
      return input(item);
    case "rich_text":
      return items(item["elements"]).map(part).join("\n");
    default:
      return JSON.stringify(item);
  }
}

function button(item: Item): string {
  if (item["type"] === "overflow")
    return `[… ${items(item["options"])
      .map(({ text }) => textOf(text))
      .join(" / ")}]`;
  const main = item["style"] === "primary" ? "*" : "";
  const asks = item["confirm"] !== undefined && isRecord(item["confirm"]) ? item["confirm"] : null;
  const then = asks === null ? "" : ` {${textOf(asks["title"])} ${textOf(asks["text"])}}`;
  return `[${main}${textOf(item["text"])}${main}]${then}`;
}

function input(item: Item): string {
  const optional = item["optional"] === true ? " (optional)" : "";
  return `${textOf(item["label"])}${optional}: ______ (${textOf(item["hint"])})`;
}

function part(item: Item): string {
  const inside = items(item["elements"]);
  switch (item["type"]) {
    case "rich_text_quote":
      return line(inside).replace(/^/gm, "> ");
    case "rich_text_preformatted":
      return line(inside).replace(/^/gm, "| ");
    case "rich_text_list": {
      const indent = "  ".repeat(Number(item["indent"] ?? 0));
      const start = Number(item["offset"] ?? 0) + 1;
      const mark = (at: number): string => (item["style"] === "ordered" ? `${start + at}.` : "-");
      return inside.map((each, at) => `${indent}${mark(at)} ${line(items(each["elements"]))}`).join("\n");
    }
    default:
      return line(inside);
  }
}

const line = (elements: readonly Item[]): string => elements.map(element).join("");

function element(item: Item): string {
  switch (item["type"]) {
    case "user":
      return `@${text(item["user_id"])}`;
    case "usergroup":
      return `@${text(item["usergroup_id"])}`;
    case "channel":
      return `#${text(item["channel_id"])}`;
    case "date":
      return `{${text(item["fallback"])}}`;
    case "link":
      return `[${text(item["text"])}](${text(item["url"])})`;
    default:
      return styled(text(item["text"]), item["style"]);
  }
}

function styled(words: string, style: Json | undefined): string {
  const flags = style !== undefined && isRecord(style) ? style : {};
  const marks = [
    ["bold", "**"],
    ["italic", "_"],
    ["strike", "~"],
    ["code", "`"],
  ] as const;
  return marks.reduce((so, [name, mark]) => (flags[name] === true ? `${mark}${so}${mark}` : so), words);
}
