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
