// Where an item of `pending_approvals` has its id and its action. The item is read when the service sends it, and again from the audit. Both
// must name the same action.

import { isList, isRecord, type Json, type JsonRecord } from "./json.ts";

/** The first of these fields that holds an id counts. */
export const ID_NAMES = ["id", "approval_id", "approvalId"];
/** Names under which an item holds its record. */
export const RECORD_NAMES = ["approval", "request", "item", "data"];

/** Returns the record of an approval inside another record, or the value itself. */
export function recordIn(value: JsonRecord): JsonRecord {
  if (idIn(value) !== null) return value;
  const inner = RECORD_NAMES.map((name) => value[name]).find((each) => each !== undefined && isRecord(each));
  return inner !== undefined && isRecord(inner) ? inner : value;
}

export function idIn(record: JsonRecord): Json {
  return ID_NAMES.map((name) => record[name] ?? null).find((id) => id !== null) ?? null;
}

/**
 * Returns the action of an approval with this id of the service. `content` is a list if several items have the id. A record without an id may
 * be the id and its action alone.
 */
export function actionIn(content: Json, id: string): string | null {
  if (isList(content)) {
    const actions = new Set(content.flatMap((each) => actionIn(each, id) ?? []));
    return actions.size === 0 ? null : [...actions].join("\n");
  }
  if (!isRecord(content)) return null;
  const record = recordIn(content);
  const isBare = idIn(record) === null && Object.hasOwn(content, id) && Object.keys(content).length === 1;
  const action = isBare ? content[id] : record["action"];
  return typeof action === "string" && action !== "" ? action : null;
}
