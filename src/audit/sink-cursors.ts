// How far each AUDIT_SINK has taken the audit, in one stored document. A sink that was replaced stays in it: its copy would otherwise have a
// gap that no one was told about.

import { isList, isRecord, type Json } from "../domain/json.ts";

/** `to`: the name of the sink. `link`: the link of entry `seq`, so that a different audit with the same numbers is noticed. */
export type SinkCursor = { readonly to: string; readonly seq: number; readonly link: string };

/** The name of the document. */
export const SINK_CURSORS = "audit stream";

/** Returns the cursors in the document. Earlier versions stored only the newest. */
export function sinkCursorsIn(document: Json): readonly SinkCursor[] {
  if (!isRecord(document)) return [];
  const { others = [] } = document;
  return [document, ...(isList(others) ? others : [])].flatMap(cursorIn);
}

function cursorIn(value: Json): readonly SinkCursor[] {
  if (!isRecord(value)) return [];
  const { to, seq, link } = value;
  return typeof to === "string" && typeof seq === "number" && typeof link === "string"
    ? [{ to, seq, link }]
    : [];
}

/** Returns the document with these cursors, or null if there are none. */
export function sinkDocument([newest, ...others]: readonly SinkCursor[]): Json {
  if (newest === undefined) return null;
  return others.length === 0 ? newest : { ...newest, others };
}
