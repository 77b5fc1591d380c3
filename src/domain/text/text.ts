// Untrusted text, made safe to read: invisible characters are shown by their code point, look-alikes are marked, and cuts say how much is
// missing.

import { masked, withMasks, masksIn } from "./secrets.ts";

// Control, format, private-use, unassigned and lone-surrogate code points, line and paragraph separators, and letters
// without a visible shape (Hangul fillers, Braille blank). Tab and newline stay.
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}]|\u{034F}|\u{17B4}|\u{17B5}|[\u{180B}-\u{180F}]|[\u{FE00}-\u{FE0E}]|[\u{E0100}-\u{E01EF}]|\u{1D159}|(?<!\p{Extended_Pictographic})\u{FE0F}(?!\u{20E3})/gu;

// A joiner between two pictures combines them into one (👩‍💻). This has a visible effect, so the joiner stays.
const PICTURE_JOINER =
  /(\p{Extended_Pictographic}(?:[\u{1F3FB}-\u{1F3FF}]|\u{FE0F})*)\u{200D}(?=\p{Extended_Pictographic})/gu;
const KEPT_JOINER = "\u{200D}";

/** Texts of printable ASCII are drawn as they are. Most texts are. */
const PRINTABLE_ASCII = /^[\t\n -~]*$/;

/**
 * Writes every invisible code point as ⟨U+XXXX⟩, adds the code point after look-alikes, and masks our own secrets. Drops carriage returns
 * before newlines. Idempotent. Takes time proportional to the text. So for a text that may be long, use `head`, `tail` or `oneLine`, which
 * draw only the part that is shown.
 */
export function visible(text: string): string {
  return visibleUnmasked(withMasks(text, masksIn(text, "open")));
}

/** Like `visible`, but masks nothing: for a text whose secrets are masked already. */
export function visibleUnmasked(text: string): string {
  if (PRINTABLE_ASCII.test(text)) return text;
  const pieces = markHomoglyphs(text.replaceAll("\r\n", "\n")).split(PICTURE_JOINER);
  return pieces
    .map((piece, index) => (index % 2 === 1 ? piece + KEPT_JOINER : piece.replace(UNSEEN, numbered)))
    .join("");
}

/** Draws a text for places where people other than approvers read it: made visible, with secrets of well-known shapes masked. */
export function channelText(text: string): string {
  return visible(masked(text).text);
}

export function unseenRemoved(text: string): string {
  return text.replace(UNSEEN, "");
}

/** Returns whether a reader would see nothing, because there are only white space and invisible code points. */
export function isBlank(text: string): boolean {
  return seenChars(text) === 0;
}

/** Counts the characters that a reader sees (UTF-16 units), without the white space around them. */
export function seenChars(text: string): number {
  return unseenRemoved(text).trim().length;
}

/** Returns the first `max` characters (UTF-16 units, as Slack counts) without splitting a code point, and how many are cut. */
export function clip(text: string, max: number): { shown: string; hidden: number } {
  if (text.length <= max) return { shown: text, hidden: 0 };
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(max));
  const shown = text.slice(0, splitsPair ? max - 1 : max);
  return { shown, hidden: text.length - shown.length };
}

/** Counts the characters as Slack does: its three special characters count as the entities &amp; &lt; &gt;. */
export function countedChars(text: string): number {
  let counted = text.length;
  for (let at = 0; at < text.length; at += 1) counted += entityChars(text.charCodeAt(at));
  return counted;
}

/** Returns how much longer the entity is than its character. 0 if the character has none. */
function entityChars(unit: number): number {
  return unit === 0x26 ? 4 : unit === 0x3c || unit === 0x3e ? 3 : 0;
}

/** Like `clip`, but counts characters as Slack does (see `countedChars`). */
export function clipCounted(text: string, max: number): { shown: string; hidden: number } {
  let end = 0;
  for (let counted = 0; end < text.length; end += 1) {
    counted += 1 + entityChars(text.charCodeAt(end));
    if (counted > max) return clip(text, end);
  }
  return { shown: text, hidden: 0 };
}

/** Splits a text into pieces of at most `max` characters, at a newline if one is near. Joined, the pieces are the text again. */
export function pieces(text: string, max: number): string[] {
  const out: string[] = [];
  let rest = text;
  while (rest.length > max) {
    const { shown } = clip(rest, max);
    const newline = shown.lastIndexOf("\n");
    const end = newline > max / 2 ? newline + 1 : shown.length;
    out.push(rest.slice(0, end));
    rest = rest.slice(end);
  }
  return rest === "" && out.length > 0 ? out : [...out, rest];
}

// Letters, marks, spaces and strokes that look like others. They stay in place, and each is followed by its code point, so that a reader
// notices it. The script of a letter comes from the engine's own Unicode data (UTS #39, mixed-script detection). Only the letters of other
// scripts that look like Latin letters are listed here, from Unicode's list of intentional confusables.

/** Scripts that may share a word with Latin (UTS #39, "highly restrictive"), and scripts that do not look like Latin. */
const PLAIN =
  /[\p{sc=Zyyy}\p{sc=Zinh}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Hang}\p{sc=Arab}\p{sc=Hebr}\p{sc=Thai}\p{sc=Deva}]/u;
const LATIN = /\p{sc=Latn}/u;
const NEITHER =
  /(?![\p{sc=Latn}\p{sc=Zyyy}\p{sc=Zinh}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Bopo}\p{sc=Hang}\p{sc=Arab}\p{sc=Hebr}\p{sc=Thai}\p{sc=Deva}])\p{L}/u;
const GREEK = /\p{sc=Grek}/u;
/** Cyrillic, Greek and Armenian letters, in this order, that look like a Latin letter. By code point, so that this file does not mislead. */
const DRAWN_AS_LATIN = new RegExp(
  [
    "[",
    String.raw`\u{405}\u{406}\u{408}\u{410}\u{412}\u{415}\u{41A}\u{41C}\u{41D}\u{41E}\u{420}\u{421}\u{422}\u{423}\u{425}\u{430}\u{435}\u{43E}\u{440}\u{441}\u{443}\u{445}\u{455}\u{456}\u{458}\u{4AE}\u{4AF}\u{4BB}\u{4CF}\u{501}\u{50C}\u{51A}\u{51B}\u{51C}\u{51D}`,
    String.raw`\u{391}\u{392}\u{395}\u{396}\u{397}\u{399}\u{39A}\u{39C}\u{39D}\u{39F}\u{3A1}\u{3A4}\u{3A5}\u{3A7}\u{3B9}\u{3BA}\u{3BD}\u{3BF}\u{3C1}\u{3C5}\u{3F2}\u{3F3}`,
    String.raw`\u{53C}\u{54D}\u{555}\u{566}\u{570}\u{575}\u{578}\u{57D}\u{581}\u{585}`,
    "]",
  ].join(""),
  "u",
);
/** Scripts that are not in everyday use anywhere (UAX #31, limited use and excluded) and have many letters that look Latin. */
const RARE =
  /[\p{sc=Cher}\p{sc=Lisu}\p{sc=Copt}\p{sc=Dsrt}\p{sc=Goth}\p{sc=Cari}\p{sc=Lyci}\p{sc=Ital}\p{sc=Osge}]/u;

const CODE_POINT = String.raw`⟨U\+[0-9A-F]{4,6}⟩`;
/** A word. Our own marks and invisible characters do not end it. */
const WORD = new RegExp(
  String.raw`(?:[\p{L}\p{M}\p{N}\p{Cf}_\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u{2800}\u{1D159}]|(?![\t\n])\p{Cc}|${CODE_POINT})+`,
  "gu",
);
const PARTS = new RegExp(String.raw`${CODE_POINT}|\p{L}\p{M}*|[^]`, "gu");
const LETTER = /^\p{L}/u;

/** Characters that may read as ASCII: fullwidth and mathematical letters, ligatures, Roman numerals, the Kelvin sign. */
const ASCII_LIKE = /(?![ªº])[\p{L}\p{Nd}\p{Nl}]/u;
/** Strokes, dots and colons that look like those of a path or a URL. */
const STROKE =
  /(?<=[\w.~/-])[\u{2044}\u{2215}\u{29F8}\u{2571}\u{A789}\u{2024}\u{FF0F}\u{FF0E}\u{FF1A}](?=[A-Za-z.~/_-])/gu;
/** Spaces that a shell does not treat as spaces. Marked only between ASCII, because typography uses them before punctuation and in numbers. */
const SPACE =
  /(?<=[!-~])[\u{A0}\u{1680}\u{2000}-\u{200A}\u{202F}\u{205F}\u{3000}](?=[!-~])(?![!?:;%])(?!(?<=\d.)\d)/gu;
/** Marks that strike a letter through, and every mark after the fourth on one letter. */
const OVERLAY = /[\u{334}-\u{338}\u{20D2}\u{20D3}\u{20D8}-\u{20DA}\u{20E5}\u{20E6}]|(?<=\p{M}{4})\p{M}/gu;
const ASCII_ONLY = /^[\0-\x7F]*$/;

/** Writes a character as its code point: ⟨U+XXXX⟩. */
export function numbered(char: string): string {
  return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

/** Adds the code point after each look-alike. Idempotent. */
export function markHomoglyphs(text: string): string {
  if (ASCII_ONLY.test(text)) return text;
  const suspect = suspectScripts(text);
  return text
    .replace(WORD, (word) => (isPlain(word, suspect) ? word : wordMarked(word, suspect)))
    .replace(OVERLAY, numbered)
    .replace(STROKE, (stroke) => stroke + numbered(stroke))
    .replace(SPACE, (space) => space + numbered(space));
}

type Script = { readonly any: RegExp; readonly honest: RegExp };
const script = (name: string): Script => ({
  any: new RegExp(String.raw`\p{sc=${name}}`, "u"),
  honest: new RegExp(String.raw`(?!${DRAWN_AS_LATIN.source})(?=\p{L})\p{sc=${name}}`, "u"),
});
const FOREIGN: readonly Script[] = [script("Cyrl"), script("Grek"), script("Armn")];

/** Returns the scripts from which the text uses only letters that look Latin. */
function suspectScripts(text: string): readonly Script[] {
  return FOREIGN.filter(({ any, honest }) => any.test(text) && !honest.test(text));
}

const isOf = (text: string, scripts: readonly Script[]): boolean => scripts.some(({ any }) => any.test(text));

/** Normalizing a run of marks takes quadratic time. Unicode's stream-safe format (UAX #15) limits it to 30. */
const MANY_MARKS = /\p{M}{31}/u;

/** A fast path: most words of any language need no check letter by letter. */
function isPlain(word: string, suspect: readonly Script[]): boolean {
  if (ASCII_ONLY.test(word)) return true;
  if (RARE.test(word) || isOf(word, suspect)) return false;
  if ((NEITHER.test(word) && LATIN.test(word)) || MANY_MARKS.test(word)) return false;
  return word.normalize("NFKC") === word.normalize("NFC") && !word.includes("\u{212A}");
}

function wordMarked(word: string, suspect: readonly Script[]): string {
  const parts = word.match(PARTS) ?? [];
  const foreign = foreignIn(parts.filter((part) => LETTER.test(part)));
  const isMarked = (part: string): boolean => {
    if (RARE.test(part) || looksLikeAscii(part)) return true;
    return LETTER.test(part) && (foreign(part) || isOf(part, suspect));
  };
  return parts
    .map((part, at) => (isMarked(part) && !hasMark(parts, at) ? part + numbered(part) : part))
    .join("");
}

/** Returns whether the part is already followed by its own code point. Other marks may come between a letter and it. */
function hasMark(parts: readonly string[], at: number): boolean {
  const part = parts[at] ?? "";
  const mark = numbered(part);
  // Also keeps the time linear: each mark in a long run of combining marks would search the rest of the run.
  if (!LETTER.test(part)) return parts[at + 1] === mark;
  for (let next = at + 1; IS_MARK_OR_CODE_POINT.test(parts[next] ?? ""); next += 1)
    if (parts[next] === mark) return true;
  return false;
}
const IS_MARK_OR_CODE_POINT = new RegExp(String.raw`^(?:${CODE_POINT}|\p{M})$`, "u");

/** Returns which letters to mark in a word of several scripts: those outside the most frequent script (Latin in a tie). */
function foreignIn(letters: readonly string[]): (letter: string) => boolean {
  const others = letters.filter((letter) => !PLAIN.test(first(letter)) && !LATIN.test(first(letter)));
  const latin = letters.filter((letter) => LATIN.test(first(letter))).length;
  if (others.length === 0 || latin === 0) return () => false;
  // "Δt" and "kΩ" are legitimate, because these Greek letters do not look like Latin ones.
  if (others.every((letter) => GREEK.test(first(letter)) && !DRAWN_AS_LATIN.test(letter))) return () => false;
  if (others.length > latin) return (letter) => LATIN.test(first(letter));
  const minority = new Set(others);
  return (letter) => minority.has(letter);
}

const first = (part: string): string => String.fromCodePoint(part.codePointAt(0) ?? 0);

function looksLikeAscii(part: string): boolean {
  const char = first(part);
  return !ASCII_ONLY.test(char) && ASCII_LIKE.test(char) && /^[A-Za-z0-9]+$/.test(char.normalize("NFKC"));
}
