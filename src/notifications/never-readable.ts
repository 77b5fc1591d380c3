// What to do without an answer of the store that will never be readable.

import { PortError } from "../ports.ts";

/** For reads. Rejects if the store may answer later. */
export function nullIfNeverReadable(error: unknown): null {
  if (error instanceof PortError && error.retry === "never") return null;
  throw error;
}
