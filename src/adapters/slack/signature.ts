// Slack's request signature: HMAC-SHA256 over version, timestamp and raw body (docs.slack.dev, verifying requests).

import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** How far Slack's clock may be ahead of ours or behind it (ms). */
export const WINDOW_MS = 5 * 60_000;

export type Signature = { readonly timestamp: string; readonly hmac: Buffer };
export type Unsigned = "unsigned" | "malformed-signature" | "out-of-time";

const TIMESTAMP = /^\d{10}$/;
const SIGNATURE = /^v0=([0-9a-f]{64})$/;

/** Reads the signature headers before any byte of the body. A repeated header makes the signature malformed. */
export function claimedSignature({ headersDistinct }: IncomingMessage, now: number): Signature | Unsigned {
  const signatures = headersDistinct["x-slack-signature"] ?? [];
  const timestamps = headersDistinct["x-slack-request-timestamp"] ?? [];
  if (signatures.length === 0 || timestamps.length === 0) return "unsigned";
  const [[signature = ""], [timestamp = ""]] = [signatures, timestamps];
  const hmac = SIGNATURE.exec(signature)?.[1];
  if (hmac === undefined || !TIMESTAMP.test(timestamp) || signatures.length + timestamps.length > 2)
    return "malformed-signature";
  if (Math.abs(now - Number(timestamp) * 1_000) > WINDOW_MS) return "out-of-time";
  return { timestamp, hmac: Buffer.from(hmac, "hex") };
}

/** Compares in constant time, over the raw bytes. */
export function isSigned({ timestamp, hmac }: Signature, body: Buffer, secret: string): boolean {
  const expected = createHmac("sha256", secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(expected, hmac);
}

/** Identifies the request in the replay cache. A hash, so that the cache never holds a signature. */
export function replayMarkOf({ hmac }: Signature): string {
  return createHash("sha256").update(hmac).digest("hex");
}
