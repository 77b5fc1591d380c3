// The service's ids, and our addresses that are made of them.

import { MAX_SERVICE_ID_CHARS } from "../../domain/ids.ts";
import { type Json, numberText } from "../../domain/json.ts";

/** An id may be any text, but "." and ".." name another path to most servers however encoded, and half a character has
 * no encoding. */
export function fitsAddress(id: string): boolean {
  return id.length > 0 && id.length <= MAX_SERVICE_ID_CHARS && id !== "." && id !== ".." && id.isWellFormed();
}

/** As text; of a whole number its digits as they were sent. Null: no id that can stand in an address. */
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
