// Checks the service's ids, and builds the addresses that contain them.

import { MAX_SERVICE_ID_CHARS } from "../../domain/ids.ts";
import { type Json, numberText } from "../../domain/json.ts";

/**
 * Nearly any text can be an id. "." and ".." cannot: most servers read another path from them, however they are encoded. Nor can a
 * text with a lone surrogate, which has no encoding.
 */
export function fitsAddress(id: string): boolean {
  return id.length > 0 && id.length <= MAX_SERVICE_ID_CHARS && id !== "." && id !== ".." && id.isWellFormed();
}

/** The id as text; of a whole number the digits as they were sent. Null: it cannot be part of an address. */
export function serviceId(value: unknown): string | null {
  const digits = numberText(value as Json);
  const id = digits !== null && /^-?\d+$/.test(digits) ? digits : value;
  return typeof id === "string" && fitsAddress(id) ? id : null;
}

export const RUNS_PATH = "/v1/agent/runs";

export function runPath(run: string): string {
  return `${RUNS_PATH}/${encodeURIComponent(run)}`;
}

export function approvalPath(run: string, approval: string): string {
  return `${runPath(run)}/approvals/${encodeURIComponent(approval)}`;
}
