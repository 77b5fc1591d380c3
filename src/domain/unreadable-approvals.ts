// Approvals that the service lists in an unreadable form. They cannot be decided here, and they are never hidden.

import type { Snapshot, UnreadableItem } from "./snapshot.ts";

/** The unreadable approvals of one run, as first seen. */
export type Unreadable = {
  readonly since: number;
  /** `answer`: no answer about the run can be read. `list`: the run awaits approval, but the service does not list which. */
  readonly what: "answer" | "list" | "items";
  /** How many approvals are known to be affected. */
  readonly count: number;
  /** The first few items; one for `answer` and `list`. */
  readonly items: readonly UnreadableItem[];
};

/** How many items are shown; each may hold 2,000 characters. */
export const MOST_TOLD = 5;

/** The same object while the same items cannot be read for the same reasons. */
export function itemsUnreadable(
  before: Unreadable | null,
  snapshot: Snapshot,
  now: number,
): Unreadable | null {
  if (before?.what === "list" && listsNone(snapshot)) return before;
  const { unreadable } = snapshot;
  if (unreadable.length === 0) return null;
  const items = unreadable.slice(0, MOST_TOLD);
  const all = unreadable.reduce((sum, { count = 1 }) => sum + count, 0);
  const next: Unreadable = { since: now, what: "items", count: all, items };
  return before !== null && meaning(before) === meaning(next) ? before : next;
}

/** The run awaits approval, but names no approval. */
export function listsNone({ status, pending, unreadable }: Snapshot): boolean {
  return status === "awaiting_approval" && (pending ?? []).length === 0 && unreadable.length === 0;
}

/** Why nothing of the run's approvals can be shown. */
export function allUnreadable(
  before: Unreadable | null,
  what: "answer" | "list",
  { code, why }: { readonly code: string; readonly why: string },
  now: number,
): Unreadable {
  const next: Unreadable = {
    since: now,
    what,
    count: 1,
    items: [{ ids: [], code, why, source: "", hidden: 0 }],
  };
  return before !== null && meaning(before) === meaning(next) ? before : next;
}

/** Changes whenever the message must change. Items are shown as first seen. */
export function meaning({ what, count, items }: Unreadable): string {
  return JSON.stringify([what, count, items.map(({ ids, why }) => [ids, why])]);
}
