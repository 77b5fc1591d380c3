// What a card says about the delivery of its decision to the service, in addition to its title.

import type { Approval, ClosedCause, Decision, PastDecision } from "../../../domain/approval.ts";
import { answeredBefore, type Delivery } from "../../../domain/delivery-state.ts";
import { isKnownToService } from "../../../domain/end-run.ts";
import { isWatched, type Run } from "../../../domain/run.ts";
import { endWithoutDecision, wordInStoredSentence } from "../../../domain/service-word.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";

/** Says in our words that the service accepted the decision. */
export const CONFIRMED = "The service confirmed it.";

export function deliveryWords(delivery: Delivery, decision: Decision, run: Run): string {
  switch (delivery.type) {
    case "held":
      return "Until it is sent, anyone who approved it can undo it, and anyone who may decide can deny it.";
    case "recorded":
      return "";
    case "sending":
      return delivery.lost ? lostWords(delivery, SENT_AGAIN) : "";
    case "retry":
      if (delivery.lost) return lostWords(delivery, whyNotAgain(delivery) ?? SENT_AGAIN);
      if (delivery.heldBack) return `Recorded, but not sent: ${oneLine(delivery.why, 500)}`;
      if (delivery.notSent)
        return `${oneLine(delivery.why, 300)} Countersign keeps trying and sends it automatically as soon as it can.`;
      return `The service has not accepted it${answerAfter(delivery.why, 300)} It has not taken effect. Countersign keeps trying: the same decision is being sent again.`;
    case "unsure":
      if (delivery.answered !== undefined)
        return "Countersign is checking whether the decision took effect; you don't need to do anything.";
      return delivery.failedWith === undefined
        ? "Sent, but the answer was lost. Countersign is checking with the service; you don't need to do anything."
        : `Sent, but the service answered with an error (HTTP ${delivery.failedWith}), which does not say whether it accepted the decision. Countersign is checking; you don't need to do anything.`;
    case "confirmed":
      return delivery.stillListed === true
        ? "The service confirmed it, but still lists it as pending. Countersign does not send a decision twice. Look it up in the agent service."
        : CONFIRMED;
    case "refused":
      return refusedWords(delivery, run);
    case "elsewhere":
      return elsewhereWords(delivery, decision);
    case "unconfirmed":
      return unconfirmedWords(delivery, decision, run);
  }
}

const LOOK_UP = "Look the request up in the agent service, and decide it there.";
/** The end of a sentence, and what to do. */
const LISTED = `the service lists the request as pending. Nothing more is sent. ${LOOK_UP}`;

const SAID_CHARS = 100;
const SENT_AGAIN = "The same decision is being sent again.";

/** Returns null if nothing keeps the decision from being sent again. */
function whyNotAgain({ heldBack, notSent, why }: Extract<Delivery, { type: "retry" }>): string | null {
  if (heldBack) return `The decision is not sent again yet: ${oneLine(why, 500)}`;
  if (!notSent) return null;
  return `${oneLine(why, 300)} Countersign keeps trying and sends the same decision again as soon as it can.`;
}

function lostWords(delivery: Delivery, next: string): string {
  const { answered, failedWith } = answeredBefore(delivery);
  if (answered !== undefined) return `After that answer, the request was still pending. ${next}`;
  return failedWith === undefined
    ? `The answer was lost, and the request was still pending. ${next}`
    : `The service answered with an error (HTTP ${failedWith}), and the request was still pending. ${next}`;
}

function refusedWords({ words, absent, said }: Extract<Delivery, { type: "refused" }>, run: Run): string {
  const refused = `The service refused it${answerAfter(words, 500)} It did not take effect.`;
  if (said !== undefined) return `${refused} ${goneWords("it", said)}`;
  if (absent)
    return `${refused} The service no longer lists it as pending: it may have been decided outside Countersign, or withdrawn.`;
  if (isWatched(run)) return `${refused} If the request is still pending, the buttons come back.`;
  return run.watch.type === "over"
    ? `${refused} The run has ended, so the request can no longer be decided.`
    : `${refused} Countersign no longer watches the run.`;
}

/** Ends the notice of a refusal. The service may have said what became of the request before the notice could be sent. */
export function afterRefusal(approval: Approval | undefined): string {
  const delivery = approval?.state.type === "decided" ? approval.state.delivery : null;
  return delivery?.type === "refused" && delivery.said !== undefined
    ? goneWords("the request", delivery.said)
    : "If the request is still pending, the buttons on its card come back.";
}

/** Names the request as `what`, and ends with the service's word (untrusted) for what became of it. */
const goneWords = (what: string, said: string): string =>
  `The service no longer lists ${what} as pending, and says of it: ${quoted(said, SAID_CHARS)}`;

function elsewhereWords(delivery: Extract<Delivery, { type: "elsewhere" }>, decision: Decision): string {
  const end = endWithoutDecision(delivery);
  const answer =
    delivery.said === undefined ? answerAfter(delivery.words, 500) : `: ${quoted(delivery.said, 500)}`;
  if (delivery.stillListed === true) {
    const ended = end === null ? `was already decided${answer}` : `${end}.`;
    return `The service said that this request ${ended} But the service still lists the request as pending, so it is not clear which is true. Nothing more is sent. ${LOOK_UP}`;
  }
  const notApplied = `This ${verdictNoun(decision)} was not applied:`;
  return end === null
    ? `${notApplied} the request was decided outside Countersign. The service says${answer}`
    : `${notApplied} the service says that the request ${end}.`;
}

const verdictNoun = ({ verdict }: Decision): string => (verdict === "approve" ? "approval" : "denial");

function unconfirmedWords(
  { cause, said, answered, failedWith, accepted, stillListed }: Extract<Delivery, { type: "unconfirmed" }>,
  decision: Decision,
  run: Run,
): string {
  const what = verdictNoun(decision);
  const sent =
    answered === undefined
      ? failedWith === undefined
        ? `Sent, but the answer was lost, so it is not known whether this ${what} took effect.`
        : `Sent, but the service answered with an error (HTTP ${failedWith}), so it is not known whether this ${what} took effect.`
      : `That does not say whether this ${what} took effect.`;
  const known = accepted
    ? `The service accepted it, but listed a changed request before it answered, so it is not known which of the two this ${what} was applied to.`
    : sent;
  switch (cause) {
    case "no-longer-listed":
      if (stillListed === true) return `${sent} Now ${LISTED}`;
      return said === undefined
        ? `${sent} The service no longer lists it as pending, and does not say why. Look it up in the agent service.`
        : `${sent} The service says of the request: ${quoted(said, SAID_CHARS)} Look it up in the agent service.`;
    case "request-changed":
      // Only the request as it was decided counts as listed here. A changed one has an approval of its own.
      if (stillListed === true) return `${known} The request changed and then changed back. Now ${LISTED}`;
      return `${known} The request has changed since, so nothing more is sent. Look up in the agent service what became of this ${what}. If the service still asks for the changed request, it waits in this thread as a request of its own.`;
    case "tampered":
      return `${sent} Countersign's record of it no longer matches the audit, so nothing more is sent. ${LOOK_UP}`;
    case "run-missing":
      // Once the run is watched again, we know whether the service lists the request. It may forget the run again.
      if (stillListed === true) return `${sent} Now ${LISTED}`;
      if (stillListed === false && isKnownToService(run)) return `${sent} Look it up in the agent service.`;
      return `${sent} The service no longer knows the run, so it can't be looked up there. Check directly whether the action was carried out.`;
    case "no-longer-authorised":
      return `${sent} Someone who gave it is no longer allowed to decide, so nothing more is sent. ${LOOK_UP}`;
    case "stopped":
      return `${sent} The run has been stopped since, so nothing more is sent. ${LOOK_UP}`;
    case "frozen":
      return `${sent} Countersign has been frozen since, so nothing more is sent. ${LOOK_UP}`;
    case "refused-after-lost-answer":
      return `${sent} The service refused the same decision when it was sent again, which may mean that the first one arrived. ${stillListed === true ? `But ${LISTED}` : "Look it up in the agent service."}`;
  }
}

// The service's answers inside our sentences. The adapter writes them with a subject ("The agent service answered HTTP 409 (conflict):
// Not now."). A sentence that already names the service needs only the rest.

const ANSWERED = /^The agent service answered HTTP (\d{3})(?: \(([^()]*)\))?(?:: ([^]*)|\.)$/;

/**
 * Returns ` (HTTP 409): "Not now."`, " (HTTP 409, conflict)." or ": any words of our adapter.", on one line, ending a sentence. The service's
 * own words (untrusted) stand in quotation marks, so that they cannot pass for ours.
 */
export function answerAfter(words: string, max: number): string {
  if (wordInStoredSentence(words) !== null) return `: ${quoted(words, max)}`;
  const [answered, status, name, message] = ANSWERED.exec(words) ?? [];
  if (answered === undefined) return `: ${ended(oneLine(words, max))}`;
  if (message === undefined)
    return ` (HTTP ${status}${name === undefined ? "" : `, ${oneLine(name, max)}`}).`;
  return ` (HTTP ${status}): ${quoted(message, max)}`;
}

/** What looks like a quotation mark that ends the quotation. */
const QUOTATION_MARKS = /["\u02BA\u02EE\u05F4\u201C-\u201F\u2033\u3003\u301D-\u301F\uFF02]/gu;
const APOSTROPHES = /['\u2018\u2019`\u00B4]{2,}/gu;

/** Returns the service's words (untrusted) on one line, in quotation marks that they cannot end, and ends the sentence. */
function quoted(words: string, max: number): string {
  const said = wordInStoredSentence(words) ?? words;
  return `"${ended(oneLine(said, max).replace(QUOTATION_MARKS, "'").replace(APOSTROPHES, "'"))}"`;
}

/** The answer without its subject, for a quotation below "The service said:". */
export function withoutSpeaker(words: string): string {
  const word = wordInStoredSentence(words);
  if (word !== null) return word;
  return ANSWERED.test(words) ? words.replace("The agent service answered ", "") : words;
}

const ended = (text: string): string => (/[.!?…)]$/.test(text) ? text : `${text}.`);

// Why an approval was closed without a decision: the card's title, and the sentence that the card and refusals show.

export const CLOSED_TITLES = {
  "no-longer-listed": "⚪ Withdrawn or decided elsewhere",
  unreadable: "⚠️ No longer readable",
  "run-over": "⚪ Run ended",
  "run-missing": "⚪ Run not found",
  unwatched: "⚪ Not watched",
  expired: "⚪ Expired",
  tampered: "🚨 Stopped",
} as const satisfies Record<ClosedCause, string>;

type Known = { readonly past?: readonly PastDecision[]; readonly said?: string };

/** `past` and `said` are absent if they are not known. */
export function closedWords(cause: ClosedCause, { past, said }: Known = {}): string {
  switch (cause) {
    case "no-longer-listed":
      return said === undefined
        ? "The service no longer lists it as pending. It may have been withdrawn, or decided outside Countersign."
        : goneWords("it", said);
    case "unreadable":
      return "The service now sends it in a format that Countersign can't read, so it can't be decided here. A message in the run's thread says why.";
    case "run-over":
      // A restored copy may lack decisions, so this does not say that there were none.
      return `The run ended, and ${past?.length === 0 ? "no decision is recorded here" : "no decision made here is known to have taken effect"}. The service does not say whether one was made elsewhere.`;
    case "run-missing":
      return "The service no longer knows the run.";
    case "expired":
      return "The deadline has passed, so this can no longer be decided here. It may still be pending at the service.";
    case "unwatched":
      return "Countersign no longer watches the run. The request may still be pending at the service.";
    case "tampered":
      return "Countersign's record of it was changed from outside, so nothing is sent for it. Tell the people who operate Countersign. If it is still pending, decide it at the service, or watch the run again to get a new card.";
  }
}
