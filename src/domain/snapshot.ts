import type { ApprovalId, RunId } from "./ids.ts";
import type { Json } from "./json.ts";

/** What the service says of a run at one moment. Everything it may leave out is null here. */
export type Snapshot = {
  readonly id: RunId;
  /** Any word; see `ended` for the three that end a run. */
  readonly status: string;
  readonly input: string | null;
  readonly output: string | null;
  readonly completedAt: string | null;
  /** Null: the service does not tell which approvals are pending. An empty list: it tells that none is. */
  readonly pending: readonly PendingApproval[] | null;
  /** Items of that list that cannot be read. An approval that is not in `pending` may be one of them. */
  readonly unreadable: readonly UnreadableItem[];
  /** All other fields, as sent. */
  readonly extra: { readonly [field: string]: Json };
  /** When we began to ask (monotonic): an answer says nothing about what happened after this. */
  readonly askedAt: number;
};

export type PendingApproval = {
  readonly id: ApprovalId;
  readonly action: string | null;
  readonly requestedAt: string | null;
  /** All that the service sent about it, unknown fields included: what an approver decides on. */
  readonly content: Json;
};

/** An item of the pending approvals that cannot be read. */
export type UnreadableItem = {
  /** Every id that it may bear; none where it has no id that can be used. */
  readonly ids: readonly ApprovalId[];
  /** A stable word for logs. */
  readonly code: string;
  /** As the end of a sentence about «it». May quote the service. */
  readonly why: string;
  /** The first part of what was sent, and how much more there is (characters). */
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
