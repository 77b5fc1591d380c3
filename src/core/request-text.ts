// A request written out for people: the action first, then every other field the service sent, known to us or not.

import type { Request } from "./approval.ts";
import { isRecord, type Json } from "./json.ts";
import { visible } from "./text.ts";

export type RequestParts = {
  /** Null: the service did not say what is asked. */
  readonly action: string | null;
  readonly fields: readonly { readonly name: string; readonly text: string }[];
};

/** Up to here the card itself holds the whole request (characters, made visible). */
export const CARD_HOLDS_CHARS = 2_400;
/** Up to here the modal does: 250 kB is Slack's limit for a view, and a character takes up to four bytes. */
export const MODAL_HOLDS_CHARS = 50_000;

/** Said elsewhere on the card, so not repeated as a field. */
const SHOWN_APART = new Set(["id", "action"]);

type Told = Pick<Request, "action" | "content" | "volatile">;

export function requestParts({ action, content, volatile = [] }: Told): RequestParts {
  const shown = action === null ? null : visible(action);
  if (!isRecord(content))
    return { action: shown, fields: typeof content === "string" ? [] : [field("sent", content)] };
  const fields = Object.entries(content)
    .filter(
      ([name, value]) => !SHOWN_APART.has(name) || (name === "action" && action === null && value !== null),
    )
    .filter(([name, value]) => name !== "status" || value !== "pending")
    .map(([name, value]) => field(name, value));
  const may = volatile.map(visible).join(", ");
  const remark = {
    name: "May change without notice",
    text: `${may} (as first seen; not part of what is decided)`,
  };
  return { action: shown, fields: volatile.length === 0 ? fields : [...fields, remark] };
}

function field(name: string, value: Json): { name: string; text: string } {
  return {
    name: visible(name),
    text: visible(typeof value === "string" ? value : JSON.stringify(value, null, 2)),
  };
}

/** One below the other. */
export function fieldsText(fields: RequestParts["fields"]): string {
  const lines = fields.map(({ name, text }) =>
    text.includes("\n") ? `${name}:\n${text}` : `${name}: ${text}`,
  );
  return lines.join("\n");
}

export function requestText(request: Told): string {
  const { action, fields } = requestParts(request);
  const first = action ?? "(the service did not say what the action is)";
  return fields.length === 0 ? first : `${first}\n\n${fieldsText(fields)}`;
}

/** Too long even for a modal: it is attached to the thread as a file before anybody can decide. */
export function needsFile(request: Request): boolean {
  return request.chars > MODAL_HOLDS_CHARS;
}
