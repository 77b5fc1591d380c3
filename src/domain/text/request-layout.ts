// What of a long request is shown in how much room: every field where that is possible, the short ones whole, of the long ones both
// ends. The card and the form are drawn by it, and it decides whether the form shows enough to approve.

import type { Request, RunContext } from "../approval.ts";
import { contextParts } from "../run-context.ts";
import { type Ends, ends, head } from "./excerpt.ts";
import { type Field, needsFile, sentParts, shortName } from "./request-text.ts";
import { type Drawing, isSecretField, maskedField, secretsUnder, veils } from "./secrets.ts";
import { countedChars } from "./text.ts";

export type Room = {
  /** Characters that the texts share. */
  readonly chars: number;
  /** Characters of all, names too. */
  readonly most: number;
};

/** In the form, of a request that is attached as a file, and of its run's own fields. */
export const FORM_ROOM: Room = { chars: 20_000, most: 24_000 };
export const CONTEXT_ROOM: Room = { chars: 3_000, most: 5_000 };

/** Each text that is shown gets at least so much (characters). */
const MIN_SHARE = 64;
/** In less room a text stands on one line. */
const MIN_BOX = 240;
/** Of a text so many lines are shown at either end. */
const LINES = 12;
/** What the remark on a cut text takes, and what stands around a name and a text (characters). */
const REMARK_CHARS = 36;
const AROUND_CHARS = 3;
/** Where not all fields fit, so much of the room is kept for the names of the others. */
const NAMES_SHARE = 0.25;

/** Fields of these names say what is done and to what. Where not all fit, they come first. */
const NAME_CHARS = 40;
const TELLING = new Set(
  `action actions command commands cmd args arguments argv script code sql query statement query_string operation op
  method tool function name risk risk_level severity target targets resource host hosts path file url environment env
  cluster namespace region database db account user recipient to amount price cost currency total reason description
  summary title details diff plan`
    .split(/\s+/)
    .map(plainName),
);

function plainName(name: string): string {
  return name.replace(/[_-]/g, "").toLowerCase();
}

const isTelling = ({ name }: Field): boolean => name.length <= NAME_CHARS && TELLING.has(plainName(name));

export type ShownText = Ends & { readonly name: string; readonly inline: boolean; readonly secrets: number };

export type FieldLayout = {
  /** Those that tell the most first, then the short ones. */
  readonly shown: readonly ShownText[];
  /** Of fields that are not shown: their names, as far as they fit. */
  readonly named: readonly string[];
  /** How many fields are not shown, those of `named` too. */
  readonly leftOut: number;
  /** Characters that are not shown. */
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
  const inside = new Set(chosen);
  const others = fields.filter((field) => !inside.has(field));
  const hidden = shown.reduce((sum, { left }) => sum + left, 0);
  return {
    shown,
    named: namesOf(others, room, as),
    leftOut: others.length,
    hidden: others.reduce((sum, { text }) => sum + text.length, hidden),
  };
}

/**
 * How many fields, of the request and of its run, have no place in the form, not even both ends of them. Nobody can approve what
 * they could not see. A request that fits the form stands in it whole.
 */
export function fieldsBeyondForm(request: Request, context: RunContext | null): number {
  if (!needsFile(request)) return 0;
  const { leftOut } = requestLayout(request, FORM_ROOM, "open");
  const around = context === null ? 0 : fieldLayout(contextParts(context), CONTEXT_ROOM, "open").leftOut;
  return leftOut + around;
}

/** What a field takes at the least (characters): its text, and what stands around that. */
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

/** As many as fit: by their names first, then by turns a long one and a short one, so that neither kind crowds the other out. */
function mostTelling(fields: readonly Field[], most: number, as: Drawing): readonly Field[] {
  const telling = fields.filter(isTelling);
  const others = fields.filter((field) => !isTelling(field));
  const chosen: Field[] = [];
  let left = most;
  for (const field of [...byTurns(telling), ...byTurns(others)]) {
    left -= charsOf(field, as);
    if (left < 0) break;
    chosen.push(field);
  }
  return chosen;
}

function* byTurns(fields: readonly Field[]): Generator<Field> {
  const sorted = fields.toSorted((a, b) => b.text.length - a.text.length);
  for (let [first, last] = [0, sorted.length - 1]; first <= last; first += 1, last -= 1) {
    yield* sorted.slice(first, first + 1);
    if (first < last) yield* sorted.slice(last, last + 1);
  }
}

/** The shortest first; what one does not need is shared by the others. Each gets its least, so that none is left out. */
function shared(fields: readonly Field[], room: Room, as: Drawing): readonly ShownText[] {
  const around = fields.reduce((sum, field) => sum + leastOf(field, as).around, 0);
  let left = Math.min(room.chars, room.most - around);
  const shown = fields
    .toSorted((a, b) => a.text.length - b.text.length)
    .map((field, at) => {
      const share = Math.max(MIN_SHARE, Math.floor(left / (fields.length - at)));
      const drawn = shownText(field, share, as);
      left = Math.max(0, left - countedChars(drawn.head + drawn.tail));
      return { drawn, tells: isTelling(field) };
    });
  return [...shown.filter(({ tells }) => tells), ...shown.filter(({ tells }) => !tells)].map(
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
    as === "open" ? 0 : secretsUnder(text.slice(0, share), veils(text.slice(0, share), as)).length;
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

/** Up to the end of its twelfth line. */
function roomForLines(text: string, share: number): number {
  const start = text.slice(0, share).split("\n", LINES).join("\n").length;
  return Math.max(start, 1);
}
