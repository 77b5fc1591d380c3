// Reading and answering requests.

import type { IncomingMessage, ServerResponse } from "node:http";

import { isJson } from "./rules-check.ts";
import type { Json } from "./rules-check.ts";

export class BodyTooLarge extends Error {}

export const readBody = async (req: IncomingMessage, maxBytes: number): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new BodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
};

/** Undefined when the text is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

/** The fields of a form or of a JSON object; null when the body is neither. */
export const readFields = async (req: IncomingMessage, maxBytes: number): Promise<Json | null> => {
  const text = (await readBody(req, maxBytes)).toString("utf8");
  if (!(req.headers["content-type"] ?? "").startsWith("application/json"))
    return Object.fromEntries(new URLSearchParams(text));
  const value = parseJson(text);
  return isJson(value) ? value : null;
};

export const sendJson = (
  res: ServerResponse,
  status: number,
  body: Json,
  headers: Record<string, string> = {},
): void => {
  res.writeHead(status, { "content-type": "application/json; charset=utf-8", ...headers });
  res.end(JSON.stringify(body));
};
