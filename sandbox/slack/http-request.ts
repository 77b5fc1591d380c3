// Reads requests.

import type { IncomingMessage } from "node:http";
import { parseJson, readBody } from "../base/read-body.ts";
import { Refused } from "./errors.ts";
import { isJson, type Json } from "./json-object.ts";

export class BodyTooLarge extends Error {}

/** Reads the body. Rejects with `BodyTooLarge`, which the server answers with 413. */
export async function bodyOf(req: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const body = await readBody(req, maxBytes);
  if (body === "too large") throw new BodyTooLarge();
  return body;
}

/** Reads the fields of a JSON object. Rejects with `Refused` for every other body. */
export async function readJson(req: IncomingMessage, maxBytes: number): Promise<Json> {
  const body = await bodyOf(req, maxBytes);
  if (!/^application\/json\s*(;|$)/i.test(req.headers["content-type"] ?? ""))
    throw new Refused("invalid_payload");
  return jsonFields(body.toString("utf8"));
}

/** Reads a form or a JSON object, in the four formats that Slack reads (docs.slack.dev, Web API). Others reject with `Refused`. */
export async function readFields(req: IncomingMessage, maxBytes: number): Promise<Json> {
  const body = await bodyOf(req, maxBytes);
  const type = req.headers["content-type"] ?? "";
  const [kind] = type.split(";");
  switch (kind?.trim().toLowerCase()) {
    case "application/json":
      return jsonFields(body.toString("utf8"));
    case "application/x-www-form-urlencoded":
    case "text/plain":
      return Object.fromEntries(new URLSearchParams(body.toString("utf8")));
    case "multipart/form-data":
      return Object.fromEntries(await formOf(body, type));
    case "":
      if (body.byteLength > 0) throw new Refused("missing_post_type");
      return {};
    default:
      throw new Refused("invalid_post_type");
  }
}

function jsonFields(text: string): Json {
  const value = parseJson(text);
  if (value === undefined) throw new Refused("invalid_json");
  if (!isJson(value)) throw new Refused("json_not_object");
  return value;
}

export async function formOf(body: Buffer, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  } catch {
    throw new Refused("invalid_form_data");
  }
}

// Checks the host and origin of a request. Loopback does not protect: any web page can reach it through its visitor's browser.

const loopback = new Set(["127.0.0.1", "localhost", "[::1]"]);

/**
 * Whether Host is a name of this machine. If another name resolves to it (DNS rebinding), that site could read the answers.
 * `url` is an address whose name is also allowed.
 */
export function isOurs({ headers }: IncomingMessage, url?: string): boolean {
  const host = (headers.host ?? "").replace(/:\d+$/, "");
  return loopback.has(host) || (url !== undefined && host === new URL(url).hostname);
}

/** Whether the request comes from a page of another origin. Browsers send the origin of the page; apps send none. */
export const fromElsewhere = ({ headers: { origin, host } }: IncomingMessage): boolean =>
  origin !== undefined && origin !== `http://${host ?? ""}`;

/** Parses the address. Returns null if it is invalid, such as "//". */
export const addressOf = ({ url = "/" }: IncomingMessage): URL | null =>
  URL.canParse(url, "http://sandbox") ? new URL(url, "http://sandbox") : null;
