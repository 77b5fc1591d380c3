// Untrusted text, made honest: what cannot be seen is shown by its number, and what does not fit is said to be missing.

import { markHomoglyphs, numbered } from "./homoglyphs.ts";
import { masked, veiled, veils } from "./secrets.ts";

// Control, format, private-use, unassigned and lone-surrogate code points, line and paragraph separators, and the
// letters that are drawn as nothing (Hangul fillers, Braille blank). Tab and newline stay.
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}]|\u{034F}|\u{17B4}|\u{17B5}|[\u{180B}-\u{180F}]|[\u{FE00}-\u{FE0E}]|[\u{E0100}-\u{E01EF}]|\u{1D159}|(?<!\p{Extended_Pictographic})\u{FE0F}(?!\u{20E3})/gu;

// A joiner between two pictures makes one picture of them (👩‍💻): it is seen, so it stays.
const PICTURE_JOINER =
  /(\p{Extended_Pictographic}(?:[\u{1F3FB}-\u{1F3FF}]|\u{FE0F})*)\u{200D}(?=\p{Extended_Pictographic})/gu;
const KEPT_JOINER = "\u{200D}";

/**
 * The text with every unseen code point written as ⟨U+XXXX⟩, look-alikes followed by theirs, and our own secrets masked. Carriage
 * returns before a newline are dropped. Doing it twice changes nothing more. Takes as long as the text is, so of a text that may
 * be long only the part that is shown is drawn: `head`, `tail`, `oneLine`.
 */
export function visible(text: string): string {
  return allSeen(veiled(text, veils(text, "open")));
}

/** The same without a look for our own secrets. */
export function allSeen(text: string): string {
  const pieces = markHomoglyphs(text.replaceAll("\r\n", "\n")).split(PICTURE_JOINER);
  return pieces
    .map((piece, index) => (index % 2 === 1 ? piece + KEPT_JOINER : piece.replace(UNSEEN, numbered)))
    .join("");
}

/** For places that more people read than decide: visible, and secrets of well-known shapes masked. */
export function channelText(text: string): string {
  return visible(masked(text).text);
}

export function unseenRemoved(text: string): string {
  return text.replace(UNSEEN, "");
}

/** Nothing that a reader would see: white space and invisible code points only. */
export function isBlank(text: string): boolean {
  return seenChars(text) === 0;
}

/** How many characters (UTF-16 units) a reader sees, white space around them left out. */
export function seenChars(text: string): number {
  return unseenRemoved(text).trim().length;
}

/** The first `max` characters (UTF-16 units, as Slack counts) without cutting a code point, and how many are left out. */
export function clip(text: string, max: number): { shown: string; hidden: number } {
  if (text.length <= max) return { shown: text, hidden: 0 };
  const splitsPair = /[\uD800-\uDBFF]/.test(text.charAt(max - 1)) && /[\uDC00-\uDFFF]/.test(text.charAt(max));
  const shown = text.slice(0, splitsPair ? max - 1 : max);
  return { shown, hidden: text.length - shown.length };
}

/** Slack counts its three special characters as the entities it writes for them: &amp; &lt; &gt;. */
export function countedChars(text: string): number {
  let counted = text.length;
  for (let at = 0; at < text.length; at += 1) counted += entityChars(text.charCodeAt(at));
  return counted;
}

/** What an entity is longer than its character. */
function entityChars(unit: number): number {
  return unit === 0x26 ? 4 : unit === 0x3c || unit === 0x3e ? 3 : 0;
}

/** Like `clip`, for at most `max` characters as Slack counts them. */
export function clipCounted(text: string, max: number): { shown: string; hidden: number } {
  let end = 0;
  for (let counted = 0; end < text.length; end += 1) {
    counted += 1 + entityChars(text.charCodeAt(end));
    if (counted > max) return clip(text, end);
  }
  return { shown: text, hidden: 0 };
}

/** Pieces of at most `max` characters that put together are the text again; cut at a newline where one is near. */
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
