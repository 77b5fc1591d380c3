// What the service lists, or answers, so that nobody can tell what is asked. It cannot be decided here, and it is never hidden.

import type { Snapshot, UnreadableItem } from "./snapshot.ts";

/** Of one run, as first seen. */
export type Unreadable = {
  readonly since: number;
  /** `answer`: no answer about the run can be read. `list`: it awaits approval, and the service does not list which. */
  readonly what: "answer" | "list" | "items";
  /** How many approvals are known to be meant. */
  readonly count: number;
  /** The first few of them; one for `answer` and `list`. */
  readonly items: readonly UnreadableItem[];
};

/** So many are told of; each may hold 2,000 characters. */
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

/** It waits for approval, and names none. */
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

/** Changes whenever something else is to be told. What an item holds is told as first seen. */
export function meaning({ what, count, items }: Unreadable): string {
  return JSON.stringify([what, count, items.map(({ ids, why }) => [ids, why])]);
}
