import type { IncomingMessage } from "node:http";

/** Far above what a person types, far below what would hurt. */
const BODY_BYTES = 1_000_000;

/** Undefined for a body that is too large, broken off or not JSON. */
export async function bodyOf(req: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of req as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
    return JSON.parse(Buffer.concat(chunks).toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
