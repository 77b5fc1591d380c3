// Creates keys, names them, and compares them in constant time.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** The word "canary" makes a leaked key easy to find. */
export const mintKey = (): string => `local-canary-${randomBytes(24).toString("base64url")}`;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What may be shown for a key: always the same text, and no part of the key. */
export const nameOfKey = (key: string): string => `key-${digest(key).toString("hex").slice(0, 8)}`;

export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

export const sameKey = (shown: string, key: string): boolean => timingSafeEqual(digest(shown), digest(key));

/** Other characters cannot be sent in a header, or would not be distinguishable from the text around them. */
export const canBeKey = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text);
