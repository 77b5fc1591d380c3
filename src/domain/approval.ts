// One approval as we remember it. approval-transitions.ts holds the transitions between its states.
//
//   pending ──decide──► decided ──(held, delivery)──► confirmed | elsewhere | unconfirmed
//   (votes)                │ undone while it is held
//      ▲                   │ void (never sent, request changed or gone) or refused (surely not applied) and listed again
//      └──────reopen───────┘
//   pending ──gone, run over, expired──► closed ──listed again──► pending (a new card version)

import type { AuditMark } from "./audit/hash-chain.ts";
import type { Call, FollowUp } from "./follow-up.ts";
import type { ApprovalId, ChannelId, GroupId, Nonce, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import { type AppliedRule, BUILT_IN, BUILT_IN_RULE, keptRule, type RuleRef } from "./policy/policy.ts";
import type { PrecedentLookUp } from "./precedent.ts";
import type { Absence } from "./snapshot.ts";

export type Verdict = "approve" | "deny";

/** Immutable: the only content that may leave Countersign for its approval. */
export type Decision = {
  readonly verdict: Verdict;
  /** Byte for byte what the approver typed; empty where no reason was required and none given. */
  readonly reason: string;
  /** Null: no person decided it. It expired and the policy denied it, or its run is stopped. */
  readonly by: { readonly team: TeamId; readonly user: UserId } | null;
  readonly at: number;
  /** Of the request as the approver saw it. */
  readonly digest: string;
  /** The earlier approvals of other people that this one rests on, where the rule wants several. */
  readonly votes?: readonly Decision[];
  /** What they typed where the rule wanted a word. */
  readonly word?: string;
  /** Where the rule wants approvals from several parts: the groups and channels of these parts that they were in. */
  readonly memberOf?: readonly (GroupId | ChannelId)[];
  /** The rule that let them decide; left out where there was no policy file. */
  readonly policy?: RuleRef;
  /** It is denied because this person stopped the run. */
  readonly stoppedBy?: UserId;
  /** The number of its entry in the audit, once it is stored. */
  readonly entry?: number;
};

/** The run's own fields at the time of a request. */
export type RunContext = {
  readonly fields: { readonly [name: string]: Json };
  /** Fields that the digest leaves out because the policy says so; shown as first seen. */
  readonly volatile: readonly string[];
  /** SHA-256 (hex) over the fields without the volatile ones. */
  readonly digest: string;
  /** Length of the fields written out, as Slack counts characters. */
  readonly chars: number;
};

export type Request = {
  readonly action: string | null;
  readonly content: Json;
  /** Fields that the digest leaves out, by name or path; they are shown all the same. Left out: there are none. */
  readonly volatile?: readonly string[];
  readonly requestedAt: string | null;
  /** The digest of the run's own fields, see `run-context.ts`. The run holds them once for all its approvals. Left out: it has none. */
  readonly context?: string;
  /** Length of the run's fields written out, as Slack counts characters. */
  readonly contextChars?: number;
  /** Only on a request that someone was shown: those fields as they were then. */
  readonly shownContext?: RunContext | null;
  /** SHA-256 (hex) over run id, approval id, content without volatile fields, and the digest of the context. */
  readonly digest: string;
  /** Length of the request written out, as Slack counts characters. It decides where the request is shown in full. */
  readonly chars: number;
};

/** Texts drawn for a channel. Null: the request had, or has, no such field. */
export type FieldChange = { readonly name: string; readonly was: string | null; readonly is: string | null };

/** Both left out: the answer was lost. */
type Answered = {
  /** What a 2xx said that means neither yes nor no, in the service's words (untrusted). */
  readonly answered?: string;
  /** The HTTP status of an error that does not say whether the decision was applied, such as 503. */
  readonly failedWith?: number;
};

export type Delivery =
  /** Committed, and sent at `sendAt` (monotonic) unless someone undoes or denies it before. `until` is for people (wall time). */
  | { readonly type: "held"; readonly until: number; readonly sendAt: number }
  /** Committed; no byte is sent yet. */
  | { readonly type: "recorded" }
  /** A POST may be in flight. `lost`: an earlier one had no clear answer. */
  | ({
      readonly type: "sending";
      readonly at: number;
      readonly tries: number;
      readonly lost: boolean;
    } & Answered)
  /** Not applied, or still pending after an unclear answer. The same content is sent again, not before `notBefore`
   * (monotonic). */
  | ({
      readonly type: "retry";
      readonly notBefore: number;
      readonly tries: number;
      readonly lost: boolean;
      readonly why: string;
      /** It could be sent, but we hold it back for now. */
      readonly heldBack?: true;
      /** It was never sent: what must hold before that could not be found out. */
      readonly notSent?: true;
    } & Answered)
  /** No clear answer arrived, known at `since` (monotonic). We ask the service whether the approval is still pending. */
  | ({
      readonly type: "unsure";
      readonly since: number;
      /** The service asked us not to call before this (monotonic). */
      readonly notBefore: number;
      readonly tries: number;
      readonly why: string;
    } & Answered)
  /** `stillListed`: does the service still list it as pending a minute later? Null until we know. The card says so;
   * it is never a reason to send again. `at`: monotonic, because the fetch a minute later is counted from it. */
  | { readonly type: "confirmed"; readonly at: number; readonly stillListed: boolean | null }
  /** Refused with the service's words, surely not applied. `absent`: the service no longer lists the approval.
   * `at`: monotonic; only a fetch that began after it counts. */
  | { readonly type: "refused"; readonly at: number; readonly words: string; readonly absent: boolean }
  /** Someone else resolved it; our decision was not applied. */
  | { readonly type: "elsewhere"; readonly at: number; readonly words: string }
  /** Our decision was sent and never confirmed. The approval is resolved, or the decision must not be sent again. */
  | ({
      readonly type: "unconfirmed";
      readonly at: number;
      readonly cause:
        | "no-longer-listed"
        | "request-changed"
        | "run-missing"
        | "refused-after-lost-answer"
        /** Its answer was not clear, and its voters may no longer decide. */
        | "no-longer-authorised"
        /** Its answer was not clear, and the run was stopped or the channel frozen since. */
        | "stopped"
        | "frozen"
        | "tampered";
    } & Answered);

/** `unreadable`: the service still lists it, in a form that cannot be read. */
export type ClosedCause =
  | "no-longer-listed"
  | "unreadable"
  | "run-over"
  | "run-missing"
  | "unwatched"
  | "expired"
  | "tampered";

export type ApprovalState =
  | { readonly type: "pending" }
  | { readonly type: "decided"; readonly decision: Decision; readonly delivery: Delivery }
  | { readonly type: "closed"; readonly cause: ClosedCause; readonly at: number };

/** A decision that did not take effect and gave way. It is kept, and the card mentions it. */
export type PastDecision = {
  readonly decision: Decision;
  readonly cause:
    | "request-changed"
    | "no-longer-listed"
    | "unreadable"
    | "run-missing"
    | "refused"
    | "run-over"
    /** An approval that was not sent: undone, overruled by a denial, too late, or by a person who may no longer decide. */
    | "undone"
    | "denied"
    | "expired"
    | "voter-may-not"
    /** The current rule asks for more than was given. */
    | "rule-changed"
    | "unwatched"
    /** The run was stopped, or the channel frozen, before it was sent. */
    | "stopped"
    | "frozen"
    /** It was in the copy that was restored, and what became of it since is not known. */
    | "restored"
    /** The audit does not confirm it. */
    | "tampered";
  readonly words: string;
};

export type Approval = {
  /** Unique in the run: the service's id, with a number appended where the service has used it before. */
  readonly id: ApprovalId;
  /** The service's id, which its address is made of. */
  readonly serviceId: ApprovalId;
  readonly request: Request;
  /** When we first saw it pending (ms). */
  readonly seenAt: number;
  /** The card's version. A click on an older version decides nothing. */
  readonly version: number;
  readonly nonce: Nonce;
  /** The first version of the card that shows this request. */
  readonly requestVersion: number;
  /** With that version only the run's own fields changed, which the card does not show. */
  readonly onlyContextChanged?: true;
  /** What that version changed in the request, for the card. */
  readonly changes?: readonly FieldChange[];
  readonly state: ApprovalState;
  readonly past: readonly PastDecision[];
  /** The newest snapshot did not list it; "in-doubt": it may be an item that cannot be read. Null: it is listed, or settled. */
  readonly unlisted: Absence | "in-doubt" | null;
  /** When this request was first seen pending (wall time). A changed request is another one. */
  readonly since: number;
  /** The same moment on the monotonic clock. Expiry counts from here, so setting the clock does not change it. */
  readonly waitsSince: number;
  /** Approvals given while the rule asks for more of them. */
  readonly votes: readonly Decision[];
  /** Who has opened this request in full, where the rule requires it. */
  readonly readers: readonly UserId[];
  /** How many people can approve it; null until they are counted. */
  readonly approverCount: ApproverCount | null;
  /** Earlier decisions on the same request that everyone in the channel may know of. Left out: not looked up yet. */
  readonly precedents?: PrecedentLookUp;
  /** The rule of the newest snapshot, for display. A decision must meet the rule of its own moment. */
  readonly appliedRule: AppliedRule;
  /** Left out: nothing was done yet while it waits. */
  readonly followUp?: FollowUp;
  /** The messages that call people to it, oldest first. Left out: none was due. */
  readonly calls?: readonly Call[];
  /** The audit entry of its end: a head on the card, out of reach of someone who has only the database. */
  readonly audited?: AuditMark;
  /** Left out: none of its decisions was disputed. */
  readonly disputes?: readonly Dispute[];
  /** Left out: no digest has listed it. `over`: its line leaves, and then it gets a card. */
  readonly listing?: { readonly page: number; readonly over?: true };
};

/** Someone says that a decision in their name was not theirs. */
export type Dispute = {
  /** The number of its audit entry. */
  readonly entry: number;
  readonly by: UserId;
  readonly at: number;
  /** An admin has looked into it; `words`: what they found. */
  readonly closed?: { readonly by: UserId; readonly at: number; readonly words: string };
};

export type ApproverCount = {
  /** The rule and card version that the count is for. */
  readonly of: string;
  /** Monotonic. */
  readonly at: number;
  /** Counted no further than the rule needs. Null: Slack did not say. */
  readonly able: number | null;
  /** Every member of the workspace can become one by joining the channel. */
  readonly grows: boolean;
};

/** The rule of approvals to which no policy has been applied yet. */
export const BUILT_IN_APPLIED_RULE: AppliedRule = {
  version: BUILT_IN.version,
  rule: keptRule(BUILT_IN_RULE),
};

/** It is pending, or held: a held approval can still be denied. */
export function isUndecided({ state }: Pick<Approval, "state">): boolean {
  return state.type === "pending" || (state.type === "decided" && state.delivery.type === "held");
}

/** Nothing more is sent or awaited for this approval. */
export function isSettled(approval: Approval): boolean {
  switch (approval.state.type) {
    case "pending":
      return false;
    case "closed":
      return true;
    case "decided":
      return isFinal(approval.state.delivery);
  }
}

/** For the next delivery of the same decision. */
export function answeredBefore(delivery: Delivery): Answered {
  return {
    ...("answered" in delivery && delivery.answered !== undefined ? { answered: delivery.answered } : {}),
    ...("failedWith" in delivery && delivery.failedWith !== undefined
      ? { failedWith: delivery.failedWith }
      : {}),
  };
}

/** The delivery cannot change any more. */
export function isFinal(delivery: Delivery): boolean {
  return delivery.type === "confirmed" || delivery.type === "elsewhere" || delivery.type === "unconfirmed";
}
