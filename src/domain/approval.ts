// One approval as we remember it. The moves between its states are the functions of approval-moves.ts, called by decide,
// fold and settle alone; nothing else builds a next state.
//
//   pending ──decide──► decided ──(held, delivery)──► confirmed | elsewhere | unconfirmed
//   (votes)                │ undone while it is held
//      ▲                   │ void (never sent, request changed or gone) or refused (surely not applied) and listed again
//      └──────reopen───────┘
//   pending ──gone, run over, expired──► closed ──listed again──► pending (a new card version)

import type { Absence } from "./absence.ts";
import type { AuditMark } from "./audit/hash-chain.ts";
import type { ApprovalId, Nonce, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import { BUILT_IN, BUILT_IN_RULE, type RuleRef, type AppliedRule } from "./policy/policy.ts";

export type Verdict = "approve" | "deny";

/** Immutable: the one content that may ever leave us for its approval. */
export type Decision = {
  readonly verdict: Verdict;
  /** Byte for byte what the approver typed; empty where none was asked for and none given. */
  readonly reason: string;
  /** Null: the policy itself, as its rule says what happens when nobody decides. */
  readonly by: { readonly team: TeamId; readonly user: UserId } | null;
  readonly at: number;
  /** Of the request as the approver saw it. */
  readonly digest: string;
  /** The earlier approvals of other people that this one rests on, where the rule wants several. */
  readonly votes?: readonly Decision[];
  /** What they typed where the rule wanted a word. */
  readonly word?: string;
  /** The rule that let them decide; left out where there was no policy file. */
  readonly policy?: RuleRef;
  /** The number of its entry in the audit, from the moment on that it is stored. */
  readonly entry?: number;
};

/** The run's own fields as a request stood in them. */
export type RunContext = {
  readonly fields: { readonly [name: string]: Json };
  /** Fields that the digest leaves out because the policy says so; shown as first seen. */
  readonly volatile: readonly string[];
  /** SHA-256 (hex) over the fields without those. */
  readonly digest: string;
  /** Of the fields written out, as Slack counts characters. */
  readonly chars: number;
};

export type Request = {
  readonly action: string | null;
  readonly content: Json;
  /** Fields that the digest leaves out, by name or path; shown none the less. Left out: none. */
  readonly volatile?: readonly string[];
  readonly requestedAt: string | null;
  /** Of the run's own fields, see `run-context.ts`. The run holds them, once for all its approvals. Left out: it has none. */
  readonly context?: string;
  /** Of these written out, as Slack counts characters. */
  readonly contextChars?: number;
  /** On what somebody was shown: those fields as they were then. */
  readonly shownContext?: RunContext | null;
  /** SHA-256 (hex) over run id, approval id, content without what is volatile, and the digest of the context. */
  readonly digest: string;
  /** Of the request written out, as Slack counts characters: decides where it is shown in full. */
  readonly chars: number;
};

/** Both left out: the answer was lost. */
type Answered = {
  /** What a 2xx said that means neither yes nor no, in the service's words (untrusted). */
  readonly answered?: string;
  /** The HTTP status of an error that does not say whether the decision was applied, such as 503. */
  readonly failedWith?: number;
};

export type Delivery =
  /** Committed, and sent at `sendAt` (monotonic) unless it is taken back or denied before. People read `until` (wall time). */
  | { readonly type: "held"; readonly until: number; readonly sendAt: number }
  /** Committed, not one byte sent. */
  | { readonly type: "recorded" }
  /** A POST may be on its way. `lost`: an earlier one had no clear answer. */
  | ({
      readonly type: "sending";
      readonly at: number;
      readonly tries: number;
      readonly lost: boolean;
    } & Answered)
  /** Not applied, or still pending after an unclear answer: the same content goes again, not before `notBefore`
   * (monotonic). */
  | ({
      readonly type: "retry";
      readonly notBefore: number;
      readonly tries: number;
      readonly lost: boolean;
      readonly why: string;
      /** It could be sent, and we will not for now. */
      readonly heldBack?: true;
      /** It was never sent: what must hold before that could not be found out. */
      readonly notSent?: true;
    } & Answered)
  /** No clear answer came, known at `since` (monotonic); the service is asked whether the approval is still pending. */
  | ({
      readonly type: "unsure";
      readonly since: number;
      /** The service asked for no call before this (monotonic). */
      readonly notBefore: number;
      readonly tries: number;
      readonly why: string;
    } & Answered)
  /** `stillListed`: does the service, a minute later, still call it pending? Null until it was asked. Said on the card;
   * never a reason to send again. `at`: monotonic, as the look a minute later is counted from it. */
  | { readonly type: "confirmed"; readonly at: number; readonly stillListed: boolean | null }
  /** Refused with the service's words, surely not applied. `absent`: the service does not list the approval any more.
   * `at`: monotonic; only a look that began after it counts. */
  | { readonly type: "refused"; readonly at: number; readonly words: string; readonly absent: boolean }
  /** Resolved by someone else; ours was not applied. */
  | { readonly type: "elsewhere"; readonly at: number; readonly words: string }
  /** Ours was sent and never confirmed; it is resolved, or must not be sent again. The service does not tell more. */
  | ({
      readonly type: "unconfirmed";
      readonly at: number;
      readonly cause:
        | "no-longer-listed"
        | "request-changed"
        | "run-missing"
        | "refused-after-lost-answer"
        /** Its answer was not clear, and whoever gave it may not give it any more. */
        | "no-longer-authorised"
        | "tampered";
    } & Answered);

/** `unreadable`: the service lists it still, in a form that nobody can read. */
export type ClosedBecause =
  "no-longer-listed" | "unreadable" | "run-over" | "run-missing" | "unwatched" | "expired" | "tampered";

export type ApprovalState =
  | { readonly type: "pending" }
  | { readonly type: "decided"; readonly decision: Decision; readonly delivery: Delivery }
  | { readonly type: "closed"; readonly cause: ClosedBecause; readonly at: number };

/** A decision that did not take effect and gave way; kept, and told on the card. */
export type PastDecision = {
  readonly decision: Decision;
  readonly cause:
    | "request-changed"
    | "no-longer-listed"
    | "unreadable"
    | "run-missing"
    | "refused"
    | "run-over"
    /** An approval before it was sent: taken back, overruled by a denial, too late, or by somebody who may no longer decide. */
    | "undone"
    | "denied"
    | "expired"
    | "voter-may-not"
    /** The rule of now asks for more than was given. */
    | "rule-changed"
    | "unwatched"
    /** The audit does not bear it out. */
    | "tampered";
  readonly words: string;
};

export type Approval = {
  /** Unique in the run: the service's, with a number behind it where the service has used that before. */
  readonly id: ApprovalId;
  /** What the service calls it, and its address. */
  readonly serviceId: ApprovalId;
  readonly request: Request;
  /** When we first saw it pending (ms). */
  readonly seenAt: number;
  /** Of the card. A click on an older version decides nothing. */
  readonly version: number;
  readonly nonce: Nonce;
  /** The first version of the card that shows this request. */
  readonly requestVersion: number;
  /** With that version only the run's own fields changed, which the card does not show. */
  readonly onlyContextChanged?: true;
  readonly state: ApprovalState;
  readonly past: readonly PastDecision[];
  /** The newest look at the service did not list it; «in-doubt»: or as something that cannot be read. Null: it did, or it is settled. */
  readonly unlisted: Absence | "in-doubt" | null;
  /** When this request was first seen pending (wall time): a changed one is another. */
  readonly since: number;
  /** The same moment on the monotonic clock. What expires is counted from here: no step of the clock shortens or lengthens it. */
  readonly waitsSince: number;
  /** Approvals while the rule wants more of them. */
  readonly votes: readonly Decision[];
  /** Who has opened this request in full, where the rule wants that. */
  readonly readers: readonly UserId[];
  /** How many can approve it; null until they were counted. */
  readonly approverCount: ApproverCount | null;
  /** As of the newest look: for showing. Whoever decides is held to the rule of that moment. */
  readonly appliedRule: AppliedRule;
  /** Where the audit tells how it ended: a head that stands on the card, out of reach of whoever has the database. */
  readonly audited?: AuditMark;
};

export type ApproverCount = {
  /** The ruling and card version that were counted for. */
  readonly of: string;
  /** Monotonic. */
  readonly at: number;
  /** As far as was counted: no further than the rule needs. Null: Slack did not say. */
  readonly able: number | null;
  /** Every member of the workspace could join them by opening the channel. */
  readonly grows: boolean;
};

/** Of approvals that nobody has looked at yet, and of those from before there were policies. */
export const BUILT_IN_APPLIED_RULE: AppliedRule = { version: BUILT_IN.version, rule: BUILT_IN_RULE };

/** Nothing more will be sent or awaited for this approval. */
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

/** Nothing more will come of it. */
export function isFinal(delivery: Delivery): boolean {
  return delivery.type === "confirmed" || delivery.type === "elsewhere" || delivery.type === "unconfirmed";
}
