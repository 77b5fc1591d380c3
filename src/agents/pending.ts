// The items of `pending_approvals`, whose shape the interface does not show: full records, some fields of them, or bare ids.

import { z } from "zod";
import { ApprovalId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { PendingApproval } from "../core/snapshot.ts";
import { ServiceId } from "./address.ts";

/** What an approval record that is no longer pending calls itself. Any other word is taken for pending. */
const RESOLVED = new Set([
  "approved",
  "denied",
  "rejected",
  "declined",
  "expired",
  "canceled",
  "cancelled",
  "withdrawn",
  "resolved",
  "completed",
]);

const Text = z.string().nullable().catch(null);
const Item = z.object({
  id: ServiceId,
  action: Text,
  status: Text,
  requested_at: Text,
  resolved_at: z.unknown().optional(),
});
const BareId = ServiceId.transform((id) => ({
  id,
  action: null,
  status: null,
  requested_at: null,
  resolved_at: null,
}));
const AnyItem = z.union([Item, BareId]);

/** Null when an item has no readable id: taking it for absent would close an approval that somebody waits for. */
export function readPending(items: readonly Json[]): PendingApproval[] | null {
  const byId = new Map<string, PendingApproval[]>();
  for (const content of items) {
    if (content === null) continue;
    const item = AnyItem.safeParse(content);
    if (!item.success) return null;
    const { id, action, status, requested_at, resolved_at } = item.data;
    if ((resolved_at ?? "") !== "" || RESOLVED.has(status?.toLowerCase() ?? "")) continue;
    const pending = {
      id: ApprovalId(id),
      action: action === "" ? null : action,
      requestedAt: requested_at,
      content,
    };
    const same = byId.get(id);
    if (same === undefined) byId.set(id, [pending]);
    else same.push(pending);
  }
  return [...byId.values()].flatMap(merged);
}

/** One id, one approval: whoever decides it sees every item that bears its id. */
function merged(same: readonly PendingApproval[]): PendingApproval[] {
  const [first, ...others] = same;
  if (first === undefined || others.length === 0) return first === undefined ? [] : [first];
  const actions = new Set(same.flatMap(({ action }) => (action === null ? [] : [action])));
  return [
    {
      ...first,
      action: actions.size === 0 ? null : [...actions].join("\n"),
      content: same.map(({ content }) => content),
    },
  ];
}
