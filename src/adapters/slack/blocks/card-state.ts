// The title and the sentence that a card has for its approval's state. Only "confirmed" rests on the service's word; every earlier
// state text no more than what Countersign itself knows.

import {
  answeredBefore,
  type Approval,
  type ClosedCause,
  type Decision,
  type Delivery,
} from "../../../domain/approval.ts";
import { type WaitingReason, waitingReason } from "../../../domain/render-key.ts";
import { contextBehind } from "../../../domain/run-context.ts";
import { isWatched, requestSlot, type Run } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { fieldsBeyondForm } from "../../../domain/text/request-layout.ts";
import { needsFile } from "../../../domain/text/request-text.ts";
import { CLOSED_TITLES, closedWords } from "./closed-words.ts";
import { count } from "./rich.ts";

/** What the state is called in the card's markup. Tests wait for it, so titles and sentences are free to change. */
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
  /** Nobody has decided it, and it is not closed. */
  readonly waits: boolean;
  /** Whether the card has Approve and Deny. */
  readonly open: boolean;
  /** It is open, and can only be denied. */
  readonly onlyDeny?: true;
  readonly decision: Decision | null;
  /** Why it is closed or unconfirmed, or where a decision waits for the service. */
  readonly cause: CardCause | null;
  /** Until when (ms) the decision can be undone. */
  readonly held: number | null;
  /** Since when (ms) the decision could not be sent. `text` says why. */
  readonly unsent: number | null;
  /** The service's answer to the decision, if it said neither yes nor no. Untrusted text. */
  readonly answered: string | null;
  /** What the title does not say; empty: nothing. */
  readonly text: string;
};

const UNDECIDED = { decision: null, cause: null, held: null, unsent: null, answered: null };

/** The service's yes, in our words. */
export const CONFIRMED = "The service confirmed it.";

export function cardState(run: Run, approval: Approval): CardState {
  const { state } = approval;
  switch (state.type) {
    case "pending":
      return pendingState(run, approval);
    case "closed":
      return {
        ...UNDECIDED,
        name: state.cause === "tampered" ? "tampered" : "closed",
        title: CLOSED_TITLES[state.cause],
        waits: false,
        open: false,
        cause: state.cause,
        text: closedWords(state.cause),
      };
    case "decided": {
      const { decision, delivery } = state;
      const waiting = waitingWords(run, approval, delivery);
      const isWaiting = waiting !== null && delivery.type !== "held";
      return {
        name: isWaiting ? "waiting" : decidedName(decision, delivery),
        title: isWaiting ? waitingTitle(decision) : decidedTitle(decision, delivery),
        waits: false,
        open: false,
        decision,
        cause: isWaiting
          ? waitingReason(run, approval)
          : delivery.type === "unconfirmed"
            ? delivery.cause
            : null,
        held: delivery.type === "held" ? delivery.until : null,
        unsent: waiting === null && isUnsent(delivery) ? decision.at : null,
        answered: answeredBefore(delivery).answered ?? null,
        text: waiting ?? deliveryWords(delivery, decision, isWatched(run)),
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
  if (!needsFile(approval.request))
    return { ...UNDECIDED, name: "pending", title, waits: true, open: true, text: "" };
  if (upload?.type === "up") {
    const beyond = fieldsBeyondForm(approval.request, contextBehind(run.context, approval.request));
    const open = { ...UNDECIDED, name: "pending", title, waits: true, open: true } as const;
    return beyond === 0 ? { ...open, text: "" } : { ...open, onlyDeny: true, text: beyondForm(beyond) };
  }
  const text =
    upload?.type === "refused"
      ? `The whole request could not be attached (${upload.words}), so it can't be decided here. Decide it at the service.`
      : "The whole request is being attached. The buttons appear when it can be read.";
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

/** Also of a form that is submitted all the same. */
export function beyondForm(fields: number): string {
  const some = fields === 1 ? "1 field of this request has" : `${count(fields)} fields of this request have`;
  return `${some} no place in Slack's form, so nobody could see there all that they approve. It can be denied here. The attached file has the whole request; approve it at the service, or ask the agent for a shorter one.`;
}

function decidedTitle(decision: Decision, delivery: Delivery): string {
  const approves = decision.verdict === "approve";
  switch (delivery.type) {
    case "held":
      return "🟠 Approved, not sent yet";
    case "recorded":
    case "sending":
    case "retry":
      if (delivery.type === "retry" && delivery.heldBack) return "🟠 Approval recorded, held back";
      if (isUnsent(delivery)) return `🟠 ${approves ? "Approval" : "Denial"} recorded, not sent yet`;
      if (delivery.type !== "recorded" && delivery.lost)
        return `🟠 ${approves ? "Approval" : "Denial"} sent, not confirmed yet`;
      return approves ? "🔵 Approval recorded, sending" : "🔵 Denial recorded, sending";
    case "unsure":
      return approves ? "🔵 Approval sent, being checked" : "🔵 Denial sent, being checked";
    case "confirmed":
      return approves ? "✅ Approved" : "⛔ Denied";
    case "refused":
      if (delivery.absent) return "⚠️ Decided elsewhere";
      return approves ? "⚠️ Approval refused by the service" : "⚠️ Denial refused by the service";
    case "elsewhere":
      return "⚠️ Decided elsewhere";
    case "unconfirmed":
      return approves ? "❓ Approval sent, not confirmed" : "❓ Denial sent, not confirmed";
  }
}

/** The last attempt did not get through, and nothing of it took effect. */
const isUnsent = (delivery: Delivery): boolean =>
  delivery.type === "retry" && !delivery.lost && delivery.heldBack !== true;

const waitingTitle = ({ verdict }: Decision): string =>
  verdict === "approve" ? "🔵 Approval recorded, waiting" : "🔵 Denial recorded, waiting";

/** Null unless the decision waits until the service lists the approval. */
function waitingWords(run: Run, approval: Approval, delivery: Delivery): string | null {
  const reason = waitingReason(run, approval);
  if (reason === null || !["held", "recorded", "retry"].includes(delivery.type)) return null;
  const lost = delivery.type === "retry" && delivery.lost;
  const stages = {
    held: "It is held",
    lost: "It was sent, and not confirmed",
    waits: "It is recorded and waits",
  };
  const stage = stages[delivery.type === "held" ? "held" : lost ? "lost" : "waits"];
  return `${stage}: just now the service ${WAITING_WORDS[reason]}. It is sent${lost ? " again" : ""} only when the service lists it.`;
}

const WAITING_WORDS = {
  "not-listed": "does not list the approval as pending",
  "not-told": "does not say which approvals are pending",
  "run-missing": "does not know the run",
  unreadable: "lists something that cannot be read, which may be this approval",
} as const satisfies Record<WaitingReason, string>;

function deliveryWords(delivery: Delivery, decision: Decision, watched: boolean): string {
  switch (delivery.type) {
    case "held":
      return "It is held for a while and then sent to the service. Until then, whoever approved it can undo it, and anybody who may decide can deny it.";
    case "recorded":
      return "";
    case "sending":
      return delivery.lost ? sentAgain(delivery) : "";
    case "retry":
      if (delivery.heldBack) return `Recorded, but not sent: ${oneLine(delivery.why, 500)}`;
      if (delivery.lost) return sentAgain(delivery);
      if (delivery.notSent)
        return `${oneLine(delivery.why, 300)} Countersign keeps trying, and sends it by itself as soon as it can.`;
      return `${oneLine(delivery.why, 300)} It has not taken effect. Countersign keeps trying: the same decision is being sent again.`;
    case "unsure":
      if (delivery.answered !== undefined) return "Countersign is checking whether the decision took effect.";
      return delivery.failedWith === undefined
        ? "It was sent, but the answer was lost. Checking with the service; there is nothing to do."
        : `The service answered with an error (HTTP ${delivery.failedWith}), which does not say whether it took the decision. Checking with the service; there is nothing to do.`;
    case "confirmed":
      return delivery.stillListed === true
        ? "The service confirmed it, yet still lists it as pending. Countersign decides each approval once; look at the service."
        : CONFIRMED;
    case "refused":
      return refusedWords(delivery, watched);
    case "elsewhere":
      return `It was resolved outside Countersign; this ${verdictNoun(decision)} was not applied. The service said: ${oneLine(delivery.words, 500)}`;
    case "unconfirmed":
      return unconfirmedWords(delivery, decision);
  }
}

function sentAgain(delivery: Delivery): string {
  const { answered, failedWith } = answeredBefore(delivery);
  const again = "The same decision is being sent again.";
  if (answered !== undefined) return `After that answer the approval was still pending. ${again}`;
  return failedWith === undefined
    ? `An answer was lost and the approval is still pending. ${again}`
    : `The service answered with an error (HTTP ${failedWith}) and the approval is still pending. ${again}`;
}

function refusedWords({ words, absent }: Extract<Delivery, { type: "refused" }>, watched: boolean): string {
  const refused = `The service refused it: ${oneLine(words, 500)} It did not take effect.`;
  if (absent)
    return `${refused} The service no longer lists the approval: it may have been resolved outside Countersign, or withdrawn.`;
  return watched
    ? `${refused} If it is still pending, this card opens again.`
    : `${refused} The run is no longer watched from here.`;
}

const verdictNoun = ({ verdict }: Decision): string => (verdict === "approve" ? "approval" : "denial");

function unconfirmedWords(
  { cause, answered, failedWith }: Extract<Delivery, { type: "unconfirmed" }>,
  decision: Decision,
): string {
  const what = verdictNoun(decision);
  const sent =
    answered === undefined
      ? failedWith === undefined
        ? `This ${what} was sent, but its answer was lost.`
        : `This ${what} was sent, and the service answered with an error (HTTP ${failedWith}).`
      : `That does not say whether this ${what} took effect.`;
  switch (cause) {
    case "no-longer-listed":
      return `${sent} The service no longer lists the approval, and does not say which decision it holds. Check there if it matters.`;
    case "request-changed":
      return `${sent} The request has changed since, so nothing more is sent. Resolve it at the service.`;
    case "tampered":
      return `${sent} What is stored about it no longer matches the audit, so nothing more is sent. Resolve it at the service.`;
    case "run-missing":
      return `${sent} The service no longer knows the run.`;
    case "no-longer-authorised":
      return `${sent} Whoever gave it is no longer allowed to, so nothing more is sent. Check at the service, and resolve it there.`;
    case "refused-after-lost-answer":
      return `${sent} The service refused the same decision when it was sent again, which may mean that the first one arrived. Check there if it matters.`;
  }
}
