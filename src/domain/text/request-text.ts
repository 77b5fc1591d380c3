// A request written out for people: the action first, then every other field the service sent, known to us or not.

import type { Request } from "../approval.ts";
import { oneLine } from "./excerpt.ts";
import { isRecord, type Json } from "../json.ts";
import { type Drawing, fieldVeils, secretsUnder, veiled, veils } from "./secrets.ts";
import { allSeen, channelText, countedChars, visible } from "./text.ts";

export type RequestParts = {
  /** Null: the service did not say what the action is. */
  readonly action: string | null;
  readonly fields: readonly Field[];
};

/** The name is kept on one line, so that it cannot pass for anything else. */
export type Field = { readonly name: string; readonly text: string };

/** Up to this length the card itself holds the whole request (characters, made visible). */
export const CARD_HOLDS_CHARS = 2_400;
/** Up to this length the modal does: Slack's limit for a view is 250 kB, and a character takes up to four bytes. */
export const MODAL_HOLDS_CHARS = 50_000;

/** Shown elsewhere on the card, so not repeated as a field. */
const SHOWN_APART = new Set(["id", "action"]);

export type Told = Pick<Request, "action" | "content" | "volatile">;

/** As the service sent it: not made visible, not masked. */
export function sentParts(request: Told): RequestParts {
  const fields = Object.entries(fieldsOf(request)).map(([name, value]) => ({ name, text: written(value) }));
  return { action: request.action, fields };
}

/** Every field that is not shown elsewhere, by name. A content that is no record is one field, "sent". */
export function fieldsOf({ action, content }: Told): { readonly [name: string]: Json } {
  if (!isRecord(content)) return typeof content === "string" ? {} : { sent: content };
  const apart = ([name, value]: [string, Json]): boolean =>
    (SHOWN_APART.has(name) && (name !== "action" || action !== null || value === null)) ||
    (name === "status" && value === "pending");
  return Object.fromEntries(Object.entries(content).filter((each) => !apart(each)));
}

const written = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** The fields that may change without notice, in our own words; null: none. */
export function volatileField({ volatile = [] }: Pick<Told, "volatile">): Field | null {
  if (volatile.length === 0) return null;
  const text = `${volatile.map(visible).join(", ")} (as first seen; not part of what is decided)`;
  return { name: "May change without notice", text };
}

/**
 * The whole request, drawn: `open` for the person who decides; `masked` for a channel, with secrets of well-known shapes masked.
 * Both make invisible characters and look-alikes visible. Takes time in proportion to the length of the request.
 */
export function requestParts(request: Told, as: Drawing): RequestParts {
  const { action, fields } = sentParts(request);
  const remark = volatileField(request);
  const drawn = fields.map(({ name, text }) => ({
    name: nameText(name, as),
    text: fieldText(name, text, as),
  }));
  return {
    action: action === null ? null : as === "open" ? visible(action) : channelText(action),
    fields: remark === null ? drawn : [...drawn, remark],
  };
}

/** A field whose name says that it is a secret is masked whole. */
export function fieldText(name: string, text: string, as: Drawing): string {
  return allSeen(veiled(text, as === "open" ? veils(text, as) : fieldVeils(name, text)));
}

/** A name on one line: line breaks are shown by their numbers. */
export function nameText(name: string, as: Drawing): string {
  if (name === "") return "(no name)";
  return onOneLine(as === "open" ? visible(name) : channelText(name));
}

const NAME_CHARS = 60;

export function shortName(name: string, as: Drawing): string {
  const whole = name.length <= NAME_CHARS ? nameText(name, as) : null;
  return whole !== null && whole.length <= NAME_CHARS ? whole : oneLine(name, NAME_CHARS, as);
}

const LINE_ENDS: { readonly [char: string]: string } = { "\n": "⟨U+000A⟩", "\t": "⟨U+0009⟩" };
const onOneLine = (text: string): string => text.replace(/[\n\t]/g, (char) => LINE_ENDS[char] ?? char);

/** One below the other. */
export function fieldsText(fields: readonly Field[]): string {
  const lines = fields.map(({ name, text }) =>
    text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`,
  );
  return lines.join("\n");
}

export const NO_ACTION_TEXT = "(the service did not say what the action is)";

export function requestText(request: Told, as: Drawing): string {
  const { action, fields } = requestParts(request, as);
  const first = action ?? NO_ACTION_TEXT;
  return fields.length === 0 ? first : `${first}\n\n${fieldsText(fields)}`;
}

/** In the order of the fields. Takes time in proportion to the length of the request. */
export function secretsIn(request: Told): readonly string[] {
  const { action, fields } = sentParts(request);
  const text = action ?? "";
  const inAction = secretsUnder(text, veils(text, "masked"));
  return [
    ...inAction,
    ...fields.flatMap((each) => secretsUnder(each.text, fieldVeils(each.name, each.text))),
  ];
}

/** Length of everything that is decided on: the request and the run's own fields. */
export function shownChars({ chars, contextChars = 0 }: Pick<Request, "chars" | "contextChars">): number {
  return chars + contextChars;
}

/** The drawn text is at least half as long as the sent one, because only carriage returns before newlines are dropped. */
const MAX_SENT_PER_CHAR = 2;

/** The length when written out (characters as Slack counts them); for a request that needs a file, a lower bound. */
export function requestChars(request: Told): number {
  const { action, fields } = sentParts(request);
  const sent = fields.reduce((sum, { name, text }) => sum + name.length + text.length, (action ?? "").length);
  if (sent > MODAL_HOLDS_CHARS * MAX_SENT_PER_CHAR) return sent;
  return countedChars(requestText(request, "open"));
}

/** Too long even for a modal, so it is attached to the thread as a file before anyone can decide. */
export function needsFile(request: Request): boolean {
  return shownChars(request) > MODAL_HOLDS_CHARS;
}
