// What one fetch of a run says (a snapshot), when something that it lacks counts as gone, and what it lists in an unreadable form.

import type { Context } from "./context.ts";
import type { ApprovalId, RunId } from "./ids.ts";
import type { Json } from "./json.ts";

/** What the service says about a run at one moment. Everything that it may omit can be null here. */
export type Snapshot = {
  readonly id: RunId;
  /** Any word. See `ending` for the three words that end a run. */
  readonly status: string;
  readonly input: string | null;
  readonly output: string | null;
  readonly completedAt: string | null;
  /** The pending approvals. An empty list if the service says that there are none; null if it does not say. */
  readonly pending: readonly PendingApproval[] | null;
  /** Listed items that cannot be read. An approval that is not in `pending` may be one of them. */
  readonly unreadable: readonly UnreadableItem[];
  /** Listed items whose own word says that they are no longer pending. Absent if there are none. */
  readonly resolved?: readonly ResolvedItem[];
  /** All other fields, as sent. */
  readonly extra: { readonly [field: string]: Json };
  /** When the fetch began (monotonic). The answer says nothing about later events. */
  readonly askedAt: number;
};

export type PendingApproval = {
  readonly id: ApprovalId;
  readonly action: string | null;
  readonly requestedAt: string | null;
  /** Everything that the service sent about the approval, including unknown fields. This is what the approver decides on. */
  readonly content: Json;
};

/** `said`: the service's word for its status, such as "expired". */
export type ResolvedItem = { readonly id: ApprovalId; readonly said: string };

/** An item of the pending approvals that cannot be read. */
export type UnreadableItem = {
  /** Every id that the item may have. Empty if it has no usable id. */
  readonly ids: readonly ApprovalId[];
  /** A stable word for logs. */
  readonly code: string;
  /** A whole clause, such as "it has no id". May quote the service. */
  readonly why: string;
  /** The first part of what was sent. */
  readonly source: string;
  /** The number of characters that follow `source`. */
  readonly hidden: number;
  /** The number of items that this entry stands for. One if absent. */
  readonly count?: number;
};

export type Ending = "succeeded" | "failed" | "canceled";

/** Returns the status if it is terminal (docs/agent-service.md). Any other word means that the run has not ended, so the result is null. */
export function ending(status: string): Ending | null {
  return status === "succeeded" || status === "failed" || status === "canceled" ? status : null;
}

// When an approval, or a whole run, counts as gone. One answer without it proves little, because a replica of the service may lag
// behind, or the service may be restarting. So several fetches over some time must miss it.

/** Consecutive fetches by one process that did not find the approval or run. Another process counts from zero. */
export type Absence = {
  readonly process: string;
  /** When the first of these fetches got its answer (monotonic). */
  readonly since: number;
  /** The number of these fetches, counted only up to the number needed. */
  readonly looks: number;
};

const ENOUGH_LOOKS = 3;
/** The shortest time from the answer to the first fetch to the start of the fetch that settles the absence (ms). */
export const ABSENT_AFTER_MS = 10_000;

/** Counts one more fetch that missed it. Returns the same object if nothing changes. */
export function withMissedFetch(
  before: Absence | "in-doubt" | null,
  { process, monotonic }: Context,
): Absence {
  if (before === null || before === "in-doubt" || before.process !== process)
    return { process, since: monotonic, looks: 1 };
  return before.looks >= ENOUGH_LOOKS ? before : { ...before, looks: before.looks + 1 };
}

/** Returns whether a fetch that began at `askedAt`, and missed it too, settles the absence. */
export function isGone({ since, looks }: Absence, askedAt: number): boolean {
  return looks >= ENOUGH_LOOKS && askedAt >= since + ABSENT_AFTER_MS;
}

/** Returns when the next fetch is useful (monotonic): the second one half-way, and then the one that settles the absence. */
export function nextLookAt({ since, looks }: Absence): number {
  return since + (looks === 1 ? ABSENT_AFTER_MS / 2 : ABSENT_AFTER_MS);
}

/**
 * How long a service that reads from a lagging replica may still list what it listed before a decision (ms). Only after that time do we
 * send a decision again whose answer was lost, or believe that a settled id belongs to another request.
 */
export const DECISION_LINGER_MS = 5_000;

// Approvals that the service lists in an unreadable form. They cannot be decided here, but they are never hidden.

/** The unreadable approvals of one run, as first seen. */
export type Unreadable = {
  readonly since: number;
  /** `answer`: no answer about the run can be read. `list`: the run awaits approval, but the service lists no approval. */
  readonly what: "answer" | "list" | "items";
  /** The number of approvals that are known to be affected. */
  readonly count: number;
  /** The first few items. Exactly one for `answer` and `list`. */
  readonly items: readonly UnreadableItem[];
};

/** The most items that are shown. Each may hold 2,000 characters. */
export const MAX_UNREADABLE_SHOWN = 5;

/** Returns the unreadable items of the snapshot. Returns the same object while the same items are unreadable for the same reasons. */
export function itemsUnreadable(
  before: Unreadable | null,
  snapshot: Snapshot,
  now: number,
): Unreadable | null {
  if (before?.what === "list" && listsNone(snapshot)) return before;
  const { unreadable } = snapshot;
  if (unreadable.length === 0) return null;
  const items = unreadable.slice(0, MAX_UNREADABLE_SHOWN);
  const total = unreadable.reduce((sum, { count = 1 }) => sum + count, 0);
  const next: Unreadable = { since: now, what: "items", count: total, items };
  return before !== null && unreadableMeaning(before) === unreadableMeaning(next) ? before : next;
}

/** Returns whether the run awaits approval although the service lists no approval. */
export function listsNone({ status, pending, unreadable }: Snapshot): boolean {
  return status === "awaiting_approval" && (pending ?? []).length === 0 && unreadable.length === 0;
}

/**
 * Returns why none of the run's approvals can be shown. Returns the same object while the reason is the same. Another reason keeps
 * `since`.
 */
export function allUnreadable(
  before: Unreadable | null,
  what: "answer" | "list",
  { code, why }: { readonly code: string; readonly why: string },
  now: number,
): Unreadable {
  const next: Unreadable = {
    since: before?.what === what ? before.since : now,
    what,
    count: 1,
    items: [{ ids: [], code, why, source: "", hidden: 0 }],
  };
  return before !== null && unreadableMeaning(before) === unreadableMeaning(next) ? before : next;
}

/** Returns a text that changes whenever the message must change. Items are shown as first seen. */
export function unreadableMeaning({ what, count, items }: Unreadable): string {
  return JSON.stringify([what, count, items.map(({ ids, why }) => [ids, why])]);
}
