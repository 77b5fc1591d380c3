import { createHash } from "node:crypto";

/** SHA-256 of the UTF-8 text, in hex. */
export function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
