// Splits the field `pending_approvals` into items. INTERFACE.md does not show its shape, so we accept a list, a record around a list,
// a record by id, or a single approval. Items may be unreadable.

import { isList, isRecord, type Json } from "../../domain/json.ts";
import type { Result } from "../../domain/result.ts";
import { type Piece, piecesOf, readSource, type Source, sourceText } from "./json-pieces.ts";
import type { Fault } from "./json-scan.ts";

export type Listed = {
  /** The item's name in a record of approvals; null in a list. */
  readonly name: string | null;
  readonly read: Result<Json, Fault>;
  /** The item as it was sent. */
  readonly text: () => string;
};

/** Names under which a record holds the list itself. */
const LIST_NAMES = new Set(["items", "data", "approvals", "pending_approvals", "pending", "results", "list"]);
/** Fields that an approval's own record has. */
const OWN_NAMES = ["id", "approval_id", "approvalId", "action", "status"];

/** Null: it is neither a list nor a record. */
export function listedIn(field: Json): Listed[] | null {
  if (isList(field)) return field.map((value) => listed(null, value));
  if (!isRecord(field)) return null;
  if (OWN_NAMES.some((name) => Object.hasOwn(field, name))) return [listed(null, field)];
  const inner = Object.entries(field).find(([name, value]) => LIST_NAMES.has(name) && isList(value));
  if (inner !== undefined) return listedIn(inner[1]);
  return Object.entries(field).map(([name, value]) => listed(name, value));
}

/** The same for a text that cannot be read as a whole: it reads each item by itself. */
export function listedInSource(source: Source): Listed[] | null {
  const whole = readSource(source);
  if (whole.ok) return listedIn(whole.value);
  const pieces = piecesOf(source);
  if (pieces === null) return null;
  const inner = pieces.find(({ name, source: { text } }) => LIST_NAMES.has(name ?? "") && text[0] === "[");
  if (inner !== undefined) return listedInSource(inner.source);
  const names = pieces.map(({ name }) => name);
  if (OWN_NAMES.some((name) => names.includes(name))) return [fromSource({ name: null, source })];
  return pieces.map(fromSource);
}

function listed(name: string | null, value: Json): Listed {
  return { name, read: { ok: true, value }, text: () => JSON.stringify(value, null, 2) };
}

function fromSource({ name, source }: Piece): Listed {
  return { name, read: readSource(source), text: () => sourceText(source) };
}
