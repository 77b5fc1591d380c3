// Keys: minted, and compared without telling by the time it takes how much of one was right.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";

export const mintKey = (): string => `local-${randomBytes(24).toString("base64url")}`;

export function bearerOf(headers: IncomingHttpHeaders): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}

export function sameKey(shown: string, key: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(shown), digest(key));
}
