export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** One text for one value, whatever the order of its keys was; what the digest is taken of (in the spirit of RFC 8785). */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`);
  return `{${members.join(",")}}`;
}

/** `Array.isArray` that also narrows read-only lists. */
export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return value !== null && typeof value === "object" && !isList(value);
}

/** JSON that reads the same and holds nothing invisible: whatever is not printable ASCII is written as \uXXXX. */
export function plainJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
