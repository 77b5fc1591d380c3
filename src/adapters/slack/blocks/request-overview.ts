// An overview of a request that is too long to show whole. It shows every field, up to a limit that it names: the short fields first
// and whole, of long ones the beginning and the end. No field can push another out of sight.

import type { RichTextBlock } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import { type Ends, ends, head, lineExcerpt } from "../../../domain/text/excerpt.ts";
import { type Field, sentParts, shortName, volatileField } from "../../../domain/text/request-text.ts";
import {
  type Drawing,
  isSecretField,
  maskedField,
  secretsUnder,
  veils,
} from "../../../domain/text/secrets.ts";
import { countedChars } from "../../../domain/text/text.ts";
import { NO_ACTION } from "./request-blocks.ts";
import { count, drawnBoxes, line, rich, span } from "./rich.ts";

type Part = ReturnType<typeof drawnBoxes>[number] | ReturnType<typeof line>;

export type Room = {
  /** Characters for the texts of all fields together. */
  readonly chars: number;
  /** Characters for everything, names included. A remark counts the fields that do not fit. */
  readonly most: number;
};

/** Each text gets at least this many characters, however many fields there are. */
const MIN_SHARE = 40;
/** A text with less room than this (characters) is drawn on one line. */
const MIN_BOX = 240;
/** Most lines that are shown of a text's beginning. */
const LINES = 12;
/** The length of the remark on a cut line, with the end of the line (characters). */
const REMARK_CHARS = 36;

export type Overview = {
  readonly block: RichTextBlock;
  /** How many secrets are masked in it. */
  readonly secrets: number;
};

/** `where` says where the whole request is. */
export function requestOverview(request: Request, room: Room, where: string, as: Drawing): Overview {
  const { action, fields } = sentParts(request);
  const first = shownText({ name: "", text: action ?? "" }, Math.floor(room.chars / 2), as);
  const left = { ...room, chars: room.chars - countedChars(first.head + first.tail) };
  const others = { fields, remark: volatileField(request), hidden: first.left };
  const rest = fieldsOverview(others, left, where, as);
  const head = action === null ? [line(span(NO_ACTION, { italic: true }))] : boxed("", first);
  return {
    block: rich(...head, ...rest.parts),
    secrets: as === "open" ? 0 : first.secrets + rest.secrets,
  };
}

type Fields = {
  readonly fields: readonly Field[];
  readonly remark: Field | null;
  /** Characters that were left out before these fields. */
  readonly hidden?: number;
};

export function fieldsOverview(
  { fields, remark, hidden = 0 }: Fields,
  room: Room,
  where: string,
  as: Drawing,
): { readonly parts: readonly Part[]; readonly secrets: number } {
  const shown = shareRoom(fields, room, as);
  const missed = shown.reduce((sum, { left }) => sum + left, hidden);
  const parts: Part[] = [
    ...linesOf(shown, remark),
    ...shown.flatMap((each) => (each.inline ? [] : boxed(`${each.name}:\n`, each))),
    ...missing(missed, fields.length - shown.length, where),
  ];
  return { parts, secrets: shown.reduce((sum, each) => sum + each.secrets, 0) };
}

type Shown = Ends & { readonly name: string; readonly inline: boolean; readonly secrets: number };

/** The shortest field first. The room that a field does not need goes to the others. */
function shareRoom(fields: readonly Field[], room: Room, as: Drawing): readonly Shown[] {
  const shown: Shown[] = [];
  let [left, beside] = [room.chars, room.most - room.chars];
  for (const [at, field] of fields.toSorted((a, b) => a.text.length - b.text.length).entries()) {
    const share = Math.max(MIN_SHARE, Math.floor(left / (fields.length - at)));
    const drawn = shownText(field, share, as);
    left -= countedChars(drawn.head + drawn.tail);
    beside -= countedChars(drawn.name) + REMARK_CHARS + Math.max(0, -left);
    if (beside < 0) break;
    left = Math.max(left, 0);
    shown.push(drawn);
  }
  return shown;
}

function shownText({ name, text }: Field, share: number, as: Drawing): Shown {
  const label = shortName(name, as);
  if (as === "masked" && isSecretField(name, text)) {
    return { name: label, head: maskedField(name, text).text, left: 0, tail: "", inline: true, secrets: 1 };
  }
  const whole = head(text, share, as);
  const fitsWhole = whole.hidden === 0 && whole.text.split("\n").length <= LINES;
  const secrets =
    as === "open" ? 0 : secretsUnder(text.slice(0, share), veils(text.slice(0, share), as)).length;
  if (fitsWhole) {
    const inline = !whole.text.includes("\n") && whole.text.length < MIN_BOX;
    return { name: label, head: whole.text, left: 0, tail: "", inline, secrets };
  }
  if (share < MIN_BOX) return { name: label, ...onOneLine(text, share, as), inline: true, secrets };
  return {
    name: label,
    ...ends(text, Math.min(share, roomForLines(text, share)), as),
    inline: false,
    secrets,
  };
}

function onOneLine(text: string, share: number, as: Drawing): Ends {
  const { text: shown, hidden } = lineExcerpt(text, share, as);
  return { head: shown, left: hidden, tail: "" };
}

/** The length up to the end of line `LINES`, at least 1. */
function roomForLines(text: string, share: number): number {
  const start = text.slice(0, share).split("\n", LINES).join("\n").length;
  return Math.max(start, 1);
}

function boxed(label: string, { head: start, left, tail }: Ends): Part[] {
  const first = drawnBoxes(`${label}${start}`);
  if (left === 0) return first;
  const remark = `${count(left)} ${tail === "" ? "more characters" : "characters between these two parts"} are not shown here.`;
  return [...first, line(span(remark, { italic: true })), ...(tail === "" ? [] : drawnBoxes(tail))];
}

function linesOf(shown: readonly Shown[], remark: Field | null): Part[] {
  const lines = shown.filter(({ inline }) => inline).map(({ name, head: text }) => `${name}: ${text}`);
  if (remark !== null) lines.push(`${remark.name}: ${remark.text}`);
  return lines.length === 0 ? [] : drawnBoxes(lines.join("\n"));
}

function missing(hidden: number, fields: number, where: string): Part[] {
  const more =
    fields === 0 ? "" : `${count(fields)} more ${fields === 1 ? "field is" : "fields are"} not shown here. `;
  const chars = hidden === 0 ? "" : `${count(hidden)} more characters are not shown here. `;
  return [line(span(`${chars}${more}${where}`, { bold: true }))];
}
