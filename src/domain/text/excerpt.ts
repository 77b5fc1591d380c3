// Drawn parts of untrusted texts. A text may be millions of characters long, so it is cut before it is searched for secrets and invisible
// characters. The work is then proportional to what is shown. The search covers a little more, so that no cut leaves half a secret.

import { type Drawing, groupDigits, type Mask, withMasks, masksIn } from "./secrets.ts";
import { visibleUnmasked, clip, countedChars } from "./text.ts";

/** A text as shown, and how many characters of the original follow it (or, for a tail, precede it). */
export type Excerpt = { readonly text: string; readonly hidden: number };

/** Every shape of a secret can be recognized within this many characters. */
export const CONTEXT_CHARS = 2_048;
/** More than the length of a private key in PEM (characters). */
const PEM_CHARS = 65_536;

/** Draws the beginning in at most `max` characters as Slack counts them, or the whole text if it fits. */
export function head(text: string, max: number, as: Drawing): Excerpt {
  return from(text, 0, max, as);
}

/** Like `head`, but starts at a place in the text. */
export function from(text: string, place: number, max: number, as: Drawing): Excerpt {
  const base = Math.max(0, place - CONTEXT_CHARS);
  const part = text.slice(base, place + max + CONTEXT_CHARS);
  const masks = masksIn(part, as);
  const start = outside(masks, part, place - base);
  const draw = (chars: number): Excerpt => {
    const end = outside(masks, part, start + chars);
    return { text: drawn(part, masks, start, end), hidden: text.length - base - end };
  };
  return fitted(Math.max(0, Math.min(part.length - start, max)), max, draw, charsOf);
}

/** Draws the end. Returns an empty text if every possible start may be in the middle of a secret. */
export function tail(text: string, max: number, as: Drawing): Excerpt {
  const near = Math.max(0, text.length - max - CONTEXT_CHARS);
  const { base, first } = as === "open" || near === 0 ? { base: near, first: 0 } : knownFrom(text, near);
  const part = text.slice(base);
  const masks = masksIn(part, as);
  const draw = (chars: number): Excerpt => {
    const start = outside(masks, part, part.length - chars);
    return { text: drawn(part, masks, start, part.length), hidden: base + start };
  };
  return fitted(Math.min(part.length - first, max), max, draw, charsOf);
}

/** How far back to search for the beginning of a word (characters). */
const WORD_CHARS = 16_384;

/** Returns where to start the search for secrets (`base`), and how far after it every secret that began earlier has ended (`first`). */
function knownFrom(text: string, near: number): { base: number; first: number } {
  const first = firstKnown(text, near);
  if (first < text.length - near) return { base: near, first };
  // A single word reaches to the end of the text, so the search must start before that word.
  const furthest = Math.max(0, near - WORD_CHARS);
  let word = near;
  while (word > furthest && !/\s/.test(text.charAt(word - 1))) word -= 1;
  if (inPrivateKey(text, near) || (word > 0 && word === furthest)) return { base: near, first };
  const base = Math.max(0, word - CONTEXT_CHARS);
  return { base, first: word - base };
}

function inPrivateKey(text: string, base: number): boolean {
  const before = text.slice(Math.max(0, base - PEM_CHARS), base + CONTEXT_CHARS);
  return before.lastIndexOf("-----BEGIN ") > before.lastIndexOf("-----END ");
}

/** Returns how far after `base` any secret that began before it has certainly ended. */
function firstKnown(text: string, base: number): number {
  const begin = inPrivateKey(text, base) ? text.indexOf("-----END ", base + CONTEXT_CHARS) : base;
  if (begin < 0) return text.length - base;
  const space = text.slice(begin).search(/\s/);
  return space < 0 ? text.length - base : begin - base + space;
}

const charsOf = ({ text }: Excerpt): number => countedChars(text);

/** How often the number of characters is guessed from the length of the last drawing. Nearly always, two guesses are enough. */
const MAX_GUESSES = 4;

/**
 * Draws as many characters as fit, up to `chars`. In some texts, many numbers of characters give the same drawing: a secret is drawn whole
 * or not at all. So if the guesses do not fit, the number is found by halving.
 */
export function fitted<Drawn>(
  chars: number,
  max: number,
  draw: (chars: number) => Drawn,
  lengthOf: (drawn: Drawn) => number,
): Drawn {
  let tooMany = chars + 1;
  for (let guesses = 0, left = chars; guesses < MAX_GUESSES; guesses += 1) {
    const guess = draw(left);
    const length = lengthOf(guess);
    if (length <= max || left <= 0) return guess;
    tooMany = left;
    left = Math.max(0, Math.min(left - 1, Math.floor((left * max) / length)));
  }
  let [fits, best] = [0, draw(0)];
  while (tooMany - fits > 1) {
    const middle = Math.floor((fits + tooMany) / 2);
    const drawing = draw(middle);
    if (lengthOf(drawing) <= max) [fits, best] = [middle, drawing];
    else tooMany = middle;
  }
  return best;
}

/** Returns the place itself, or the end of the secret or character that contains it. */
export function outside(masks: readonly Mask[], part: string, place: number): number {
  const mask = masks.find(({ range }) => range[0] < place && place < range[1]);
  if (mask !== undefined) return mask.range[1];
  const splits = place > 0 && place < part.length && clip(part, place).shown.length < place;
  return splits ? place + 1 : place;
}

function drawn(part: string, masks: readonly Mask[], start: number, end: number): string {
  const inside = masks
    .filter(({ range }) => range[0] >= start && range[1] <= end)
    .map(({ range, own }): Mask => ({ range: [range[0] - start, range[1] - start], own }));
  return visibleUnmasked(withMasks(part.slice(start, end), inside));
}

/** Both ends of a text that does not fit, and the number of characters omitted between them (`left`). */
export type Ends = { readonly head: string; readonly left: number; readonly tail: string };

/** With less room than this (characters), the tail gets the larger share. */
const LITTLE_ROOM = 240;
const TAIL_SHARE = 0.25;
const TAIL_SHARE_IN_LITTLE = 0.4;

export function ends(text: string, max: number, as: Drawing): Ends {
  const whole = head(text, max, as);
  if (whole.hidden === 0) return { head: whole.text, left: 0, tail: "" };
  const forTail = Math.floor(max * (max < LITTLE_ROOM ? TAIL_SHARE_IN_LITTLE : TAIL_SHARE));
  const begin = head(text, max - forTail, as);
  const end = tail(text, Math.min(forTail, begin.hidden), as);
  const left = begin.hidden - (text.length - end.hidden);
  return left > 0 && end.text !== ""
    ? { head: begin.text, left, tail: end.text }
    : { head: whole.text, left: whole.hidden, tail: "" };
}

/** Draws the beginning of a text and, if it does not fit, says how much is missing. Never empty, because Slack refuses an empty text. */
export function shortened(text: string, max: number, as: Drawing): string {
  const { text: shown, hidden } = head(text, max, as);
  if (hidden > 0) return `${shown}… (${groupDigits(hidden)} more characters)`;
  return shown === "" ? " " : shown;
}

/** With less room than this (characters), the number of cut characters would leave no text to read. */
const ROOM_TO_COUNT = 30;

/** Draws one line for a title, a notification or a list. Says how many characters are cut, because the whole text is shown elsewhere. */
export function oneLine(text: string, max: number, as: Drawing = "masked"): string {
  return lineExcerpt(text, max, as).text;
}

/** Like `oneLine`, but also returns how many characters are cut, and how many secrets, apart from our own, are masked in the line. */
export function lineExcerpt(text: string, max: number, as: Drawing): Excerpt & { readonly secrets: number } {
  const trimmed = text.trimStart();
  const part = trimmed.slice(0, 2 * max + CONTEXT_CHARS);
  const masks = masksIn(part, as);
  const line = (end: number): string => drawn(part, masks, 0, end).replace(/\s+/g, " ").trim();
  const secretsBefore = (end: number): number =>
    masks.filter(({ range, own }) => !own && range[1] <= end).length;
  const whole = part.length === trimmed.length ? line(part.length) : null;
  if (whole !== null && whole.length <= max)
    return { text: whole, hidden: 0, secrets: secretsBefore(part.length) };
  const draw = (left: number): Excerpt & { readonly secrets: number } => {
    const end = outside(masks, part, left);
    const hidden = trimmed.length - end;
    return { text: line(end) + remark(hidden, max), hidden, secrets: secretsBefore(end) };
  };
  const cut = fitted(Math.min(part.length, 2 * max), max, draw, ({ text: { length } }) => length);
  return { ...cut, text: clip(cut.text, max).shown };
}

function remark(hidden: number, max: number): string {
  return max < ROOM_TO_COUNT ? "…" : `… (${groupDigits(hidden)} more)`;
}
