// What the service says about the end of a run besides its output: of an error record its message, then every other field.

import type { Block } from "@slack/types";
import { isRecord, type Json } from "../../../domain/json.ts";
import type { Ended } from "../../../domain/run.ts";
import { shortened } from "../../../domain/text/excerpt.ts";
import { boxes, line, note, rich, span } from "./rich.ts";

/** For the message and the other fields together. */
const DETAILS_CHARS = 2_500;
/** The other fields have at least this much room. */
const REST_CHARS = 500;
const CODE_CHARS = 120;

type Fields = { readonly [field: string]: Json };
type Failure = { readonly message: string; readonly code: string | null; readonly rest: Fields };

/** Failure details or the reason of a cancellation: every field that INTERFACE.md does not document, except `created_at`. */
export function endedDetails({ extra, how }: Ended): Block[] {
  const { created_at: _known, ...fields } = extra;
  if (Object.keys(fields).length === 0)
    return how === "succeeded" ? [] : [rich(line(span("The service gave no reason.")))];
  const { message, code, rest } = failureIn(fields);
  const room = Math.max(DETAILS_CHARS - message.length, REST_CHARS);
  return [
    rich(
      line(span("The service says:")),
      ...(message === "" ? [] : boxes(shortened(message, DETAILS_CHARS, "masked"))),
      ...(message === "" ? restBoxes(rest, room) : []),
    ),
    ...(code === null
      ? []
      : [note(`Error code: ${shortened(code.replace(/\s+/g, " "), CODE_CHARS, "masked")}`)]),
    ...(message === "" || Object.keys(rest).length === 0 ? [] : [rich(...restBoxes(rest, room))]),
  ];
}

function restBoxes(rest: Fields, room: number): ReturnType<typeof boxes> {
  const text = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value, null, 2)}`,
  );
  return boxes(shortened(text.join("\n"), room, "masked"));
}

/** INTERFACE.md §2, "Error record", as the field `error` or as the fields themselves. An empty message: there is none. */
function failureIn(fields: Fields): Failure {
  const { error, ...others } = fields;
  if (error !== undefined && isRecord(error)) {
    const { message, code, rest } = recordIn(error);
    if (message !== "")
      return { message, code, rest: Object.keys(rest).length === 0 ? others : { ...others, error: rest } };
  }
  return recordIn(fields);
}

function recordIn(fields: Fields): Failure {
  const { message, ...others } = fields;
  if (typeof message !== "string" || message.trim() === "") return { message: "", code: null, rest: fields };
  const { code, ...rest } = others;
  return typeof code === "string" && code.trim() !== ""
    ? { message, code, rest }
    : { message, code: null, rest: others };
}
