// A rich-text field takes markup, as Slack's composer can: marks around words, > before a quote,
// a fence around code. It is converted to the `rich_text` that Slack sends to apps, and back.
import { record, records, string } from "../base/json.ts";
import type { Json } from "../base/json.ts";

const STYLES: Record<string, string> = { "*": "bold", _: "italic", "~": "strike", "`": "code" };
const STYLED = /(?<![\p{L}\p{N}])([*_~`])(?=\S)([^\n]*?\S)\1(?![\p{L}\p{N}])/gu;
const FENCE = /^```\n?([\s\S]*?)\n?```$/;

/** Null for a field that is empty. */
export function typedRichText(text: string): Json | null {
  if (text === "") return null;
  const pieces = text.split(/(```[\s\S]*?```|^> ?.*(?:\n> ?.*)*)/m);
  const own = pieces.map((piece, i) => {
    const after = i > 0 ? piece.replace(/^\n/, "") : piece;
    return i < pieces.length - 1 ? after.replace(/\n$/, "") : after;
  });
  const elements = own.filter((piece) => piece !== "").map(part);
  return { type: "rich_text", elements };
}

function part(piece: string): Json {
  const code = FENCE.exec(piece)?.[1];
  if (code !== undefined && code !== "")
    return { type: "rich_text_preformatted", elements: [{ type: "text", text: code }] };
  if (piece.startsWith(">"))
    return { type: "rich_text_quote", elements: inline(piece.replace(/^> ?/gm, "")) };
  return { type: "rich_text_section", elements: inline(piece) };
}

function inline(text: string): Json[] {
  const out: Json[] = [];
  let from = 0;
  const plain = (to: number): void => {
    if (to > from) out.push({ type: "text", text: text.slice(from, to) });
  };
  for (const found of text.matchAll(STYLED)) {
    plain(found.index);
    const style = STYLES[found[1] ?? ""] ?? "";
    out.push({ type: "text", text: found[2] ?? "", style: { [style]: true } });
    from = found.index + found[0].length;
  }
  plain(text.length);
  return out;
}

/** The field's text for its initial rich text, or for what was typed before. */
export function asTyped(richText: unknown): string {
  return records(record(richText)["elements"]).map(written).join("\n");
}

function written(element: Json): string {
  if (element["type"] === "rich_text_list") {
    const mark = (at: number): string => (element["style"] === "ordered" ? `${at + 1}. ` : "• ");
    return records(element["elements"])
      .map((item, at) => mark(at) + written(item))
      .join("\n");
  }
  const text = records(element["elements"]).map(word).join("");
  if (element["type"] === "rich_text_preformatted") return `\`\`\`\n${text}\n\`\`\``;
  return element["type"] === "rich_text_quote" ? text.replace(/^/gm, "> ") : text;
}

function word(element: Json): string {
  const ids = ["user_id", "channel_id", "usergroup_id", "name", "url", "range"].map((id) =>
    string(element[id]),
  );
  const text = string(element["text"]) || (ids.find((id) => id !== "") ?? "");
  const marks = Object.entries(STYLES).filter(([, style]) => record(element["style"])[style] === true);
  return marks.reduce((sum, [mark]) => mark + sum + mark, text);
}
