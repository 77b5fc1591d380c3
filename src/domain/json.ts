// JSON values whose numbers stay exactly as they were sent, and one canonical text for each value.

declare global {
  // ECMAScript 2026 ("JSON.parse source text access"). TypeScript's library does not have it yet.
  interface JSON {
    rawJSON(text: string): RawNumber;
    isRawJSON(value: unknown): value is RawNumber;
    parse(
      text: string,
      reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
    ): unknown;
  }
}

/** A number that JavaScript would write differently (`1234567890123456789`, `1e400`, `1.0`). `JSON.stringify` writes it as it was sent. */
export interface RawNumber {
  readonly rawJSON: string;
}

export type Json = null | boolean | number | RawNumber | string | readonly Json[] | JsonRecord;

export type JsonRecord = { readonly [name: string]: Json };

/**
 * Matches if a text may contain a number that JavaScript would write differently: one with a fraction, an exponent or more than fifteen
 * digits, or minus zero. Most texts contain none, and are parsed several times faster. A colon counts only after the quote that ends a name, so
 * the seconds of a time (`"21:19:28.387Z"`) are no number.
 */
const MAYBE_REWRITTEN = /(?:^|[[,\s]|"\s*:)(?:-0|-?\d+[.eE]|-?\d{16})/;

/** Parses a JSON text, and keeps every number as it was written. Throws a SyntaxError if the text is not JSON. */
export function parseJson(text: string): Json {
  return (MAYBE_REWRITTEN.test(text) ? JSON.parse(text, asWritten) : JSON.parse(text)) as Json;
}

function asWritten(_key: string, value: unknown, { source }: { readonly source?: string }): unknown {
  return typeof value === "number" && source !== undefined && String(value) !== source
    ? JSON.rawJSON(source)
    : value;
}

/** Returns the number as it was sent. Returns null if the value is not a number. */
export function numberText(value: Json): string | null {
  if (typeof value === "number") return String(value);
  return isRawNumber(value) ? value.rawJSON : null;
}

export function isRawNumber(value: unknown): value is RawNumber {
  return JSON.isRawJSON(value);
}

/**
 * Returns the one text of a value: without white space, with sorted keys, and with numbers as they were sent. Digests are computed over
 * this text. It is like RFC 8785, which would rewrite numbers.
 */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object" || isRawNumber(value)) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(",")}}`;
}

/** Returns whether `canonicalJson` would write both values alike, without building the texts. */
export function isSameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (isList(a))
    return isList(b) && a.length === b.length && a.every((item, at) => isSameJson(item, b[at] ?? null));
  if (isRecord(a) && isRecord(b)) {
    const names = Object.keys(a);
    return (
      names.length === Object.keys(b).length &&
      names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name] ?? null, b[name] ?? null))
    );
  }
  return isText(a) || isText(b) || isList(b) || isRecord(b) ? false : canonicalJson(a) === canonicalJson(b);
}

const isText = (value: Json): boolean => typeof value === "string";

/** Like `Array.isArray`, but also narrows read-only lists. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function isRecord(value: Json): value is JsonRecord {
  return value !== null && typeof value === "object" && !isList(value) && !isRawNumber(value);
}

/** Returns the name of a field without its case, `_` and `-`, so that `created_at` is the same name as `createdAt`. */
export const plainName = (name: string): string => name.replace(/[_-]/g, "").toLowerCase();

/** Returns equivalent JSON without invisible characters: everything except printable ASCII is written as \uXXXX. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
