// The words of refusals about claims, questions and extensions.

import type { Refusal } from "../../../domain/authorization.ts";
import { MAX_QUESTION_CHARS, MAX_QUESTIONS } from "../../../domain/question.ts";
import { timeWords } from "../../../domain/text/time-words.ts";
import { count } from "./rich.ts";

/** Slack accepts at most 24 characters. */
export const FOLLOW_UP_TITLES = {
  "not-claimer": "Someone else is on this",
  "handed-over-before": "Handed over already",
  "cannot-take-over": "They can't take over",
  "too-many-questions": "No more questions",
  "answered-before": "Answered already",
  "not-asked": "Not yours to answer",
  "text-needed": "Nothing typed",
  "text-too-long": "Text too long",
  "form-used": "An earlier press counts",
  "time-needed": "Choose a time",
  "not-extendable": "No more time",
  "extension-cap": "No more time",
  "extended-meanwhile": "Extended already",
} as const satisfies { [Type in Refusal["type"]]?: string };

export type FollowUpRefusal = Extract<Refusal, { type: keyof typeof FOLLOW_UP_TITLES }>;

export const isFollowUpRefusal = (refusal: Refusal): refusal is FollowUpRefusal =>
  Object.hasOwn(FOLLOW_UP_TITLES, refusal.type);

/** The words in Slack's markup. */
export function followUpRefusalWords(refusal: FollowUpRefusal): string {
  switch (refusal.type) {
    case "not-claimer":
      return refusal.by === null
        ? 'Only the person who is looking at this request can do that, and right now no one is. Press "I\'m looking at it" on the card first.'
        : `<@${refusal.by}> is looking at this request, so only they can do that. Press "I'm looking at it" on the card to take over.`;
    case "handed-over-before":
      return `<@${refusal.from}> handed this request over to you, so you can't hand it on. Decide it, or choose "I'm no longer looking": others can still decide it.`;
    case "cannot-take-over":
      return takeOverWords(refusal);
    case "too-many-questions":
      return `This request already has ${count(MAX_QUESTIONS)} questions, which is the limit. Your question was not asked. Talk to the requester in the thread, or decide.`;
    case "answered-before":
      return "This question has already been answered. The card shows the answer.";
    case "not-asked":
      return `Only <@${refusal.requester}>, who started or watches the run, can answer this.`;
    case "text-needed":
      return "Type what you want to say. Nothing was posted.";
    case "text-too-long":
      return `Too long: ${count(refusal.chars)} characters. At most ${count(MAX_QUESTION_CHARS)} fit. Nothing was posted.`;
    case "form-used":
      return usedWords(refusal.did);
    case "time-needed":
      return "Choose for how long.";
    case "not-extendable":
      return "The rule of this request allows no more time. Decide it before its deadline.";
    case "extension-cap":
      return `The rule allows ${timeWords(refusal.atMostMs)} more in all, and all of it has been added. Decide it before its deadline.`;
    case "extended-meanwhile":
      return refusal.by === null
        ? "The card you pressed on is out of date, so nothing was added. Check the new deadline, and extend it again if you need more time."
        : `<@${refusal.by}> extended the deadline just before you, so nothing was added. Check the new deadline on the card, and extend it again if you need more time.`;
  }
}

function usedWords(did: Extract<FollowUpRefusal, { type: "form-used" }>["did"]): string {
  if (did === "asked")
    return "An earlier press of this form asked a question, and the thread shows it. This press asked nothing. To ask something else as well, choose Ask a question on the card again.";
  if (did === "snoozed")
    return "An earlier press of this form snoozed your reminders, and the card shows until when. This press changed nothing. To choose another time, choose Snooze reminders on the card again.";
  return `<@${did.handedTo}> got this request from an earlier press of this form. This press changed nothing. To hand it to another person, press "I'm looking at it" on the card, and then choose Hand over again.`;
}

function takeOverWords({ to, why }: Extract<Refusal, { type: "cannot-take-over" }>): string {
  if (to === null) return "Choose the person who takes over. Nothing changed.";
  if (why === "claimer") return "You are looking at it yourself. Choose another person. Nothing changed.";
  if (why === "unverified")
    return `Slack could not confirm just now that <@${to}> may decide this. Nothing changed. Try again in a moment.`;
  const rest = "Choose another person. Nothing changed.";
  if (why === "requester")
    return `<@${to}> started or watches this run, so another person must decide it. ${rest}`;
  if (why === "already-voted") return `<@${to}> has already approved this, so another person must. ${rest}`;
  return why === "not-in-channel"
    ? `<@${to}> is not in this channel, so they would not learn of it. Add them to the channel first, or choose another person. Nothing changed.`
    : `<@${to}> can't decide this request. ${rest}`;
}

/** The words beside a field, where Slack draws no markup. */
export function followUpRefusalPlain(refusal: FollowUpRefusal): string {
  if (refusal.type === "not-asked") return "Only the person who started or watches the run can answer this.";
  // In all other refusals the mention is the subject of the sentence.
  if (refusal.type !== "cannot-take-over")
    return followUpRefusalWords(refusal).replace(/^<@[A-Z0-9]+>/, "Another person");
  const { to, why } = refusal;
  if (to === null || why === "claimer") return followUpRefusalWords(refusal);
  if (why === "unverified")
    return "Slack could not confirm just now that this person may decide it. Try again in a moment.";
  if (why === "requester") return "This person started or watches the run, so another person must decide it.";
  if (why === "already-voted") return "This person has already approved it, so another person must.";
  return why === "not-in-channel"
    ? "This person is not in the channel, so they would not learn of it. Add them to the channel first, or choose another person."
    : "This person can't decide this request.";
}
