// Slack's signature of a request: HMAC-SHA256 over version, time stamp and raw body (docs.slack.dev, verifying requests).

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** How far Slack's clock and ours may be apart, either way (ms). */
export const WINDOW_MS = 5 * 60_000;

export type Signature = { readonly timestamp: string; readonly hmac: Buffer };
export type Unsigned = "unsigned" | "malformed-signature" | "out-of-time";

const TIMESTAMP = /^\d{10}$/;
const SIGNATURE = /^v0=([0-9a-f]{64})$/;

/** What the headers claim, before a byte of the body is read. A header given twice is no header. */
export function claimedSignature({ headersDistinct }: IncomingMessage, now: number): Signature | Unsigned {
  const signatures = headersDistinct["x-slack-signature"] ?? [];
  const timestamps = headersDistinct["x-slack-request-timestamp"] ?? [];
  if (signatures.length === 0 || timestamps.length === 0) return "unsigned";
  const [[given = ""], [timestamp = ""]] = [signatures, timestamps];
  const hmac = SIGNATURE.exec(given)?.[1];
  if (hmac === undefined || !TIMESTAMP.test(timestamp) || signatures.length + timestamps.length > 2)
    return "malformed-signature";
  if (Math.abs(now - Number(timestamp) * 1_000) > WINDOW_MS) return "out-of-time";
  return { timestamp, hmac: Buffer.from(hmac, "hex") };
}

/** In constant time, over the bytes as they came. */
export function isSigned({ timestamp, hmac }: Signature, body: Buffer, secret: string): boolean {
  const right = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(right, hmac);
}

/** Names the request. Made of the signature, but not the signature. */
export function replayMarkOf({ hmac }: Signature): string {
  return createHash("sha256").update(hmac).digest("hex");
}
