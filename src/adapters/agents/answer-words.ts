// Reads an error answer of the service: what it says, in words for people, and how long we must wait (`Retry-After`).

import { STATUS_CODES } from "node:http";
import { z } from "zod";
import { oneLine } from "../../domain/text/excerpt.ts";
import { readJson } from "./json-body.ts";
import type { Answer } from "./http-client.ts";

/** Most characters of the service's own words in one of our sentences. */
const MAX_WORDS_CHARS = 300;
const MAX_CODE_CHARS = 60;
/** A shorter key is not masked: it could be part of ordinary words. */
const MIN_SECRET_CHARS = 4;
/** We never wait longer (ms): otherwise we would not notice when the service is back. */
const MAX_RETRY_AFTER_MS = 60 * 60_000;

const Text = z.string().catch("");
const nothing = { code: "", message: "" };

/** INTERFACE.md §2, "Error record", and the forms other frameworks give errors in. */
const ErrorBody = z.union([
  z.object({ error: z.object({ code: Text, message: Text }) }).transform(({ error }) => error),
  z.object({ error: z.string() }).transform(({ error }) => ({ code: "", message: error })),
  z.object({ message: z.string() }).transform(({ message }) => ({ code: "", message })),
  z.object({ detail: z.string() }).transform(({ detail }) => ({ code: "", message: detail })),
  z.unknown().transform(() => nothing),
]);

/** "The agent service answered HTTP 409 (invalid_request): Approval 'a' is already resolved." Never contains `secret`. */
export function answerInWords(who: string, answer: Answer, secret = ""): string {
  const { code, message } = errorIn(answer.body);
  const name = clean(code, secret, MAX_CODE_CHARS) || STATUS_CODES[answer.status];
  const redirect = answer.status >= 300 && answer.status < 400 ? ", a redirect, which is not followed" : "";
  const words = clean(message, secret, MAX_WORDS_CHARS);
  const head = `${who} answered HTTP ${answer.status}${name === undefined ? "" : ` (${name})`}${redirect}`;
  return words === "" ? `${head}.` : `${head}: ${words}`;
}

/** The service's text on one line, with invisible characters made visible. */
export function clean(text: string, secret: string, maxChars: number): string {
  const safe = secret.length < MIN_SECRET_CHARS ? text : text.replaceAll(secret, "[key]");
  return oneLine(safe.slice(0, 10 * maxChars), maxChars);
}

function errorIn(body: string): { code: string; message: string } {
  const json = readJson(body);
  if (json.ok) return ErrorBody.parse(json.value);
  return { code: "", message: /^\s*</.test(body) ? "a page of HTML or XML" : body };
}

/** RFC 9110 §10.2.3: seconds or a date. Null: it is neither. */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? "";
  // Date.parse accepts nearly anything; an HTTP date ends in GMT.
  const date = text.endsWith("GMT") ? Date.parse(text) : NaN;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : date - now;
  return Number.isNaN(ms) ? null : Math.ceil(Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS));
}
