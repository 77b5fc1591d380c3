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
import { answerAfter } from "./service-words.ts";

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
        title: isWaiting ? waitingTitle(decision, delivery) : decidedTitle(decision, delivery),
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

/** Also of a form that is submitted all the same. */
export function beyondForm(fields: number): string {
  const some =
    fields === 1 ? "1 field of this request doesn't" : `${count(fields)} fields of this request don't`;
  return `${some} fit Slack's form, so the form can't show everything you would approve. You can deny it here. The attached file has the whole request; approve it at the service, or ask the agent for a shorter one.`;
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
      if (isUnsent(delivery)) return `🟠 ${approves ? "Approval" : "Denial"} recorded, not delivered yet`;
      if (delivery.type !== "recorded" && delivery.lost)
        return `🟠 ${approves ? "Approval" : "Denial"} sent, not confirmed yet`;
      return approves ? "🔵 Approval recorded, sending" : "🔵 Denial recorded, sending";
    case "unsure":
      return approves ? "🔵 Approval sent, being checked" : "🔵 Denial sent, being checked";
    case "confirmed":
      return approves ? "✅ Approved" : "⛔ Denied";
    case "refused":
      if (delivery.absent)
        return `${approves ? "⚠️ Approval" : "⚠️ Denial"} refused by the service, no longer pending`;
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

function waitingTitle({ verdict }: Decision, delivery: Delivery): string {
  const what = verdict === "approve" ? "Approval" : "Denial";
  const lost = delivery.type === "retry" && delivery.lost;
  return lost ? `🟠 ${what} sent, not confirmed yet` : `🔵 ${what} recorded, waiting`;
}

/** Null unless the decision waits until the service lists the approval. */
function waitingWords(run: Run, approval: Approval, delivery: Delivery): string | null {
  const reason = waitingReason(run, approval);
  if (reason === null || !["held", "recorded", "retry"].includes(delivery.type)) return null;
  const lost = delivery.type === "retry" && delivery.lost;
  const stages = {
    held: "Not sent yet",
    lost: "Sent, not confirmed",
    waits: "Recorded and waiting",
  };
  const stage = stages[delivery.type === "held" ? "held" : lost ? "lost" : "waits"];
  return `${stage}: right now the service ${WAITING_WORDS[reason]}. It is sent${lost ? " again" : ""} only once the service lists it.`;
}

const WAITING_WORDS = {
  "not-listed": "does not list the approval",
  "not-told": "does not say which approvals are pending",
  "run-missing": "does not know the run",
  unreadable: "lists something unreadable, which may be this approval",
} as const satisfies Record<WaitingReason, string>;

function deliveryWords(delivery: Delivery, decision: Decision, watched: boolean): string {
  switch (delivery.type) {
    case "held":
      return "Until it is sent, the person who approved it can undo it, and anyone who may decide can deny it.";
    case "recorded":
      return "";
    case "sending":
      return delivery.lost ? sentAgain(delivery) : "";
    case "retry":
      if (delivery.heldBack) return `Recorded, but not sent: ${oneLine(delivery.why, 500)}`;
      if (delivery.lost) return sentAgain(delivery);
      if (delivery.notSent)
        return `${oneLine(delivery.why, 300)} Countersign keeps trying, and sends it by itself as soon as it can.`;
      return `The service has not taken it${answerAfter(delivery.why, 300)} It has not taken effect. Countersign keeps trying: the same decision is being sent again.`;
    case "unsure":
      if (delivery.answered !== undefined) return "Countersign is checking whether it took effect.";
      return delivery.failedWith === undefined
        ? "Sent, but the answer was lost. Countersign is checking with the service; you don't need to do anything."
        : `Sent, but the service answered with an error (HTTP ${delivery.failedWith}), which does not say whether it took the decision. Countersign is checking; you don't need to do anything.`;
    case "confirmed":
      return delivery.stillListed === true
        ? "The service confirmed it, but still lists it as pending. Countersign does not send a decision twice; check at the service."
        : CONFIRMED;
    case "refused":
      return refusedWords(delivery, watched);
    case "elsewhere":
      return `This ${verdictNoun(decision)} was not applied: the request was decided outside Countersign. The service says${answerAfter(delivery.words, 500)}`;
    case "unconfirmed":
      return unconfirmedWords(delivery, decision);
  }
}

function sentAgain(delivery: Delivery): string {
  const { answered, failedWith } = answeredBefore(delivery);
  const again = "The same decision is being sent again.";
  if (answered !== undefined) return `After that answer it was still pending. ${again}`;
  return failedWith === undefined
    ? `The answer was lost, and it is still pending. ${again}`
    : `The service answered with an error (HTTP ${failedWith}), and it is still pending. ${again}`;
}

function refusedWords({ words, absent }: Extract<Delivery, { type: "refused" }>, watched: boolean): string {
  const refused = `The service refused it${answerAfter(words, 500)} It did not take effect.`;
  if (absent)
    return `${refused} The service no longer lists it: it may have been decided outside Countersign, or withdrawn.`;
  return watched
    ? `${refused} If it is still pending, the buttons come back.`
    : `${refused} Countersign no longer watches the run.`;
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
        ? `Sent, but the answer was lost, so it is not known whether this ${what} took effect.`
        : `Sent, but the service answered with an error (HTTP ${failedWith}), so it is not known whether this ${what} took effect.`
      : `That does not say whether this ${what} took effect.`;
  switch (cause) {
    case "no-longer-listed":
      return `${sent} The service no longer lists it, and does not say why. Check there.`;
    case "request-changed":
      return `${sent} The request has changed since, so nothing more is sent. Decide it at the service.`;
    case "tampered":
      return `${sent} Countersign's record of it no longer matches the audit, so nothing more is sent. Decide it at the service.`;
    case "run-missing":
      return `${sent} The service no longer knows the run.`;
    case "no-longer-authorised":
      return `${sent} Someone who gave it may no longer decide, so nothing more is sent. Check at the service, and decide it there.`;
    case "stopped":
      return `${sent} The run was stopped since, so nothing more is sent. Check at the service, and decide it there.`;
    case "frozen":
      return `${sent} Countersign was frozen since, so nothing more is sent. Check at the service, and decide it there.`;
    case "refused-after-lost-answer":
      return `${sent} The service refused the same decision when it was sent again, which may mean that the first one arrived. Check there.`;
  }
}
