// A request written out for people: first the action, then every other field that the service sent, whether we know it or not.

import type { Request } from "../approval.ts";
import { oneLine } from "./excerpt.ts";
import { isRecord, type Json } from "../json.ts";
import { type Drawing, fieldMasks, secretsUnder, withMasks, masksIn } from "./secrets.ts";
import { visibleUnmasked, channelText, countedChars, visible } from "./text.ts";

export type RequestParts = {
  /** Null if the service did not say what the action is. */
  readonly action: string | null;
  readonly fields: readonly Field[];
};

/** The name is shown on one line, so that it cannot pass for anything else. */
export type Field = { readonly name: string; readonly text: string };

/** The longest request that the card itself shows in full (characters as drawn). */
export const CARD_HOLDS_CHARS = 2_400;
/** The longest request that the modal shows in full. Slack's limit for a view is 250 kB, and a character takes up to four bytes. */
export const MODAL_HOLDS_CHARS = 50_000;

export type SentRequest = Pick<Request, "action" | "content" | "volatile">;

/** Returns the request as the service sent it, with nothing made visible or masked. */
export function sentParts(request: SentRequest): RequestParts {
  const fields = Object.entries(fieldsOf(request)).map(([name, value]) => ({
    name,
    text: writtenValue(value),
  }));
  return { action: request.action, fields };
}

/** Returns every field that is not shown elsewhere, by name. Content that is not an object becomes one field, "sent". */
export function fieldsOf({ action, content }: SentRequest): { readonly [name: string]: Json } {
  if (!isRecord(content)) return typeof content === "string" ? {} : { sent: content };
  // An action beside the record of the approval may differ from the action in the record.
  const isShownApart = ([name, value]: [string, Json]): boolean =>
    name === "id" || (name === "action" && value === action) || (name === "status" && value === "pending");
  return Object.fromEntries(Object.entries(content).filter((field) => !isShownApart(field)));
}

export function writtenValue(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Returns a remark that lists the volatile fields, for plain text. Returns null if there are none. */
export function volatileField({ volatile = [] }: Pick<SentRequest, "volatile">): Field | null {
  if (volatile.length === 0) return null;
  const text = `${volatile.map(visible).join(", ")} (as first seen; not part of what is decided)`;
  return { name: "May change without notice", text };
}

/**
 * Draws the whole request: `open` for the person who decides, or `masked` for a channel, with secrets of well-known shapes masked. Both
 * make invisible characters and look-alikes visible. Takes time proportional to the length of the request.
 */
export function requestParts(request: SentRequest, as: Drawing): RequestParts {
  const { action, fields } = sentParts(request);
  return {
    action: action === null ? null : as === "open" ? visible(action) : channelText(action),
    fields: fields.map(({ name, text }) => ({ name: nameText(name, as), text: fieldText(name, text, as) })),
  };
}

/** Draws the text of a field. If the name says that it is a secret, the whole text is masked. */
export function fieldText(name: string, text: string, as: Drawing): string {
  return visibleUnmasked(withMasks(text, as === "open" ? masksIn(text, as) : fieldMasks(name, text)));
}

/** Draws a name on one line. Line breaks are shown by their code points. */
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

/** Writes the fields one below the other. */
export function fieldsText(fields: readonly Field[]): string {
  const lines = fields.map(({ name, text }) =>
    text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`,
  );
  return lines.join("\n");
}

export const NO_ACTION_TEXT = "(the service did not say what the action is)";

export function requestText(request: SentRequest, as: Drawing): string {
  const { action, fields } = requestParts(request, as);
  const remark = volatileField(request);
  const rest = remark === null ? fields : [...fields, remark];
  const first = action ?? NO_ACTION_TEXT;
  return rest.length === 0 ? first : `${first}\n\n${fieldsText(rest)}`;
}

/** Returns the secrets in the request, in the order of its fields. Takes time proportional to the length of the request. */
export function secretsIn(request: SentRequest): readonly string[] {
  const { action, fields } = sentParts(request);
  const text = action ?? "";
  const inAction = secretsUnder(text, masksIn(text, "masked"));
  return [
    ...inAction,
    ...fields.flatMap((field) => secretsUnder(field.text, fieldMasks(field.name, field.text))),
  ];
}

/** Returns the length of everything that is decided on: the request and the run's own fields. */
export function shownChars({ chars, contextChars = 0 }: Pick<Request, "chars" | "contextChars">): number {
  return chars + contextChars;
}

/** The drawn text is at least half as long as the sent one, because only carriage returns before newlines are dropped. */
const MAX_SENT_PER_CHAR = 2;

/** Returns the length of the request written out, as Slack counts characters. For a request that needs a file, returns a lower bound. */
export function requestChars(request: SentRequest): number {
  const { action, fields } = sentParts(request);
  const sent = fields.reduce((sum, { name, text }) => sum + name.length + text.length, (action ?? "").length);
  if (sent > MODAL_HOLDS_CHARS * MAX_SENT_PER_CHAR) return sent;
  return countedChars(requestText(request, "open"));
}

/** Returns whether the request is too long even for a modal. It is then attached to the thread as a file before anyone can decide. */
export function needsFile(request: Request): boolean {
  return shownChars(request) > MODAL_HOLDS_CHARS;
}
