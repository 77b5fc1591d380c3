// What has become of a decision on its way to the service. The transitions are in decision-delivery.ts and apply-snapshot.ts.

import { type FinalOutcome, isFinalOutcome } from "./audit/hash-chain.ts";
import type { OtherOutcome } from "./service-word.ts";

/** An answer that does not say whether the decision was applied. Both fields are absent if the answer was lost. */
type Answered = {
  /** The service's own words (untrusted) in a 2xx answer that says neither yes nor no. */
  readonly answered?: string;
  /** The HTTP status of an error that does not say whether the decision was applied, such as 503. */
  readonly failedWith?: number;
};

/** A last state, reached at `at` (monotonic). `stillListed`: whether the service lists the approval a minute later; null or absent if that is
 * not known. `told`: the deciders got the notice about it. */
type Ended = { readonly at: number; readonly stillListed?: boolean | null; readonly told?: true };

export type Delivery =
  /** Committed, and sent at `sendAt` (monotonic) unless someone undoes or denies it first. `until` is for people (wall time). Pauses make
   * both later (hold.ts). */
  | { readonly type: "held"; readonly until: number; readonly sendAt: number }
  /** Committed. No byte has been sent yet. */
  | { readonly type: "recorded" }
  /** A POST may be in flight. `lost`: an earlier POST got no clear answer. `notSent`: as it was before
   * this try. `otherListed`:
   * since the mark, the service has listed another request under this id. */
  | ({
      readonly type: "sending";
      readonly at: number;
      readonly tries: number;
      readonly lost: boolean;
      readonly notSent?: true;
      readonly otherListed?: true;
    } & Answered)
  /** Not applied, or still listed after an unclear answer. The same content is sent again at `notBefore` (monotonic) or later. */
  | ({
      readonly type: "retry";
      readonly notBefore: number;
      readonly tries: number;
      readonly lost: boolean;
      readonly why: string;
      /** Held back until an admin acknowledges tampering (check-before-sending.ts). */
      readonly heldBack?: true;
      /** No byte was sent in any try, or after a lost answer none in the last one. `why` says what kept it from being sent. */
      readonly notSent?: true;
    } & Answered)
  /** We learned at `since` (monotonic) that no clear answer had arrived. We ask the service whether the approval is still pending. */
  | ({
      readonly type: "unsure";
      readonly since: number;
      /** The service asked us not to call before this time (monotonic). */
      readonly notBefore: number;
      readonly tries: number;
      readonly why: string;
    } & Answered)
  /** The service applied it. */
  | ({ readonly type: "confirmed" } & Ended)
  /** Refused with the service's words, so certainly not applied. `absent`: the service no longer lists the approval. Only a fetch that
   * began after `at` (monotonic) counts. `said`: the service's word for what became of the approval (untrusted). */
  | {
      readonly type: "refused";
      readonly at: number;
      readonly words: string;
      readonly absent: boolean;
      readonly said?: string;
    }
  /** Our decision was not applied: the approval was resolved otherwise, or ended at the service, for example by its expiry. */
  | (OtherOutcome & { readonly type: "elsewhere" } & Ended)
  /** Sent but never confirmed: the approval is resolved, or nothing more may be sent. `said`: the service's word for it (untrusted).
   * `accepted`: the service took it, perhaps for the changed request. */
  | ({
      readonly type: "unconfirmed";
      readonly said?: string;
      readonly cause:
        | "no-longer-listed"
        | "request-changed"
        | "run-missing"
        | "refused-after-lost-answer"
        /** The answer was unclear, and the voters may no longer decide. */
        | "no-longer-authorised"
        /** The answer was unclear, and since then the run was stopped or the channel frozen. */
        | "stopped"
        | "frozen"
        | "tampered";
      readonly accepted?: true;
    } & Ended &
      Answered);

/** Returns whether no POST of it can have been applied: none has left, or the service turned each one away (such as with 401 or 429). */
export const isSurelyUnapplied = (delivery: Delivery): boolean =>
  delivery.type === "held" || delivery.type === "recorded" || (delivery.type === "retry" && !delivery.lost);

/** Returns the unclear answer of a delivery, to carry it over to the next delivery of the same decision. */
export function answeredBefore(delivery: Delivery): Answered {
  const { answered, failedWith }: Answered & Pick<Delivery, "type"> = delivery;
  return {
    ...(answered === undefined ? {} : { answered }),
    ...(failedWith === undefined ? {} : { failedWith }),
  };
}

/** Returns whether the delivery has reached its last state. */
export function isFinal(delivery: Delivery): delivery is Extract<Delivery, { type: FinalOutcome }> {
  return isFinalOutcome(delivery.type);
}

type Facts = {
  /** The decision took effect or still can, as far as we know. */
  readonly inForce: boolean;
  /** Its delivery has begun or is due, and the service has not confirmed it yet. */
  readonly undelivered: boolean;
  /** The outcome of a try can change it. */
  readonly open: boolean;
  /** It is not sent, or not sent again, before the service lists the approval. */
  readonly waitsForListing: boolean;
};

const FACTS = {
  held: { inForce: true, undelivered: false, open: true, waitsForListing: true },
  recorded: { inForce: true, undelivered: true, open: true, waitsForListing: true },
  sending: { inForce: true, undelivered: true, open: true, waitsForListing: false },
  retry: { inForce: true, undelivered: true, open: true, waitsForListing: true },
  unsure: { inForce: true, undelivered: true, open: false, waitsForListing: true },
  confirmed: { inForce: true, undelivered: false, open: false, waitsForListing: false },
  refused: { inForce: false, undelivered: false, open: false, waitsForListing: false },
  elsewhere: { inForce: false, undelivered: false, open: false, waitsForListing: false },
  unconfirmed: { inForce: false, undelivered: false, open: false, waitsForListing: false },
} as const satisfies Record<Delivery["type"], Facts>;

type StateWith<Fact extends keyof Facts> = {
  [State in keyof typeof FACTS]: (typeof FACTS)[State][Fact] extends true ? State : never;
}[keyof typeof FACTS];

export const isInForce = ({ type }: Delivery): boolean => FACTS[type].inForce;
export const isOnItsWay = ({ type }: Delivery): boolean => FACTS[type].undelivered;
export const waitsForListing = ({ type }: Delivery): boolean => FACTS[type].waitsForListing;
export type OpenDelivery = Extract<Delivery, { readonly type: StateWith<"open"> }>;
export const isOpenDelivery = (delivery: Delivery): delivery is OpenDelivery => FACTS[delivery.type].open;

/** Returns whether no answer to a POST is awaited any more, and an earlier one was unclear. The decision may have been applied. */
export function isLost(delivery: Delivery): boolean {
  switch (delivery.type) {
    case "unsure":
      return true;
    case "retry":
      return delivery.lost;
    case "held":
    case "recorded":
    case "sending":
    case "confirmed":
    case "refused":
    case "elsewhere":
    case "unconfirmed":
      return false;
  }
}
