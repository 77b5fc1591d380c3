// Turns a failure of the database into words for people and into a PortError.

import { PortError } from "../../ports.ts";

type Fault = { readonly code: string; readonly words: string };

// SQLite's primary result codes (sqlite.org/rescode.html); the extended ones carry them in their low byte.
const SQLITE_FAULTS = new Map<number, Fault>([
  [5, { code: "store_busy", words: "another process is using it" }],
  [8, { code: "store_readonly", words: "it cannot be written to" }],
  [10, { code: "store_io", words: "the disk failed" }],
  [11, { code: "store_damaged", words: "it is damaged" }],
  [13, { code: "store_full", words: "the disk is full" }],
  [14, { code: "store_unopened", words: "it cannot be opened" }],
  [26, { code: "store_foreign", words: "it is not a database" }],
]);

const FILE_FAULTS = new Map<string, Fault>([
  ["EACCES", { code: "store_denied", words: "permission denied" }],
  ["EPERM", { code: "store_denied", words: "permission denied" }],
  ["EROFS", { code: "store_readonly", words: "the file system is read-only" }],
  ["ENOSPC", { code: "store_full", words: "the disk is full" }],
  ["EISDIR", { code: "store_unopened", words: "it is a folder" }],
  ["ENOTDIR", { code: "store_unopened", words: "a part of its path is not a folder" }],
  ["EEXIST", { code: "store_unopened", words: "a part of its path is not a folder" }],
]);

/** `applied` is "maybe" only if the commit itself failed. Errors of this program pass unchanged. */
export function failed(error: unknown, applied: "no" | "maybe"): Error {
  if (error instanceof PortError || error instanceof TypeError) return error;
  const { code, words } = faultOf(error);
  return new PortError(`the database failed: ${words}`, { applied, retry: "later", code, cause: error });
}

/** One line for the person who starts the program. */
export function unusable(where: string, error: unknown, words = faultOf(error).words): Error {
  return new Error(`cannot use the database ${where}: ${words}`, { cause: error });
}

export const isBusy = (error: unknown): boolean => faultOf(error).code === "store_busy";

function faultOf(error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error);
  const known =
    error instanceof Error
      ? (SQLITE_FAULTS.get(primaryCode(error)) ?? FILE_FAULTS.get(fileCode(error)))
      : undefined;
  return known ?? { code: "store_failed", words: message };
}

function primaryCode(error: Error): number {
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
}

function fileCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
