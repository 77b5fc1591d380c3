// Splits a JSON text into members or items without parsing them, so that one unreadable item spoils no other.

import type { Json } from "../../domain/json.ts";
import { err, type Result } from "../../domain/result.ts";
import { readExactly } from "./json-body.ts";
import { endOfString, type Fault } from "./json-scan.ts";

/**
 * A text, or bytes that are not valid UTF-8, one character for each byte. JSON's own marks are ASCII, so both are split the same way.
 */
export type Source = { readonly text: string; readonly bytes: boolean };

/** `name` is null for the items of a list. */
export type Piece = { readonly name: string | null; readonly source: Source };

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The value of the piece, or an error if another parser could read a different value. */
export function readSource({ text, bytes }: Source): Result<Json, Fault> {
  if (!bytes) return readExactly(text);
  try {
    return readExactly(utf8.decode(Buffer.from(text, "latin1")));
  } catch {
    return err({ type: "not-utf8" });
  }
}

/** For display: invalid UTF-8 becomes U+FFFD. */
export function sourceText({ text, bytes }: Source): string {
  return bytes ? Buffer.from(text, "latin1").toString("utf8") : text;
}

/** The members of a record or the items of a list, in order. Null: the text is neither, or no JSON. */
export function piecesOf(source: Source): Piece[] | null {
  const { text } = source;
  const start = skipSpace(text, 0);
  const record = text[start] === "{";
  if (!record && text[start] !== "[") return null;
  const pieces: Piece[] = [];
  const seen = { stroke: -1 };
  for (let at = skipSpace(text, start + 1); ; at = skipSpace(text, at + 1)) {
    if (at >= text.length) return null;
    if (text[at] === (record ? "}" : "]")) return pieces;
    let name: string | null = null;
    if (record) {
      const end = endOfString(text, at, seen);
      if (end < 0) return null;
      name = nameOf({ text: text.slice(at, end + 1), bytes: source.bytes });
      at = skipSpace(text, skipSpace(text, end + 1) + 1);
    }
    const end = endOfValue(text, at, seen);
    pieces.push({ name, source: { text: text.slice(at, end).trimEnd(), bytes: source.bytes } });
    at = end;
    if (text[at] !== ",") return text[at] === (record ? "}" : "]") ? pieces : null;
  }
}

function nameOf(quoted: Source): string {
  try {
    return JSON.parse(sourceText(quoted)) as string;
  } catch {
    return sourceText(quoted);
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\n\r".includes(text.charAt(at))) at += 1;
  return at;
}

/** The position where the value at `from` ends: at a comma, or at the closing bracket around it. */
function endOfValue(text: string, from: number, seen: { stroke: number }): number {
  let open = 0;
  for (let at = from; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') {
      const end = endOfString(text, at, seen);
      if (end < 0) return text.length;
      at = end;
    } else if (mark === "[" || mark === "{") open += 1;
    else if (mark === "]" || mark === "}") {
      if (open === 0) return at;
      open -= 1;
    } else if (mark === "," && open === 0) return at;
  }
  return text.length;
}
