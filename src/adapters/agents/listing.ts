// Splits the field `pending_approvals` into items. INTERFACE.md does not show its shape, so we accept a list, a record around a list,
// a record by id, or a single approval. Items may be unreadable.

import { isList, isRecord, type Json } from "../../domain/json.ts";
import { err, type Result } from "../../domain/result.ts";
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

/** Nobody decides more of one run. Each costs a card, and time at every look. */
const MAX_ITEMS = 2_000;

/** The first of them, and one that stands for all others. */
export function capped(items: readonly Listed[]): readonly Listed[] {
  const others = items.slice(MAX_ITEMS);
  if (others.length === 0) return items;
  return [...items.slice(0, MAX_ITEMS), standsFor(others.reduce((sum, each) => sum + countOf(each), 0))];
}

function standsFor(count: number): Listed {
  return { name: null, read: err({ type: "too-many-items", count }), text: () => "" };
}

function countOf({ read }: Listed): number {
  return !read.ok && read.error.type === "too-many-items" ? read.error.count : 1;
}

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
  const first = pieces.slice(0, MAX_ITEMS).map(fromSource);
  return pieces.length === first.length ? first : [...first, standsFor(pieces.length - first.length)];
}

function listed(name: string | null, value: Json): Listed {
  return { name, read: { ok: true, value }, text: () => JSON.stringify(value, null, 2) };
}

function fromSource({ name, source }: Piece): Listed {
  return { name, read: readSource(source), text: () => sourceText(source) };
}
