// Keys: minted, named, and compared without telling by the time it takes how much of one was right.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

/** «canary»: wherever one should turn up, it is seen that it is one. */
export const mintKey = (): string => `local-canary-${randomBytes(24).toString("base64url")}`;

const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

/** What may be shown of a key: always the same, and no part of it. */
export const nameOfKey = (key: string): string => `key-${digest(key).toString("hex").slice(0, 8)}`;

export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

export const sameKey = (shown: string, key: string): boolean => timingSafeEqual(digest(shown), digest(key));

/** Anything else could not stand in a header, or not be told from what stands around it. */
export const canBeKey = (text: string): boolean => /^[\x21-\x7e]{1,512}$/.test(text);
