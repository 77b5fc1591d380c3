// How the answers to decisions write names and ids.

import { isList, isRecord, type Json, numberText } from "../../domain/json.ts";

export type JsonRecord = { readonly [name: string]: Json };

/** "isApproved", "is_approved" and "is-approved" are the same name. */
export function partsOf(name: string): string[] {
  const spaced = name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return spaced.split(/[^a-z0-9]+/).filter((part) => part !== "");
}

/** Ids may be numbers (`pending-approvals.ts`). Null: no id. */
export function idOf(value: Json | undefined): string | null {
  return typeof value === "string" ? value : numberText(value ?? null);
}

/** The ids under this name, however the name is written. */
export function idsNamed(record: JsonRecord, wanted: string): readonly string[] {
  return Object.entries(record).flatMap(([name, value]) => {
    const id = partsOf(name).join("_") === wanted ? idOf(value) : null;
    return id === null ? [] : [id];
  });
}

export const isNothing = (value: Json): boolean => [null, "", false, 0].some((each) => each === value);

/** "pending_approvals" or "pending", unless that is a plain yes or no. */
export function isListOfPending(parts: readonly string[], value: Json): boolean {
  if (isNothing(value) || !parts.includes("pending")) return false;
  return parts.includes("approvals") || isList(value) || isRecord(value) || typeof value === "string";
}
