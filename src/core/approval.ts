// One approval as we remember it. The moves between its states are the functions of this file, called by decide, fold and
// settle alone; nothing else builds a next state.
//
//   pending ──decide──► decided ──(delivery)──► confirmed | elsewhere | unconfirmed
//      ▲                   │ void (never sent, request changed or gone) or refused (surely not applied) and listed again
//      └──────reopen───────┘
//   pending ──no longer listed, run over──► closed ──listed again──► pending (a new card version)

import type { AuditMark } from "./audit-chain.ts";
import type { ApprovalId, Nonce, TeamId, UserId } from "./ids.ts";
import type { Json } from "./json.ts";
import { BUILT_IN, BUILT_IN_RULE, type PolicyMark, type Ruling } from "./policy.ts";

export type Verdict = "approve" | "deny";

/** Immutable: the one content that may ever leave us for its approval. */
export type Decision = {
  readonly verdict: Verdict;
  /** Byte for byte what the approver typed; empty where none was asked for and none given. */
  readonly reason: string;
  readonly by: { readonly team: TeamId; readonly user: UserId };
  readonly at: number;
  /** Of the request as the approver saw it. */
  readonly digest: string;
  /** The rule that let them decide; left out where there was no policy file. */
  readonly policy?: PolicyMark;
};

export type Request = {
  readonly action: string | null;
  readonly content: Json;
  readonly requestedAt: string | null;
  /** SHA-256 (hex) over run id, approval id and content. */
  readonly digest: string;
  /** Of the request written out, as Slack counts characters: decides where it is shown in full. */
  readonly chars: number;
};

export type Delivery =
  /** Committed, not one byte sent. */
  | { readonly is: "recorded" }
  /** A POST may be on its way. `lost`: the answer to an earlier one never came. */
  | { readonly is: "sending"; readonly at: number; readonly tries: number; readonly lost: boolean }
  /** Not applied, or known to be still pending after a lost answer: the same content goes again, not before `notBefore`. */
  | {
      readonly is: "retry";
      readonly notBefore: number;
      readonly tries: number;
      readonly lost: boolean;
      readonly why: string;
    }
  /** The answer was lost at `since`; the service is asked whether the approval is still pending. */
  | {
      readonly is: "unsure";
      readonly since: number;
      /** The service asked for no call before this (ms). */
      readonly notBefore: number;
      readonly tries: number;
      readonly why: string;
    }
  /** `stillListed`: does the service, a minute later, still call it pending? Null until it was asked. Said on the card;
   * never a reason to send again. */
  | { readonly is: "confirmed"; readonly at: number; readonly stillListed: boolean | null }
  /** Refused with the service's words, surely not applied. `absent`: the service does not list the approval any more. */
  | { readonly is: "refused"; readonly at: number; readonly words: string; readonly absent: boolean }
  /** Resolved by someone else; ours was not applied. */
  | { readonly is: "elsewhere"; readonly at: number; readonly words: string }
  /** Ours was sent and never confirmed; it is resolved, or must not be sent again. The service does not tell more. */
  | {
      readonly is: "unconfirmed";
      readonly at: number;
      readonly because: "no-longer-listed" | "request-changed" | "run-missing" | "refused-after-lost-answer";
    };

export type ClosedBecause = "no-longer-listed" | "run-over" | "run-missing" | "unwatched";

export type ApprovalState =
  | { readonly is: "pending" }
  | { readonly is: "decided"; readonly decision: Decision; readonly delivery: Delivery }
  | { readonly is: "closed"; readonly because: ClosedBecause; readonly at: number };

/** A decision that did not take effect and gave way; kept, and told on the card. */
export type PastDecision = {
  readonly decision: Decision;
  readonly because: "request-changed" | "no-longer-listed" | "refused" | "run-over";
  readonly words: string;
};

export type Approval = {
  readonly id: ApprovalId;
  readonly request: Request;
  /** When we first saw it pending (ms). */
  readonly seenAt: number;
  /** Of the card. A click on an older version decides nothing. */
  readonly version: number;
  readonly nonce: Nonce;
  readonly state: ApprovalState;
  readonly past: readonly PastDecision[];
  /** As of the newest look: for showing. Whoever decides is held to the rule of that moment. */
  readonly ruling: Ruling;
  /** Where the audit tells how it ended: a head that stands on the card, out of reach of whoever has the database. */
  readonly audited?: AuditMark;
};

/** Of approvals that nobody has looked at yet, and of those from before there were policies. */
export const FIRST_RULING: Ruling = { version: BUILT_IN.version, rule: BUILT_IN_RULE };

export function newApproval(id: ApprovalId, request: Request, nonce: Nonce, now: number): Approval {
  const opened = { version: 1, nonce, state: { is: "pending" }, past: [] } as const;
  return { id, request, seenAt: now, ...opened, ruling: FIRST_RULING };
}

/** Pending again under a new card version, with the request as it now is. */
export function reopen(
  approval: Approval,
  request: Request,
  nonce: Nonce,
  past: PastDecision | null,
): Approval {
  const { audited: _ofItsEarlierEnd, ...rest } = approval;
  return {
    ...rest,
    request,
    version: approval.version + 1,
    nonce,
    state: { is: "pending" },
    past: past === null ? approval.past : [...approval.past, past],
  };
}

export function close(approval: Approval, because: ClosedBecause, now: number): Approval {
  return { ...approval, state: { is: "closed", because, at: now } };
}

/** Closes a decided approval whose decision never left us, and keeps that decision in its history. */
export function voidAndClose(
  approval: Approval,
  decision: Decision,
  because: ClosedBecause,
  now: number,
): Approval {
  const why = because === "run-over" ? "run-over" : "no-longer-listed";
  return close(
    { ...approval, past: [...approval.past, { decision, because: why, words: "" }] },
    because,
    now,
  );
}

export function withDelivery(approval: Approval, decision: Decision, delivery: Delivery): Approval {
  return { ...approval, state: { is: "decided", decision, delivery } };
}

/** Nothing more will be sent or awaited for this approval. */
export function isSettled(approval: Approval): boolean {
  switch (approval.state.is) {
    case "pending":
      return false;
    case "closed":
      return true;
    case "decided":
      return isFinal(approval.state.delivery);
  }
}

/** Nothing more will come of it. */
export function isFinal(delivery: Delivery): boolean {
  return delivery.is === "confirmed" || delivery.is === "elsewhere" || delivery.is === "unconfirmed";
}
