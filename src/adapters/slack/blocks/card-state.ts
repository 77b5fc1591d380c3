// The title and the sentence that a card shows for the state of its approval. Only "confirmed" relies on the service's word. The texts
// of all earlier states say only what Countersign itself knows.

import type { Approval, ClosedCause, Decision } from "../../../domain/approval.ts";
import { answeredBefore, type Delivery, isLost, waitsForListing } from "../../../domain/delivery-state.ts";
import { shownWaitingReason, type WaitingReason } from "../../../domain/decision-gate.ts";
import { type HoldEnd, holdEnd } from "../../../domain/hold.ts";
import { contextBehind } from "../../../domain/run-context.ts";
import { isBraked, type Run } from "../../../domain/run.ts";
import { endWithoutDecision } from "../../../domain/service-word.ts";
import { requestSlot } from "../../../domain/slot.ts";
import { fieldsBeyondForm } from "../../../domain/text/request-layout.ts";
import { needsFile } from "../../../domain/text/request-text.ts";
import { CLOSED_TITLES, closedWords, deliveryWords } from "./delivery-words.ts";
import { count } from "./rich.ts";

/** The state's name in the card's markup. Tests wait for this name, so titles and sentences are free to change. */
export type CardStateName =
  | "pending"
  | "held"
  | "sending"
  | "retrying"
  | "held-back"
  | "waiting"
  | "checking"
  | "approved"
  | "denied"
  | "refused"
  | "elsewhere"
  | "unconfirmed"
  | "closed"
  | "tampered";

export type CardCause = ClosedCause | Extract<Delivery, { type: "unconfirmed" }>["cause"] | WaitingReason;

export type CardState = {
  readonly name: CardStateName;
  readonly title: string;
  /** Whether the approval is neither decided nor closed. */
  readonly waits: boolean;
  /** Whether the card has Approve and Deny. */
  readonly open: boolean;
  /** Set if the card is open but only a denial is possible. */
  readonly onlyDeny?: true;
  readonly decision: Decision | null;
  /** Why the approval is closed or unconfirmed, or why its decision waits for the service. */
  readonly cause: CardCause | null;
  /** The end of the hold, until which the decision can be undone. Null if it is not on hold. */
  readonly held: HoldEnd | null;
  /** The service's answer to the decision, if it was neither a yes nor a no. Untrusted text. */
  readonly answered: string | null;
  /** What the title leaves out. Empty if there is nothing to add. */
  readonly text: string;
};

const UNDECIDED = { decision: null, cause: null, held: null, answered: null };

export function cardState(run: Run, approval: Approval): CardState {
  const { state } = approval;
  switch (state.type) {
    case "pending":
      return pendingState(run, approval);
    case "closed":
      return {
        ...UNDECIDED,
        name: state.cause === "tampered" ? "tampered" : "closed",
        title: state.said === undefined ? CLOSED_TITLES[state.cause] : "⚪ No longer pending",
        waits: false,
        open: false,
        cause: state.cause,
        text: closedWords(state.cause, { ...state, past: approval.past }),
      };
    case "decided": {
      const { decision, delivery } = state;
      const waiting = waitingWords(run, approval, delivery);
      const isWaiting = waiting !== null && delivery.type !== "held";
      return {
        name: isWaiting ? "waiting" : decidedName(decision, delivery),
        title: isWaiting ? waitingTitle(decision, delivery) : decidedTitle(decision, delivery),
        waits: false,
        open: false,
        decision,
        cause: isWaiting
          ? shownWaitingReason(run, approval)
          : delivery.type === "unconfirmed"
            ? delivery.cause
            : null,
        held: holdEnd(approval),
        answered: answeredBefore(delivery).answered ?? null,
        text: waiting ?? deliveryWords(delivery, decision, run),
      };
    }
  }
}

function pendingState(run: Run, approval: Approval): CardState {
  const { votes, appliedRule, version, requestVersion } = approval;
  const changed = version > 1 && version === requestVersion ? " (changed)" : "";
  const title =
    votes.length === 0
      ? `🟡 Approval needed${changed}`
      : `🟡 Approval needed: ${votes.length} of ${appliedRule.rule.needs}`;
  const upload = run.uploads[requestSlot(approval)];
  const braked = isBraked(run);
  const onlyDeny = braked ? ({ onlyDeny: true } as const) : {};
  const open = { ...UNDECIDED, ...onlyDeny, name: "pending", title, waits: true, open: true } as const;
  if (!needsFile(approval.request)) return { ...open, text: "" };
  if (upload?.type === "up") {
    const beyond = fieldsBeyondForm(approval.request, contextBehind(run.context, approval.request));
    return beyond === 0
      ? { ...open, text: "" }
      : { ...open, onlyDeny: true, text: beyondForm(beyond, braked) };
  }
  const text =
    upload?.type === "refused"
      ? `The whole request could not be attached: ${upload.words}. So it can't be decided here yet. Countersign keeps trying. If it can't wait, ${braked ? "deny" : "decide"} it at the service.`
      : "The whole request is being attached. The buttons appear once it can be read.";
  return { ...UNDECIDED, name: "pending", title, waits: true, open: false, text };
}

function decidedName({ verdict }: Decision, delivery: Delivery): CardStateName {
  switch (delivery.type) {
    case "recorded":
    case "sending":
      return "sending";
    case "retry":
      if (delivery.heldBack) return "held-back";
      return delivery.lost ? "sending" : "retrying";
    case "unsure":
      return "checking";
    case "confirmed":
      return verdict === "approve" ? "approved" : "denied";
    case "refused":
      return delivery.absent ? "elsewhere" : "refused";
    case "held":
    case "elsewhere":
    case "unconfirmed":
      return delivery.type;
  }
}

/** Shown on the card, and as the refusal of an approval that is submitted anyway. `braked`: nothing may be approved, also not elsewhere. */
export function beyondForm(fields: number, braked = false): string {
  const subject =
    fields === 1 ? "1 field of this request doesn't" : `${count(fields)} fields of this request don't`;
  const todo = braked
    ? "Deny it here, and say in the reason that it is too long."
    : "Approve it at the service, or deny it here and say in the reason that it is too long.";
  return `${subject} fit Slack's form, so the form can't show everything you would approve. The attached file has the whole request. ${todo}`;
}

function decidedTitle(decision: Decision, delivery: Delivery): string {
  const approves = decision.verdict === "approve";
  switch (delivery.type) {
    case "held":
      return "🟠 Approved, not sent yet";
    case "recorded":
    case "sending":
    case "retry":
      if (delivery.type !== "recorded" && delivery.lost)
        return `🟠 ${approves ? "Approval" : "Denial"} sent, not confirmed yet`;
      if (delivery.type === "retry" && delivery.heldBack) return "🟠 Approval recorded, held back";
      if (isNotDelivered(delivery))
        return `🟠 ${approves ? "Approval" : "Denial"} recorded, not delivered yet`;
      return approves ? "🔵 Approval recorded, sending" : "🔵 Denial recorded, sending";
    case "unsure":
      return approves ? "🔵 Approval sent, being checked" : "🔵 Denial sent, being checked";
    case "confirmed":
      if (delivery.stillListed === true)
        return `⚠️ ${approves ? "Approved" : "Denied"}, but still listed as pending`;
      return approves ? "✅ Approved" : "⛔ Denied";
    case "refused":
      if (delivery.absent)
        return `${approves ? "⚠️ Approval" : "⚠️ Denial"} refused by the service, no longer pending`;
      return approves ? "⚠️ Approval refused by the service" : "⚠️ Denial refused by the service";
    case "elsewhere":
      if (delivery.stillListed === true) return unconfirmedTitle(decision);
      if (endWithoutDecision(delivery) !== null) return `⚠️ ${approves ? "Approval" : "Denial"} not applied`;
      return "⚠️ Decided elsewhere";
    case "unconfirmed":
      return unconfirmedTitle(decision);
  }
}

const unconfirmedTitle = ({ verdict }: Decision): string =>
  verdict === "approve" ? "❓ Approval sent, not confirmed" : "❓ Denial sent, not confirmed";

/** Whether the last attempt did not get through and had no effect. */
const isNotDelivered = (delivery: Delivery): boolean =>
  delivery.type === "retry" && !delivery.lost && delivery.heldBack !== true;

function waitingTitle({ verdict }: Decision, delivery: Delivery): string {
  const what = verdict === "approve" ? "Approval" : "Denial";
  return isLost(delivery) ? `🟠 ${what} sent, not confirmed yet` : `🔵 ${what} recorded, waiting`;
}

/** Returns null unless the decision waits for the service to list the approval. */
function waitingWords(run: Run, approval: Approval, delivery: Delivery): string | null {
  const reason = shownWaitingReason(run, approval);
  if (reason === null || !waitsForListing(delivery)) return null;
  const stages = {
    held: "Not sent yet",
    lost: "Sent, not confirmed",
    waits: "Recorded and waiting",
  };
  const stage = stages[delivery.type === "held" ? "held" : isLost(delivery) ? "lost" : "waits"];
  const unchecked = delivery.type === "unsure" ? ", so Countersign can't check whether it took effect" : "";
  return `${stage}: right now the service ${WAITING_WORDS[reason]}${unchecked}. Countersign sends the decision${isLost(delivery) ? " again" : ""} only after the service lists the request again.`;
}

const WAITING_WORDS = {
  "not-listed": "does not list this request",
  "not-told": "does not say which requests are pending",
  "run-missing": "does not know this run",
  unreadable: "lists something unreadable, which may be this request",
} as const satisfies Record<WaitingReason, string>;
