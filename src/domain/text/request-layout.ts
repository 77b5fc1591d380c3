// How a long request is laid out in limited room. Every field is shown if possible: short ones in full, long ones by both ends. The card
// and the form follow this layout, and it determines whether the form shows enough to approve.

import type { Request, RunContext } from "../approval.ts";
import { plainName } from "../json.ts";
import { contextParts } from "../run-context.ts";
import { type Ends, ends, head } from "./excerpt.ts";
import { type Field, needsFile, sentParts, shortName } from "./request-text.ts";
import { type Drawing, isSecretField, maskedField, secretsUnder, masksIn } from "./secrets.ts";
import { countedChars } from "./text.ts";

export type Room = {
  /** Room for the texts of the fields (characters). */
  readonly chars: number;
  /** Room for everything, including names (characters). */
  readonly most: number;
};

/** Room in the form for a request that is attached as a file. */
export const FORM_ROOM: Room = { chars: 20_000, most: 24_000 };
/** Room in the form for the run's own fields. */
export const CONTEXT_ROOM: Room = { chars: 3_000, most: 5_000 };

/** The least room for each text that is shown (characters). */
const MIN_SHARE = 64;
/** With less room than this (characters), a text is shown on one line. */
const MIN_BOX = 240;
/** The most lines of a text that are shown in full. */
const LINES = 12;
/** The room for the remark on a cut text (characters). */
const REMARK_CHARS = 36;
/** The room for the punctuation around a name and a text (characters). */
const AROUND_CHARS = 3;
/** If not all fields fit, this share of the room is kept for the names of the others. */
const NAMES_SHARE = 0.25;

/** Longer names are not compared with `TELLING` (characters). */
const NAME_CHARS = 40;
/** Names of fields that say what is done and to what. If not all fields fit, these come first. */
const TELLING = new Set(
  `action actions command commands cmd args arguments argv script code sql query statement query_string operation op
  method tool function name risk risk_level severity target targets resource host hosts path file url environment env
  cluster namespace region database db account user recipient to amount price cost currency total reason description
  summary title details diff plan`
    .split(/\s+/)
    .map(plainName),
);

const isTelling = ({ name }: Field): boolean => name.length <= NAME_CHARS && TELLING.has(plainName(name));

export type ShownText = Ends & { readonly name: string; readonly inline: boolean; readonly secrets: number };

export type FieldLayout = {
  /** The fields that are shown: telling ones first, and among equals the shorter ones first. */
  readonly shown: readonly ShownText[];
  /** Names of fields that are not shown, as far as they fit. */
  readonly named: readonly string[];
  /** The number of fields that are not shown, including those in `named`. */
  readonly leftOut: number;
  /** The number of characters that are not shown. */
  readonly hidden: number;
};

export type RequestLayout = FieldLayout & { readonly action: ShownText };

export function requestLayout(request: Request, room: Room, as: Drawing): RequestLayout {
  const { action, fields } = sentParts(request);
  const first = shownText({ name: "", text: action ?? "" }, Math.floor(room.chars / 2), as);
  const used = countedChars(first.head + first.tail);
  const rest = fieldLayout(fields, { chars: room.chars - used, most: room.most - used }, as);
  return { ...rest, hidden: rest.hidden + first.left, action: first };
}

export function fieldLayout(fields: readonly Field[], room: Room, as: Drawing): FieldLayout {
  const fits = allFit(fields, room.most, as);
  const most = fits ? room.most : room.most * (1 - NAMES_SHARE);
  const chosen = fits ? fields : mostTelling(fields, most, as);
  const shown = shared(chosen, { chars: room.chars, most }, as);
  const chosenSet = new Set(chosen);
  const others = fields.filter((field) => !chosenSet.has(field));
  const hidden = shown.reduce((sum, { left }) => sum + left, 0);
  return {
    shown,
    named: namesOf(others, room, as),
    leftOut: others.length,
    hidden: others.reduce((sum, { text }) => sum + text.length, hidden),
  };
}

/**
 * Counts the fields of the request and its run of which the form shows nothing, not even both ends. People cannot approve what they cannot
 * see. Returns 0 for a request that fits the form, because it is shown in full.
 */
export function fieldsBeyondForm(request: Request, context: RunContext | null): number {
  if (!needsFile(request)) return 0;
  const { leftOut } = requestLayout(request, FORM_ROOM, "open");
  const ofContext = context === null ? 0 : fieldLayout(contextParts(context), CONTEXT_ROOM, "open").leftOut;
  return leftOut + ofContext;
}

/** Returns the least room that a field takes (characters): for its text, and for what surrounds it. */
function leastOf({ name, text }: Field, as: Drawing): { text: number; around: number } {
  const label = countedChars(shortName(name, as)) + AROUND_CHARS;
  const cut = { text: MIN_SHARE, around: label + REMARK_CHARS };
  if (text.length > MIN_SHARE) return cut;
  const whole = head(text, MIN_SHARE, as);
  return whole.hidden > 0 ? cut : { text: countedChars(whole.text), around: label };
}

function charsOf(field: Field, as: Drawing): number {
  const { text, around } = leastOf(field, as);
  return text + around;
}

function allFit(fields: readonly Field[], most: number, as: Drawing): boolean {
  let left = most;
  return fields.every((field) => (left -= charsOf(field, as)) >= 0);
}

/**
 * Chooses fields until one does not fit: telling names first, then the others; in each part, alternately a long one and a short one, so that
 * neither kind is crowded out.
 */
function mostTelling(fields: readonly Field[], most: number, as: Drawing): readonly Field[] {
  const telling = fields.filter(isTelling);
  const others = fields.filter((field) => !isTelling(field));
  const chosen: Field[] = [];
  let left = most;
  for (const field of [...alternating(telling), ...alternating(others)]) {
    left -= charsOf(field, as);
    if (left < 0) break;
    chosen.push(field);
  }
  return chosen;
}

/** Yields the fields alternately from the longest and the shortest. */
function* alternating(fields: readonly Field[]): Generator<Field> {
  const sorted = fields.toSorted((a, b) => b.text.length - a.text.length);
  for (let [first, last] = [0, sorted.length - 1]; first <= last; first += 1, last -= 1) {
    yield* sorted.slice(first, first + 1);
    if (first < last) yield* sorted.slice(last, last + 1);
  }
}

/** Divides the room, starting with the shortest field. The others share what it does not need. Each gets at least `MIN_SHARE`. */
function shared(fields: readonly Field[], room: Room, as: Drawing): readonly ShownText[] {
  const around = fields.reduce((sum, field) => sum + leastOf(field, as).around, 0);
  let left = Math.min(room.chars, room.most - around);
  const shown = fields
    .toSorted((a, b) => a.text.length - b.text.length)
    .map((field, at) => {
      const share = Math.max(MIN_SHARE, Math.floor(left / (fields.length - at)));
      const drawn = shownText(field, share, as);
      left = Math.max(0, left - countedChars(drawn.head + drawn.tail));
      return { drawn, telling: isTelling(field) };
    });
  return [...shown.filter(({ telling }) => telling), ...shown.filter(({ telling }) => !telling)].map(
    ({ drawn }) => drawn,
  );
}

function namesOf(fields: readonly Field[], { most }: Room, as: Drawing): string[] {
  const names: string[] = [];
  let left = most * NAMES_SHARE;
  for (const { name } of fields) {
    const label = shortName(name, as);
    left -= countedChars(label) + AROUND_CHARS;
    if (left < 0) break;
    names.push(label);
  }
  return names;
}

function shownText({ name, text }: Field, share: number, as: Drawing): ShownText {
  const label = shortName(name, as);
  if (as === "masked" && isSecretField(name, text)) {
    return { name: label, head: maskedField(name, text).text, left: 0, tail: "", inline: true, secrets: 1 };
  }
  const whole = head(text, share, as);
  const fits = whole.hidden === 0 && whole.text.split("\n").length <= LINES;
  const secrets =
    as === "open" ? 0 : secretsUnder(text.slice(0, share), masksIn(text.slice(0, share), as)).length;
  if (fits) {
    const inline = !whole.text.includes("\n") && whole.text.length < MIN_BOX;
    return { name: label, head: whole.text, left: 0, tail: "", inline, secrets };
  }
  if (share < MIN_BOX) return { name: label, ...onOneLine(text, share, as), inline: true, secrets };
  const most = Math.min(share, roomForLines(text, share));
  return { name: label, ...ends(text, most, as), inline: false, secrets };
}

function onOneLine(text: string, share: number, as: Drawing): Ends {
  const both = ends(text, share, as);
  const plain = (part: string): string => part.replace(/\s+/g, " ").trim();
  return { head: plain(both.head), left: both.left, tail: plain(both.tail) };
}

/** Returns the room up to the end of the text's twelfth line (characters). */
function roomForLines(text: string, share: number): number {
  const start = text.slice(0, share).split("\n", LINES).join("\n").length;
  return Math.max(start, 1);
}
