import type { IncomingMessage } from "node:http";
import { parseJson, readBody } from "../base/read-body.ts";

/** Far more than a person types, and harmless. */
const BODY_BYTES = 1_000_000;

/** Undefined for a body that is too large, broken off or not JSON. */
export async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const body = await readBody(req, BODY_BYTES).catch(() => "too large" as const);
  return body === "too large" ? undefined : parseJson(body.toString("utf8"));
}
