// A request written out for people: the action first, then every other field the service sent, known to us or not.

import type { Request } from "./approval.ts";
import { isRecord, type Json } from "./json.ts";
import { type Masked, masked, maskedField } from "./secrets.ts";
import { channelText, visible } from "./text.ts";

export type RequestParts = {
  /** Null: the service did not say what is asked. */
  readonly action: string | null;
  readonly fields: readonly { readonly name: string; readonly text: string }[];
  /** What is masked in it. */
  readonly secrets: readonly string[];
};

/** Up to here the card itself holds the whole request (characters, made visible). */
export const CARD_HOLDS_CHARS = 2_400;
/** Up to here the modal does: 250 kB is Slack's limit for a view, and a character takes up to four bytes. */
export const MODAL_HOLDS_CHARS = 50_000;

/** Said elsewhere on the card, so not repeated as a field. */
const SHOWN_APART = new Set(["id", "action"]);

/**
 * How it is written: `open` as it is, for whoever decides; `masked` for a channel, with secrets of well-known shapes masked. Invisible
 * characters and look-alikes are made visible either way.
 */
export type Drawing = "open" | "masked";
type Told = Pick<Request, "action" | "content" | "volatile">;

export function requestParts({ action, content, volatile = [] }: Told, as: Drawing): RequestParts {
  const head = action === null ? null : drawn(action, as, masked);
  if (!isRecord(content)) {
    const fields = typeof content === "string" ? [] : [field("sent", content, as)];
    return parts(head, fields);
  }
  const fields = Object.entries(content)
    .filter(
      ([name, value]) => !SHOWN_APART.has(name) || (name === "action" && action === null && value !== null),
    )
    .filter(([name, value]) => name !== "status" || value !== "pending")
    .map(([name, value]) => field(name, value, as));
  const may = volatile.map(visible).join(", ");
  const remark = {
    name: "May change without notice",
    text: `${may} (as first seen; not part of what is decided)`,
    secrets: [],
  };
  return parts(head, volatile.length === 0 ? fields : [...fields, remark]);
}

type Drawn = { readonly text: string; readonly secrets: readonly string[] };
type Field = Drawn & { readonly name: string };

function parts(head: Drawn | null, fields: readonly Field[]): RequestParts {
  const secrets = [...(head?.secrets ?? []), ...fields.flatMap((each) => each.secrets)];
  return { action: head?.text ?? null, fields: fields.map(({ name, text }) => ({ name, text })), secrets };
}

function drawn(whole: string, as: Drawing, mask: (text: string) => Masked): Drawn {
  if (as === "open") return { text: visible(whole), secrets: [] };
  const { text, secrets } = mask(whole);
  return { text: visible(text), secrets };
}

function field(name: string, value: Json, as: Drawing): Field {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  const label = as === "open" ? visible(name) : channelText(name);
  return { name: label, ...drawn(text, as, (whole) => maskedField(name, whole)) };
}

/** One below the other. */
export function fieldsText(fields: RequestParts["fields"]): string {
  const lines = fields.map(({ name, text }) =>
    text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`,
  );
  return lines.join("\n");
}

export function requestText(request: Told, as: Drawing): string {
  const { action, fields } = requestParts(request, as);
  const first = action ?? "(the service did not say what the action is)";
  return fields.length === 0 ? first : `${first}\n\n${fieldsText(fields)}`;
}

export function secretsIn(request: Told): readonly string[] {
  return requestParts(request, "masked").secrets;
}

/** Of all that is decided on: the request, and the run's own fields. */
export function shownChars({ chars, contextChars = 0 }: Pick<Request, "chars" | "contextChars">): number {
  return chars + contextChars;
}

/** Too long even for a modal: it is attached to the thread as a file before anybody can decide. */
export function needsFile(request: Request): boolean {
  return shownChars(request) > MODAL_HOLDS_CHARS;
}
