// The service's ids, and our addresses that are made of them.

import { z } from "zod";
import { MAX_SERVICE_ID_CHARS } from "../core/ids.ts";

/** An id may be any text, but "." and ".." name another path to most servers however encoded, and half a character has
 * no encoding. */
export function fitsAddress(id: string): boolean {
  return id.length > 0 && id.length <= MAX_SERVICE_ID_CHARS && id !== "." && id !== ".." && id.isWellFormed();
}

/** As text. Numbers are taken where JSON carries them exactly. */
export const ServiceId = z.union([z.string().refine(fitsAddress), z.int().transform(String)]);

export const RUNS_PATH = "/v1/agent/runs";

export function runPath(run: string): string {
  return `${RUNS_PATH}/${encodeURIComponent(run)}`;
}

export function approvalPath(run: string, approval: string): string {
  return `${runPath(run)}/approvals/${encodeURIComponent(approval)}`;
}
