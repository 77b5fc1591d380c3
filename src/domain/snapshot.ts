// What one fetch of a run says: a snapshot. Below: when what it lacks counts as gone, and what it lists in an unreadable form.

import type { Context } from "./context.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import type { Json } from "./json.ts";

/** What the service says about a run at one moment. Everything it may leave out can be null here. */
export type Snapshot = {
  readonly id: RunId;
  /** Any word; see `ended` for the three that end a run. */
  readonly status: string;
  readonly input: string | null;
  readonly output: string | null;
  readonly completedAt: string | null;
  /** Null: the service does not say which approvals are pending. An empty list: it says that none is. */
  readonly pending: readonly PendingApproval[] | null;
  /** Items of the list that cannot be read. An approval that is not in `pending` may be one of them. */
  readonly unreadable: readonly UnreadableItem[];
  /** All other fields, as sent. */
  readonly extra: { readonly [field: string]: Json };
  /** When the fetch began (monotonic). The answer says nothing about later events. */
  readonly askedAt: number;
};

export type PendingApproval = {
  readonly id: ApprovalId;
  readonly action: string | null;
  readonly requestedAt: string | null;
  /** Everything that the service sent about it, unknown fields included. The approver decides on this. */
  readonly content: Json;
};

/** An item of the pending approvals that cannot be read. */
export type UnreadableItem = {
  /** Every id that it may have; empty where it has no usable id. */
  readonly ids: readonly ApprovalId[];
  /** A stable word for logs. */
  readonly code: string;
  /** The end of a sentence that begins with "it". May quote the service. */
  readonly why: string;
  /** The first part of what was sent, and how many characters follow. */
  readonly source: string;
  readonly hidden: number;
  /** How many items it stands for; left out: one. */
  readonly count?: number;
};

export type Ending = "succeeded" | "failed" | "canceled";

/** INTERFACE.md §2: the terminal states. Any other word means that the run still works. */
export function ending(status: string): Ending | null {
  return status === "succeeded" || status === "failed" || status === "canceled" ? status : null;
}

// When an approval, or a whole run, counts as gone. One answer without it proves little: a replica may lag behind, or the service
// may be restarting. So absence needs several fetches over some time.

/** Consecutive fetches by one process that did not find it. Another process counts from zero. */
export type Absence = {
  readonly process: string;
  /** When the first of them got its answer (monotonic). */
  readonly since: number;
  /** How many there were, counted only as far as needed. */
  readonly looks: number;
};

const ENOUGH_LOOKS = 3;
/** From the answer to the first fetch to the start of the one that settles it (ms). */
export const ABSENT_AFTER_MS = 10_000;

/** The absence after one more fetch. The same object when nothing changes. */
export function missedOnceMore(
  before: Absence | "in-doubt" | null,
  { process, monotonic }: Context,
): Absence {
  if (before === null || before === "in-doubt" || before.process !== process)
    return { process, since: monotonic, looks: 1 };
  return before.looks >= ENOUGH_LOOKS ? before : { ...before, looks: before.looks + 1 };
}

/** The absence after a fetch that began at `askedAt` and missed it too. */
export function isGone({ since, looks }: Absence, askedAt: number): boolean {
  return looks >= ENOUGH_LOOKS && askedAt >= since + ABSENT_AFTER_MS;
}

/** When the next fetch is useful (monotonic): one half-way, and one that settles the absence. */
export function nextLookAt({ since, looks }: Absence): number {
  return since + (looks === 1 ? ABSENT_AFTER_MS / 2 : ABSENT_AFTER_MS);
}

// Approvals that the service lists in an unreadable form. They cannot be decided here, and they are never hidden.

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
export const MAX_TOLD = 5;

/** The same object while the same items cannot be read for the same reasons. */
export function itemsUnreadable(
  before: Unreadable | null,
  snapshot: Snapshot,
  now: number,
): Unreadable | null {
  if (before?.what === "list" && listsNone(snapshot)) return before;
  const { unreadable } = snapshot;
  if (unreadable.length === 0) return null;
  const items = unreadable.slice(0, MAX_TOLD);
  const all = unreadable.reduce((sum, { count = 1 }) => sum + count, 0);
  const next: Unreadable = { since: now, what: "items", count: all, items };
  return before !== null && unreadableMeaning(before) === unreadableMeaning(next) ? before : next;
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
  return before !== null && unreadableMeaning(before) === unreadableMeaning(next) ? before : next;
}

/** Changes whenever the message must change. Items are shown as first seen. */
export function unreadableMeaning({ what, count, items }: Unreadable): string {
  return JSON.stringify([what, count, items.map(({ ids, why }) => [ids, why])]);
}
