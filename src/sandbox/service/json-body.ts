// A request's body as a JSON object, or what is wrong with it and the status that says so.

import type { IncomingHttpHeaders } from "node:http";

export type JsonObject =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly status: 400 | 413 | 415; readonly message: string };

type Sent = { readonly headers: IncomingHttpHeaders; readonly body: Buffer | "too large" };

const refused = (status: 400 | 413 | 415, message: string): JsonObject => ({ ok: false, status, message });

export function jsonObject({ headers, body }: Sent): JsonObject {
  if (body === "too large") return refused(413, "The body is too large.");
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(headers["content-type"] ?? "")) {
    return refused(415, "The body must be application/json in UTF-8.");
  }
  const value = parsed(body);
  if (value === undefined) return refused(400, "The body is not valid JSON.");
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return refused(400, "The body must be a JSON object.");
  }
  return { ok: true, value: value as Record<string, unknown> };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as unknown;
  } catch {
    return undefined;
  }
}
