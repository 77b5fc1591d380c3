// Reads JSON as it was sent: numbers keep their digits, and a text that parsers read differently is a fault. Below, the text is
// split into pieces that are read one by one, and `pending_approvals` into its items.

import { isList, isRecord, type Json, parseJson } from "../../domain/json.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { endOfString, type Fault, scan } from "./json-scan.ts";

/** Returns the JSON value of an answer's body, or an error that says why there is none. */
export function readJson(body: string): Result<Json, string> {
  const read = readExactly(body);
  return read.ok ? read : err(faultWords(read.error));
}

export function readExactly(text: string): Result<Json, Fault> {
  const { fault, exact, surrogates } = scan(text);
  if (fault !== null) return err(fault);
  try {
    const value = exact ? (JSON.parse(text) as Json) : parseJson(text);
    return surrogates && !isWellFormed(value) ? err({ type: "half-character" }) : ok(value);
  } catch {
    return err({ type: "not-json" });
  }
}

/** Tests that no text and no name contains a lone surrogate. The scan has limited the depth. */
function isWellFormed(value: Json): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (isList(value)) return value.every(isWellFormed);
  return (
    !isRecord(value) ||
    Object.entries(value).every(([name, each]) => name.isWellFormed() && isWellFormed(each))
  );
}

const MAX_NAME_CHARS = 80;

/**
 * Returns words that can follow "because" in a sentence about "it". They become part of the name of a field that cannot be read
 * (`run-record.ts`), and so of stored documents and digests.
 */
export function faultWords(fault: Fault): string {
  switch (fault.type) {
    case "name-twice":
      return `the name ${JSON.stringify(fault.name.slice(0, MAX_NAME_CHARS))} stands twice in one of its records`;
    case "too-many-items":
      return `it stands behind so many others that it is not read, like all ${fault.count} that are left`;
    case "not-json":
      return "it is not JSON";
    case "not-utf8":
      return "it is not valid UTF-8";
    case "half-character":
      return "it holds half of a character (a lone surrogate)";
    case "too-deep":
      return "its lists and records are nested too deeply";
    case "too-many-values":
      return "it holds too many values";
  }
}

// Splits a JSON text into members or items without parsing them, so that one unreadable item spoils no other.

/**
 * A text, or bytes that are not valid UTF-8, one character for each byte. JSON's own marks are ASCII, so both are split the same way.
 */
export type Source = { readonly text: string; readonly bytes: boolean };

/** `name` is null for the items of a list. */
type Piece = { readonly name: string | null; readonly source: Source };

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Returns the value of the piece, or an error if another parser could read a different value. */
export function readSource({ text, bytes }: Source): Result<Json, Fault> {
  if (!bytes) return readExactly(text);
  try {
    return readExactly(utf8.decode(Buffer.from(text, "latin1")));
  } catch {
    return err({ type: "not-utf8" });
  }
}

/** For display: invalid UTF-8 becomes U+FFFD. */
export function sourceText({ text, bytes }: Source): string {
  return bytes ? Buffer.from(text, "latin1").toString("utf8") : text;
}

/** Returns the members of a record or the items of a list, in order. Returns null if the text is neither, or not JSON. */
export function piecesOf(source: Source): Piece[] | null {
  const { text } = source;
  const start = skipSpace(text, 0);
  const record = text[start] === "{";
  if (!record && text[start] !== "[") return null;
  const pieces: Piece[] = [];
  const seen = { stroke: -1 };
  for (let at = skipSpace(text, start + 1); ; at = skipSpace(text, at + 1)) {
    if (at >= text.length) return null;
    if (text[at] === (record ? "}" : "]")) return pieces;
    let name: string | null = null;
    if (record) {
      const end = endOfString(text, at, seen);
      if (end < 0) return null;
      name = nameOf({ text: text.slice(at, end + 1), bytes: source.bytes });
      at = skipSpace(text, skipSpace(text, end + 1) + 1);
    }
    const end = endOfValue(text, at, seen);
    pieces.push({ name, source: { text: text.slice(at, end).trimEnd(), bytes: source.bytes } });
    at = end;
    if (text[at] !== ",") return text[at] === (record ? "}" : "]") ? pieces : null;
  }
}

function nameOf(quoted: Source): string {
  try {
    return JSON.parse(sourceText(quoted)) as string;
  } catch {
    return sourceText(quoted);
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\n\r".includes(text.charAt(at))) at += 1;
  return at;
}

/** The position where the value at `from` ends: at a comma, or at the closing bracket around it. */
function endOfValue(text: string, from: number, seen: { stroke: number }): number {
  let open = 0;
  for (let at = from; at < text.length; at += 1) {
    const mark = text.charAt(at);
    if (mark === '"') {
      const end = endOfString(text, at, seen);
      if (end < 0) return text.length;
      at = end;
    } else if (mark === "[" || mark === "{") open += 1;
    else if (mark === "]" || mark === "}") {
      if (open === 0) return at;
      open -= 1;
    } else if (mark === "," && open === 0) return at;
  }
  return text.length;
}

// Splits the field `pending_approvals` into items. The service does not document its shape, so we accept a list, a record around lists,
// a record by id, or a single approval. Items may be unreadable.

export type Listed = {
  /** The item's name in a record of approvals; null in a list. */
  readonly name: string | null;
  readonly read: Result<Json, Fault>;
  /** The item as it was sent. */
  readonly text: () => string;
};

/**
 * Names of a list that tell a record around lists from a record by id. Of a record around lists, these are read, and every list that holds a
 * record. A list of texts under another name may be anything, such as warnings.
 */
const LIST_NAMES = new Set(["items", "data", "approvals", "pending_approvals", "pending", "results", "list"]);
/** Fields that an approval's own record has. */
const OWN_NAMES = ["id", "approval_id", "approvalId", "action", "status"];

/** The maximum number of approvals of one run. No one could decide more, and each costs a card, and time at every poll. */
const MAX_ITEMS = 2_000;

/** Returns the first items, and one item that represents all others. */
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

/** Returns null if the field is neither a list nor a record. */
export function listedIn(field: Json): Listed[] | null {
  if (isList(field)) return field.map((value) => listed(null, value));
  if (!isRecord(field)) return null;
  if (OWN_NAMES.some((name) => Object.hasOwn(field, name))) return [listed(null, field)];
  const members = Object.entries(field);
  const lists = members.filter(
    ([name, value]) => isList(value) && (LIST_NAMES.has(name) || value.some(isRecord)),
  );
  const isAround = lists.some(([name]) => LIST_NAMES.has(name));
  return (isAround ? lists : members).map(([name, value]) => listed(name, value));
}

/** The same for a text that cannot be read as a whole: it reads each item by itself. */
export function listedInSource(source: Source): Listed[] | null {
  const whole = readSource(source);
  if (whole.ok) return listedIn(whole.value);
  const pieces = piecesOf(source);
  if (pieces === null) return null;
  const names = pieces.map(({ name }) => name);
  if (OWN_NAMES.some((name) => names.includes(name))) return [fromSource({ name: null, source })];
  const lists = pieces.filter(
    ({ name, source }) =>
      name !== null && source.text[0] === "[" && (LIST_NAMES.has(name) || holdsRecord(source)),
  );
  const isAround = lists.some(({ name }) => LIST_NAMES.has(name ?? ""));
  const items = isAround ? lists.flatMap((list) => piecesOf(list.source) ?? [list]) : pieces;
  const first = items.slice(0, MAX_ITEMS).map(fromSource);
  return items.length === first.length ? first : [...first, standsFor(items.length - first.length)];
}

const holdsRecord = (list: Source): boolean =>
  piecesOf(list)?.some(({ source }) => source.text[0] === "{") === true;

function listed(name: string | null, value: Json): Listed {
  return { name, read: { ok: true, value }, text: () => JSON.stringify(value, null, 2) };
}

function fromSource({ name, source }: Piece): Listed {
  return { name, read: readSource(source), text: () => sourceText(source) };
}
