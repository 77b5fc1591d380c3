// What a card and the thread show of a claim, of questions and of more time: the render keys, and which messages the thread has.

import { deadlineOf } from "./applied-rule.ts";
import type { Approval } from "./approval.ts";
import { claimOf, nextExtension, timesExtended } from "./handling.ts";
import {
  findQuestion,
  handoverSlot,
  isHandoverSlot,
  isQuestionSlot,
  openQuestions,
  questionSlot,
  questionsOf,
  waitsForAnswer,
} from "./question.ts";
import type { Run, Slot } from "./run.ts";

/** Empty where nothing was done yet. */
export function followUpRenderKey(approval: Approval): string {
  const claim = claimOf(approval);
  const claimed =
    claim === null ? "" : ` claim ${claim.by} ${claim.until} ${claim.from ?? ""} ${claim.instead ?? ""}`;
  const quiet = claim?.snoozedUntil === undefined ? "" : ` snoozed ${claim.snoozedUntil}`;
  const asked = questionsOf(approval).length;
  const open = openQuestions(approval).length;
  const questions = asked === 0 ? "" : ` asked ${asked}, open ${open}, waits ${waitsForAnswer(approval)}`;
  const { rule } = approval.appliedRule;
  const times = timesExtended(approval);
  const extended = times === 0 ? "" : ` extended ${times}, next ${nextExtension(approval, rule)}`;
  const ends = asked + times === 0 ? "" : ` ends ${deadlineOf(approval)}`;
  return `${claimed}${quiet}${questions}${extended}${ends}`;
}

export const isFollowUpSlot = (slot: Slot): boolean => isQuestionSlot(slot) || isHandoverSlot(slot);

/** The thread's messages about questions and hand-overs. Also those about a request that has changed since. */
export function followUpSlots({ approvals, posts }: Run): readonly Slot[] {
  const wanted = approvals.flatMap((approval) => [
    ...questionsOf(approval).map(({ id }) => questionSlot(id)),
    ...(approval.followUp?.handovers ?? []).map(({ id }) => handoverSlot(id)),
  ]);
  return [...new Set([...wanted, ...Object.keys(posts).filter(isQuestionSlot)])];
}

/** Null: nothing is to be posted. What is no longer needed is not posted, and a posted message says that it is over. */
export function followUpMessageKey(run: Run, slot: Slot): string | null {
  const never = !isPosted(run, slot);
  if (isHandoverSlot(slot)) {
    const approval = run.approvals.find(({ followUp }) =>
      followUp?.handovers?.some(({ id }) => handoverSlot(id) === slot),
    );
    return never && approval?.state.type !== "pending" ? null : "handed over";
  }
  const found = findQuestion(run, slot);
  if (found === null) return never ? null : "changed";
  if (found.question.answer !== undefined) return "answered";
  if (found.approval.state.type === "pending") return "open";
  return never ? null : "over";
}

/** Slack may have it. */
function isPosted({ posts }: Run, slot: Slot): boolean {
  const type = posts[slot]?.type;
  return type === "up" || type === "unsure" || type === "sending";
}
