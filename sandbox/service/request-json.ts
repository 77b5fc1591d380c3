// Reads the body of a request as a JSON object, or returns an error with a status.

import type { IncomingHttpHeaders } from "node:http";
import { parseJson } from "../base/read-body.ts";

export type BodyFault = { readonly status: 400 | 413 | 415; readonly message: string };
export type JsonObject =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | ({ readonly ok: false } & BodyFault);

type Sent = { readonly headers: IncomingHttpHeaders; readonly body: Buffer | "too large" };

const refused = (status: BodyFault["status"], message: string): JsonObject => ({
  ok: false,
  status,
  message,
});

export function jsonObject({ headers, body }: Sent): JsonObject {
  if (body === "too large") return refused(413, "The body is too large.");
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers["content-type"] ?? "")) {
    return refused(415, "The body must be JSON in UTF-8: Content-Type: application/json.");
  }
  const encoding = headers["content-encoding"] ?? "identity";
  if (encoding !== "identity") return refused(415, "The body must not be compressed.");
  if (body.length === 0) return refused(400, "The body is empty: a JSON object is required.");
  const text = decoded(body);
  if (text === null) return refused(400, "The body is not valid UTF-8.");
  const value = parseJson(text);
  if (value === undefined) return refused(400, "The body is not valid JSON.");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refused(400, "The body must be a JSON object.");
  }
  const duplicate = duplicateName(text);
  if (duplicate !== null) return refused(400, `'${duplicate}' appears more than once in an object.`);
  return { ok: true, value: value as Record<string, unknown> };
}

function decoded(body: Buffer): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return null;
  }
}

// Finds duplicate names in JSON objects. Parsers differ in which of the values they use, so the meaning is ambiguous.

const mark = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/** Returns the first duplicate name in a valid JSON text, or null if there is none. */
function duplicateName(json: string): string | null {
  /** The names in each open object. Null for an open list. */
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [found] of json.matchAll(mark)) {
    if (found === "{") open.push(new Set());
    else if (found === "[") open.push(null);
    else if (found === "}" || found === "]") open.pop();
    else if (found === ":") {
      const name = JSON.parse(last) as string;
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = found;
  }
  return null;
}
