// Work as data. An effect is something to do in the outside world; an outcome is its result.

import type { DecidedState } from "./approval.ts";
import type { Called } from "./follow-up.ts";
import type { ApprovalId, GroupId, MessageTs, RunId } from "./ids.ts";
import type { UploadedFile } from "./posted-message.ts";
import type { Precedents } from "./precedent.ts";
import type { Run } from "./run.ts";
import type { OtherOutcome } from "./service-word.ts";
import type { Slot } from "./slot.ts";
import type { Snapshot } from "./snapshot.ts";

export type Effect =
  | { readonly type: "create-run" }
  | { readonly type: "post"; readonly slot: Slot }
  /** Look for a post whose answer was lost. */
  | { readonly type: "find"; readonly slot: Slot }
  | { readonly type: "update"; readonly slot: Slot }
  /** Remove extra copies of a message that arrived late. */
  | { readonly type: "sweep"; readonly slot: Slot }
  | { readonly type: "upload"; readonly slot: Slot }
  | { readonly type: "share"; readonly slot: Slot }
  | { readonly type: "find-file"; readonly slot: Slot }
  | { readonly type: "send-decision"; readonly approval: ApprovalId }
  | { readonly type: "send-notice"; readonly notice: string }
  /** Count the people who can approve the request. */
  | { readonly type: "count-approvers"; readonly approval: ApprovalId }
  /** Look up the earlier decisions on the same request. */
  | { readonly type: "look-up-precedents"; readonly approval: ApprovalId }
  /** Ask Slack which groups the requester is in, because a rule depends on it. */
  | { readonly type: "look-up-requester" }
  /** Find the people whom the call with this number mentions. */
  | { readonly type: "find-people"; readonly approval: ApprovalId; readonly call: number };

/** Returns the key of the effect. The same work has the same key, and is never in progress twice. */
export function effectKey(effect: Effect): string {
  switch (effect.type) {
    case "create-run":
    case "look-up-requester":
      return effect.type;
    case "send-decision":
    case "count-approvers":
    case "look-up-precedents":
      return `${effect.type} ${effect.approval}`;
    case "find-people":
      return `${effect.type} ${effect.call} ${effect.approval}`;
    case "send-notice":
      return `${effect.type} ${effect.notice}`;
    case "post":
    case "find":
    case "update":
    case "sweep":
    case "upload":
    case "share":
    case "find-file":
      return `${effect.type} ${effect.slot}`;
  }
}

type EffectOf<Type extends Effect["type"]> = Extract<Effect, { readonly type: Type }>;

/**
 * For each kind, the effects that the run marks as under way. Null if the kind needs no mark, because repeating the effect is harmless.
 * After a crash, only the effects listed here are settled.
 */
const MARKED: { readonly [Type in Effect["type"]]: ((run: Run) => readonly EffectOf<Type>[]) | null } = {
  "create-run": ({ creation }) => (creation.type === "sending" ? [{ type: "create-run" }] : []),
  post: ({ posts }) => slotsIn("sending", posts).map((slot) => ({ type: "post", slot })),
  find: null,
  // An update does have a mark, the empty render key. `lookAgain` in apply-outcome.ts settles it.
  update: null,
  sweep: null,
  upload: null,
  share: ({ uploads }) => slotsIn("sharing", uploads).map((slot) => ({ type: "share", slot })),
  "find-file": null,
  "send-decision": ({ approvals }) =>
    approvals
      .filter(({ state }) => state.type === "decided" && state.delivery.type === "sending")
      .map(({ id }) => ({ type: "send-decision", approval: id })),
  "send-notice": ({ notices }) =>
    notices.filter(({ state }) => state === "sending").map(({ id }) => ({ type: "send-notice", notice: id })),
  "count-approvers": null,
  "look-up-precedents": null,
  "look-up-requester": null,
  "find-people": null,
};

function slotsIn(type: string, messages: { readonly [slot: Slot]: { readonly type: string } }): Slot[] {
  return Object.entries(messages).flatMap(([slot, message]) => (message.type === type ? [slot] : []));
}

/** Returns the effects that the run marks as under way: their outcome is not recorded yet. */
export function markedEffects(run: Run): Effect[] {
  return Object.values(MARKED).flatMap((list): readonly Effect[] => list?.(run) ?? []);
}

/** Returns whether the run marks this effect as under way. */
export const isMarked = (run: Run, effect: Effect): boolean =>
  markedEffects(run).some((marked) => effectKey(marked) === effectKey(effect));

export type Outcome =
  | { readonly type: "created"; readonly snapshot: Snapshot }
  /** The service created the run under the id of a run that we already follow. */
  | { readonly type: "taken"; readonly id: RunId }
  | { readonly type: "posted"; readonly ts: MessageTs; readonly shows: string }
  /** All copies of the message, the oldest first. */
  | { readonly type: "found"; readonly copies: readonly MessageTs[] }
  | { readonly type: "updated"; readonly shows: string }
  /** What the effect is about no longer exists: the message, the file, the approval or the call. */
  | { readonly type: "gone" }
  | { readonly type: "swept" }
  | (UploadedFile & { readonly type: "uploaded" })
  | { readonly type: "shared" }
  | { readonly type: "file-found"; readonly there: boolean }
  | { readonly type: "confirmed" }
  | (OtherOutcome & { readonly type: "elsewhere" })
  /** A notice was delivered. */
  | { readonly type: "told" }
  /** `of`: what the count is for (`countKeyOf`). */
  | { readonly type: "counted"; readonly of: string; readonly able: number | null; readonly grows: boolean }
  | (Precedents & { readonly type: "precedents"; readonly of: string })
  | ({ readonly type: "people-found" } & Called)
  /** Slack's answer about each group. A group that is missing is unknown. */
  | { readonly type: "groups-known"; readonly in: { readonly [group: GroupId]: boolean } }
  /** Surely not applied, and may be tried again. `heldBack`: held back until an admin acknowledges tampering. */
  | (WithCode & {
      readonly type: "later";
      readonly afterMs: number | null;
      readonly why: string;
      readonly heldBack?: true;
      /** Only for a decision: no byte of it was sent in this try. An earlier try may have sent it. */
      readonly notSent?: true;
      /** Set if the decision was marked before. Another process may have settled that mark since; then the outcome says nothing. */
      readonly mark?: DecidedState;
    })
  /** A decision that the audit does not confirm: it must not be sent at all. */
  | { readonly type: "unproven"; readonly why: string }
  /** Surely not applied, and the same call would be refused again. */
  | (WithCode & { readonly type: "refused"; readonly words: string })
  /** It may have been applied: the answer was lost, or says neither yes nor no (`answered`). */
  | (WithCode & {
      readonly type: "unsure";
      readonly why: string;
      /** How long the service asks us not to call. Only for a decision (`unclear` in decision-delivery.ts). */
      readonly afterMs?: number | null;
      /** The service's own words. Untrusted text, for people only. */
      readonly answered?: string;
      /** The HTTP status, if it is an error. */
      readonly failedWith?: number;
    });

/** A stable word for the log. The other texts are for people only, because the service's words may repeat a request. */
type WithCode = { readonly code?: string };

// When an effect that failed is tried again.

/** Returns the wait before the next attempt: 1, 2, 4 … 60 s, or `Retry-After` if that is longer. */
export function backoffMs(tries: number, retryAfterMs: number | null): number {
  return Math.max(Math.min(1_000 * 2 ** Math.max(tries - 1, 0), 60_000), retryAfterMs ?? 0);
}

/** Returns how long Slack asks us to wait before the same call, or null. After an unclear answer it asks for nothing. */
export const retryAfterOf = (outcome: Outcome): number | null =>
  outcome.type === "later" ? outcome.afterMs : null;
