// Finds out whether an answer to a decision describes another request than the decided one. The request may change between our last GET and
// the POST, and the service has no way to compare the two.

import type { Json } from "../../domain/json.ts";
import { isRecord, type JsonRecord } from "../../domain/json.ts";
import { recordIn } from "../../domain/listed-item.ts";
import { withoutFields } from "../../domain/policy/policy.ts";
import type { wordsFor } from "./decision-words.ts";
import { timeOf } from "./pending-approvals.ts";

/** The formats of two answers may differ: one may leave out the fraction of the second, or round it (ms). */
const SAME_TIME_MS = 1_000;

/** What the service had listed, and its fields that may change without notice. */
type Asked = { readonly asked: Json; readonly volatile?: readonly string[] };

/** Fields that are absent or empty say nothing. */
export function isAnotherRequest(
  { action = null, requested_at = null }: JsonRecord,
  { asked, volatile = [] }: Asked,
  { yes }: Pick<ReturnType<typeof wordsFor>, "yes">,
): boolean {
  const { action: askedAction = null } = isRecord(asked) ? recordIn(asked) : {};
  // Some services name our decision in "action".
  const isOurs = isText(action) && yes.has(action.trim().toLowerCase());
  if (isText(action) && isText(askedAction) && action !== askedAction && !isOurs) return true;
  const lasting = withoutFields(asked, volatile);
  const askedAt = isRecord(lasting) ? (recordIn(lasting)["requested_at"] ?? null) : null;
  return Math.abs(momentOf(requested_at) - momentOf(askedAt)) >= SAME_TIME_MS;
}

const isText = (value: Json): value is string => typeof value === "string" && value !== "";

/** Returns NaN for an unset time, and for a text without its time zone, which may differ between answers. */
function momentOf(value: Json): number {
  const time = typeof value !== "string" || /(?:Z|[+-]\d\d:?\d\d)$/i.test(value) ? timeOf(value) : NaN;
  return time > 0 ? time : NaN;
}
