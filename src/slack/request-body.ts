// The body of a request from a stranger: so much, so soon, or not at all.

import type { IncomingMessage } from "node:http";

export type BodyFault = "too-large" | "too-slow" | "cut-off" | "too-busy";

/** Slack's largest payloads, a modal of 250 kB in form encoding, stay below it (bytes). */
export const MAX_BODY_BYTES = 1_000_000;
/** Slack sends at once, and wants its answer within 3 s (ms). */
const BODY_MS = 3_000;
/** Of all bodies that are being read at one moment (bytes). */
const MAX_HELD_BYTES = 32_000_000;

export type ReadBody = (request: IncomingMessage) => Promise<Buffer | BodyFault>;

export function createReadBody({ bodyMs = BODY_MS, maxHeld = MAX_HELD_BYTES } = {}): ReadBody {
  let held = 0;
  return (request) => {
    if (Number(request.headers["content-length"] ?? 0) > MAX_BODY_BYTES) return Promise.resolve("too-large");
    const chunks: Buffer[] = [];
    let size = 0;
    const { promise, resolve } = Promise.withResolvers<Buffer | BodyFault>();
    const timer = setTimeout(() => resolve("too-slow"), bodyMs);
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      held += chunk.length;
      chunks.push(chunk);
      if (size > MAX_BODY_BYTES) resolve("too-large");
      else if (held > maxHeld) resolve("too-busy");
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", () => resolve("cut-off"));
    request.once("close", () => resolve("cut-off"));
    return promise.finally(() => {
      clearTimeout(timer);
      request.removeAllListeners("data");
      held -= size;
    });
  };
}
