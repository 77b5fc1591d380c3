// Untrusted text, made honest: invisible characters are shown by their number, and cuts say what is missing.

import { markHomoglyphs, numbered } from "./homoglyphs.ts";
import { masked, veiled, veils } from "./secrets.ts";

// Control, format, private-use, unassigned and lone-surrogate code points, line and paragraph separators, and letters
// without a visible shape (Hangul fillers, Braille blank). Tab and newline stay.
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\u{115F}\u{1160}\u{3164}\u{FFA0}\u{2800}]|\u{034F}|\u{17B4}|\u{17B5}|[\u{180B}-\u{180F}]|[\u{FE00}-\u{FE0E}]|[\u{E0100}-\u{E01EF}]|\u{1D159}|(?<!\p{Extended_Pictographic})\u{FE0F}(?!\u{20E3})/gu;

// A joiner between two pictures makes one picture of them (👩‍💻); it has a visible effect, so it stays.
const PICTURE_JOINER =
  /(\p{Extended_Pictographic}(?:[\u{1F3FB}-\u{1F3FF}]|\u{FE0F})*)\u{200D}(?=\p{Extended_Pictographic})/gu;
const KEPT_JOINER = "\u{200D}";

/**
 * The text with every invisible code point written as ⟨U+XXXX⟩, look-alikes followed by their number, and our own secrets masked. Drops
 * carriage returns before a newline. Idempotent. Takes time in proportion to the text, so for a text that may be long use `head`, `tail`
 * or `oneLine`, which draw only the part that is shown.
 */
export function visible(text: string): string {
  return allSeen(veiled(text, veils(text, "open")));
}

/** The same without masking our own secrets. */
export function allSeen(text: string): string {
  const pieces = markHomoglyphs(text.replaceAll("\r\n", "\n")).split(PICTURE_JOINER);
  return pieces
    .map((piece, index) => (index % 2 === 1 ? piece + KEPT_JOINER : piece.replace(UNSEEN, numbered)))
    .join("");
}

/** For places with more readers than approvers: made visible, and secrets of well-known shapes masked. */
export function channelText(text: string): string {
  return visible(masked(text).text);
}

export function unseenRemoved(text: string): string {
  return text.replace(UNSEEN, "");
}

/** True if a reader would see nothing: only white space and invisible code points. */
export function isBlank(text: string): boolean {
  return seenChars(text) === 0;
}

/** How many characters (UTF-16 units) a reader sees, without the white space around them. */
export function seenChars(text: string): number {
  return unseenRemoved(text).trim().length;
}

/** The first `max` characters (UTF-16 units, as Slack counts) without splitting a code point, and how many are left out. */
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

/** By how much an entity is longer than its character. */
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

/** Splits a text into pieces of at most `max` characters, at a newline where one is near. Joined, they are the text again. */
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
