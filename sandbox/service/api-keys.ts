// Creates keys, derives their names, and compares them in constant time.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** Creates a key. It contains the word "canary", so that a leak is easy to find. */
export const mintKey = (): string => `local-canary-${randomBytes(24).toString("base64url")}`;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** Returns a name that may be shown for a key. It is always the same, and contains no part of the key. */
export const nameOfKey = (key: string): string => `key-${digest(key).toString("hex").slice(0, 8)}`;

export function approvalOfRequest(headers: IncomingHttpHeaders): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

export const sameKey = (presented: string, key: string): boolean =>
  timingSafeEqual(digest(presented), digest(key));

/** Whether the text can be a key. Other characters cannot be sent in a header, or would blend into the text around them. */
export const canBeKey = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text);
