// Finds values under names that say "secret": `password = "..."` and `"password": "..."`. In a text inside JSON, the quotes follow
// backslashes. The end of a value is searched instead of matched, because an expression that knows escapes exhausts the stack on long texts.

import type { Range } from "./own-secrets.ts";

/** Shorter values are taken for ordinary words (characters). */
export const MIN_VALUE_CHARS = 6;

/** A name with what stands before its value. The groups: the colon, and the opening quote with its backslashes. */
const NAMED =
  /(?:pass(?:word|wd|phrase)|secret|token|(?:api|access|private|signing|auth)[_-]?key)\\{0,15}(?:["']\s{0,4}(:)|["']?\s{0,4}=)(?:\s|\\[nrt]){0,4}(?:(\\{0,15})(["']))?/gi;

/** Returns the values in order. None touches another. Takes time proportional to the text. */
export function namedRanges(text: string): Range[] {
  const out: Range[] = [];
  let at = 0;
  for (const { 0: whole, 1: colon, 2: slashes = "", 3: quote, index } of text.matchAll(NAMED)) {
    const start = index + whole.length;
    if (start < at) continue;
    const quoted = quote === undefined ? null : slashes + quote;
    const opens = quoted !== null && (colon !== undefined || !endsText(text, index, { whole, quoted }));
    if (quoted !== null && !opens && text[start] === "/") continue;
    if (quote !== undefined && opens) at = endOfQuoted(text, start, slashes.length, quote);
    else at = colon === undefined ? endOfWord(text, start) : endOfNumber(text, start);
    // A value ends with its line: without a closing quote, and always after "=", where the quote may be one that ends another text.
    if (colon === undefined || at === text.length) at = endOfLine(text, start, at);
    if (at - start >= MIN_VALUE_CHARS) out.push([start, at]);
  }
  return out;
}

/** How far back a line is read (characters). */
const LINE_BEFORE_CHARS = 1_000;

/** Returns whether the quote ends a text that began before the name, as in `grep "password=" FILE`. */
function endsText(
  text: string,
  index: number,
  { whole, quoted }: { whole: string; quoted: string },
): boolean {
  if (whole.search(/["']/) !== whole.length - 1) return false;
  const before = text.slice(Math.max(index - LINE_BEFORE_CHARS, 0), index);
  const line = before.slice(before.lastIndexOf("\n") + 1);
  const quotes = line.split(quoted).length - 1;
  return quotes % 2 === 1;
}

function endOfLine(text: string, from: number, end: number): number {
  const line = text.slice(from, end).indexOf("\n");
  return line < 0 ? end : from + line;
}

/** White space ends a word, also where JSON writes it as \n. A quote ends it unless more of the word follows. */
const WORD_END = /[\s&;,]|\\[nrt]|\\?["'](?=[\s"'&;,\\.:)\]}>|`]|$)/g;
const NUMBER = /-?\d[\d.e+-]*/giy;

function endOfWord(text: string, from: number): number {
  WORD_END.lastIndex = from;
  return WORD_END.exec(text)?.index ?? text.length;
}

function endOfNumber(text: string, from: number): number {
  NUMBER.lastIndex = from;
  return from + (NUMBER.exec(text)?.[0].length ?? 0);
}

/** `slashes`: how many backslashes stand before the opening quote. */
function endOfQuoted(text: string, from: number, slashes: number, quote: string): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 1)) {
    let before = 0;
    while (at - before > from && text[at - before - 1] === "\\") before += 1;
    if (closes(before, slashes)) return before < slashes ? at : at - slashes;
  }
  return text.length;
}

/** Each level of texts in texts doubles the backslashes and adds one for the quote. With an even number, the quote ends its level. */
function closes(before: number, slashes: number): boolean {
  let [found, levels] = [before, slashes];
  while (levels > 0 && found % 2 === 1) [found, levels] = [found >> 1, levels >> 1];
  return found % 2 === 0;
}
