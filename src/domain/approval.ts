// One approval as we remember it. The transitions between its states are in approval-transitions.ts.
//
//   pending ──decide──► decided ──(held, delivery)──► confirmed | elsewhere | unconfirmed
//   (votes)                │ undone while it is held
//      ▲                   │ void (certainly not applied; request changed), or refused and listed again
//      └──────reopen───────┘
//   pending, or decided and void ──gone, unreadable, run over; pending: expired──► closed ──listed again──► pending (a new card version)

import type { AuditPlace } from "./audit/hash-chain.ts";
import { type Delivery, isFinal } from "./delivery-state.ts";
import type { Call, FollowUp } from "./follow-up.ts";
import type { ApprovalId, ChannelId, GroupId, Nonce, UserId, PersonId } from "./ids.ts";
import type { Json } from "./json.ts";
import type { AppliedRule, RuleRef } from "./policy/policy.ts";
import type { PrecedentLookUp } from "./precedent.ts";
import type { Absence } from "./snapshot.ts";

export type Verdict = "approve" | "deny";

/** A recorded decision. It never changes, and it is the only content that may be sent for its approval. */
export type Decision = {
  readonly verdict: Verdict;
  /** What the approver typed, byte for byte. Empty if they gave no reason and none was required. */
  readonly reason: string;
  /** The approver. Null if no person decided: the policy denied the expired request, or the run is stopped. */
  readonly by: PersonId | null;
  readonly at: number;
  /** The digest of the request as the approver saw it. */
  readonly digest: string;
  /** The earlier approvals of other people that this one rests on, if the rule requires several. */
  readonly votes?: readonly Decision[];
  /** The word that the rule required, and that the approver typed in upper or lower case. Absent if none was required. */
  readonly word?: string;
  /** If the rule requires approvals from several parts: the groups and channels of these parts that the approver was in. */
  readonly memberOf?: readonly (GroupId | ChannelId)[];
  /** The rule that let the approver decide. Absent if there was no policy file. */
  readonly policy?: RuleRef;
  /** The person who stopped the run and so denied the request. */
  readonly stoppedBy?: UserId;
  /** The number of the decision's audit entry, once it is stored. */
  readonly entry?: number;
};

/** The run's own fields as they were when a request was made. */
export type RunContext = {
  readonly fields: { readonly [name: string]: Json };
  /** Fields that the policy excludes from the digest. They are shown as first seen. */
  readonly volatile: readonly string[];
  /** SHA-256 (hex) over the fields without the volatile ones. */
  readonly digest: string;
  /** Length of all fields written out, as Slack counts characters. */
  readonly chars: number;
};

export type Request = {
  readonly action: string | null;
  readonly content: Json;
  /** Fields that are shown but excluded from the digest, by name or path. Absent if there are none. */
  readonly volatile?: readonly string[];
  readonly requestedAt: string | null;
  /** The digest of the run's own fields (see run-context.ts), which the run holds once for all its approvals. Absent if it has none. */
  readonly context?: string;
  /** Length of the run's own fields written out, as Slack counts characters. */
  readonly contextChars?: number;
  /** The run's own fields as a person saw them. Only on a request that was shown to someone. */
  readonly shownContext?: RunContext | null;
  /** SHA-256 (hex) over run id, approval id, content without volatile fields, and the digest of the context. */
  readonly digest: string;
  /** Length of the request written out, as Slack counts characters. It determines where the request is shown in full. */
  readonly chars: number;
};

/** One changed field, with both values drawn as text for a channel. Null if the request had, or has, no such field. */
export type FieldChange = { readonly name: string; readonly was: string | null; readonly is: string | null };

/** Why an approval closed without a decision. `unreadable`: the service still lists it, but in a form that cannot be read. */
export const CLOSED_CAUSES = {
  "no-longer-listed": true,
  unreadable: true,
  "run-over": true,
  "run-missing": true,
  unwatched: true,
  expired: true,
  tampered: true,
} as const;
export type ClosedCause = keyof typeof CLOSED_CAUSES;

export type DecidedState = {
  readonly type: "decided";
  readonly decision: Decision;
  readonly delivery: Delivery;
};

export type ApprovalState =
  | { readonly type: "pending" }
  | DecidedState
  | { readonly type: "closed"; readonly cause: ClosedCause; readonly at: number; readonly said?: string };

/** A decision that did not take effect. It is kept, and the card mentions it. */
export type PastDecision = {
  readonly decision: Decision;
  readonly cause:
    | "request-changed"
    | "no-longer-listed"
    | "unreadable"
    | "run-missing"
    | "refused"
    | "run-over"
    /** An approval that was not applied: undone, overruled by a denial, too late, or given by a person who may no longer decide. */
    | "undone"
    | "denied"
    | "expired"
    | "voter-may-not"
    /** The decision does not meet the current rule. */
    | "rule-changed"
    | "unwatched"
    /** The run was stopped, or the channel frozen, before the decision was sent. */
    | "stopped"
    | "frozen"
    /** The store was restored from a copy, and we do not know what happened to the decision after the copy was made. */
    | "restored"
    /** The audit does not confirm the decision. */
    | "tampered";
  readonly words: string;
};

export type Approval = {
  /** Our id, unique in the run: the service's id, with a number appended if the service has used that id before. */
  readonly id: ApprovalId;
  /** The service's id, as used in the approval's URL. */
  readonly serviceId: ApprovalId;
  readonly request: Request;
  /** When we first saw it pending (ms). */
  readonly seenAt: number;
  /** The card's version. A click on an older version does not decide. */
  readonly version: number;
  readonly nonce: Nonce;
  /** The first version of the card that shows this request. */
  readonly requestVersion: number;
  /** That version changed only the run's own fields, which the card does not show. */
  readonly onlyContextChanged?: true;
  /** The fields of the request that changed with that version, for the card. `moreChanges`: how many are left out, absent if none. */
  readonly changes?: readonly FieldChange[];
  readonly moreChanges?: number;
  readonly state: ApprovalState;
  readonly past: readonly PastDecision[];
  /** Set if the newest snapshot did not list the approval. "in-doubt": it may be one of the unreadable items. Null: listed or settled. */
  readonly unlisted: Absence | "in-doubt" | null;
  /** When this request was first seen pending (wall time). A changed request counts as a new one. */
  readonly since: number;
  /** The same moment on the monotonic clock. Expiry counts from here, so setting the wall clock does not affect it. */
  readonly waitsSince: number;
  /** Approvals given so far, while the rule requires more. */
  readonly votes: readonly Decision[];
  /** The people who have opened this request in full. Recorded only if the rule requires it. */
  readonly readers: readonly UserId[];
  /** The number of people who can approve the request. Null until they are counted. */
  readonly approverCount: ApproverCount | null;
  /** Earlier decisions on the same request that everyone in the channel may see. Absent until they are looked up. */
  readonly precedents?: PrecedentLookUp;
  /** The rule at the newest snapshot, for display only. A decision must meet the rule in force when it is given. */
  readonly appliedRule: AppliedRule;
  /** What has happened while the request waited, such as reminders, claims and questions. Absent if nothing has. */
  readonly followUp?: FollowUp;
  /** The messages that call people to the request, oldest first. Absent if none was due. */
  readonly calls?: readonly Call[];
  /** The audit entry of the approval's end. The card shows this head, so a person who has only the database cannot change it. */
  readonly audited?: AuditPlace;
  /** Disputes about its decisions. Absent if there are none. */
  readonly disputes?: readonly Dispute[];
  /** The page of the listing with the approval's line. Absent if no listing has one. `over`: the line is to be removed, and then the approval gets a card. */
  readonly listing?: { readonly page: number; readonly over?: true };
};

/** A person's statement that a decision in their name was not theirs. */
export type Dispute = {
  /** The number of its audit entry. */
  readonly entry: number;
  readonly by: UserId;
  readonly at: number;
  /** The admin who looked into it, and what they found (`words`). */
  readonly closed?: { readonly by: UserId; readonly at: number; readonly words: string };
};

export type ApproverCount = {
  /** The rule and card version that the count is for. */
  readonly of: string;
  /** Monotonic. */
  readonly at: number;
  /** How many people can approve, counted only up to the number that the rule needs. Null if Slack did not say. */
  readonly able: number | null;
  /** The number that the rule needed then. */
  readonly needs?: number;
  /** Whether any full member becomes an approver by being in the channel, so that inviting people helps. */
  readonly grows: boolean;
};

/** Returns whether the approval can still be decided. A held approval counts, because it can still be denied. */
export function isUndecided({ state }: Pick<Approval, "state">): boolean {
  return state.type === "pending" || (state.type === "decided" && state.delivery.type === "held");
}

/** Returns whether nothing more will be sent or awaited for this approval. */
export const isSettled = ({ state }: Approval): boolean =>
  state.type === "closed" || (state.type === "decided" && isFinal(state.delivery));

/** Returns the disputes that no admin has closed. */
export function openDisputes({ disputes = [] }: Approval): readonly Dispute[] {
  return disputes.filter(({ closed }) => closed === undefined);
}
