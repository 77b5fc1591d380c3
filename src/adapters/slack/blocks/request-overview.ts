// A request that does not fit: every field is seen, the short ones first and whole, of the long ones both ends. No field can push
// another out of sight.

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
  /** Characters that the texts share. */
  readonly chars: number;
  /** Characters of all, names too. What is beyond is said to be left out. */
  readonly most: number;
};

/** Each text gets at least so much (characters), however many there are. */
const MIN_SHARE = 40;
/** In less room a text stands on one line. */
const MIN_BOX = 240;
/** Of a text so many lines are shown at either end. */
const LINES = 12;
/** What a remark on a cut line takes, and the end of the line (characters). */
const REMARK_CHARS = 36;

export type Overview = {
  readonly block: RichTextBlock;
  /** How many secrets are masked in it. */
  readonly secrets: number;
};

/** `where`: where the whole is. */
export function requestOverview(request: Request, room: Room, where: string, as: Drawing): Overview {
  const { action, fields } = sentParts(request);
  const first = shownText({ name: "", text: action ?? "" }, Math.floor(room.chars / 2), as);
  const left = { ...room, chars: room.chars - countedChars(first.head + first.tail) };
  const told = { fields, remark: volatileField(request), hidden: first.left };
  const rest = fieldsOverview(told, left, where, as);
  const head = action === null ? [line(span(NO_ACTION, { italic: true }))] : boxed("", first);
  return {
    block: rich(...head, ...rest.parts),
    secrets: as === "open" ? 0 : first.secrets + rest.secrets,
  };
}

type Fields = {
  readonly fields: readonly Field[];
  readonly remark: Field | null;
  /** Characters that are left out before them. */
  readonly hidden?: number;
};

export function fieldsOverview(
  { fields, remark, hidden = 0 }: Fields,
  room: Room,
  where: string,
  as: Drawing,
): { readonly parts: readonly Part[]; readonly secrets: number } {
  const shown = shared(fields, room, as);
  const missed = shown.reduce((sum, { left }) => sum + left, hidden);
  const parts: Part[] = [
    ...linesOf(shown, remark),
    ...shown.flatMap((each) => (each.inline ? [] : boxed(`${each.name}:\n`, each))),
    ...missing(missed, fields.length - shown.length, where),
  ];
  return { parts, secrets: shown.reduce((sum, each) => sum + each.secrets, 0) };
}

type Shown = Ends & { readonly name: string; readonly inline: boolean; readonly secrets: number };

/** The shortest first; what one does not need is shared by the others. */
function shared(fields: readonly Field[], room: Room, as: Drawing): readonly Shown[] {
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
  const fits = whole.hidden === 0 && whole.text.split("\n").length <= LINES;
  const secrets =
    as === "open" ? 0 : secretsUnder(text.slice(0, share), veils(text.slice(0, share), as)).length;
  if (fits) {
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

/** Up to the end of its twelfth line. */
function roomForLines(text: string, share: number): number {
  const start = text.slice(0, share).split("\n", LINES).join("\n").length;
  return Math.max(start, 1);
}

function boxed(label: string, { head: start, left, tail }: Ends): Part[] {
  const first = drawnBoxes(`${label}${start}`);
  if (left === 0) return first;
  const says = `${count(left)} characters ${tail === "" ? "more" : "between these two parts"} are not shown here.`;
  return [...first, line(span(says, { italic: true })), ...(tail === "" ? [] : drawnBoxes(tail))];
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
