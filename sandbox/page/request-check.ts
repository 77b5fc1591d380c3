// The page listens on loopback, which alone does not protect it: any web page can send requests here through its visitor's browser.

import type { IncomingMessage, ServerResponse } from "node:http";
import { parseJson, readBody } from "../base/read-body.ts";
import { fromElsewhere, isOurs } from "../slack/http-request.ts";

const HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; " +
    "form-action 'none'; base-uri 'none'; frame-src 'self'; frame-ancestors 'self'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

/** Answers a request from another origin with an error, and returns true. Returns false if the request is allowed. */
export function refused(req: IncomingMessage, res: ServerResponse): boolean {
  for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
  if (!isOurs(req)) return answer(res, 421, "The sandbox does not answer at this address.");
  if (req.method === "GET" || req.method === "HEAD") return false;
  if (req.method !== "POST") return answer(res, 405, "Only GET and POST are allowed.");
  // From another origin, a custom header needs a preflight, which the sandbox never answers.
  if (req.headers["x-sandbox-page"] !== "1")
    return answer(res, 403, "Only the sandbox's own page may do this.");
  if (fromElsewhere(req)) return answer(res, 403, "Requests from another origin are refused.");
  return false;
}

function answer(res: ServerResponse, status: number, text: string): true {
  res.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(text);
  return true;
}

/** The size limit of a body. It is far more than a person types, and harmless. */
const BODY_BYTES = 1_000_000;

/** Resolves to undefined if the body is too large, cut off or not JSON. */
export async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req, BODY_BYTES).catch(() => "too large" as const);
  return body === "too large" ? undefined : parseJson(body.toString("utf8"));
}
