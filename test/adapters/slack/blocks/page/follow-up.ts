// Cards, forms and messages about claims, questions, hand-overs and more time.

import type { MessageId, PartId } from "#src/adapters/slack/blocks/message-id.ts";
import { messageModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import {
  ANSWER_NOT_RECORDED,
  NOT_RECORDED,
  QUESTION_OVER,
  REQUEST_CHANGED,
  TAKEN_BEFORE_CHANGE,
  SEVERAL,
  TAKEN,
} from "#src/adapters/slack/follow-up-clicks.ts";
import { followUpForm } from "#src/adapters/slack/blocks/follow-up-forms.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Claim, FollowUp, Question } from "#src/domain/follow-up.ts";
import { BUILT_IN_RULE, keptRule } from "#src/domain/policy/policy.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { handoverSlot, questionSlot } from "#src/domain/question.ts";
import type { Run } from "#src/domain/run.ts";
import type { FormTicket } from "#src/ports/store.ts";
import { aNonce, aTicket, NOON } from "../../../../make/run.ts";
import {
  ANA,
  BEN,
  type CardExample,
  CLEO,
  CREATED,
  decided,
  DEPLOYMENT,
  type Example,
  one,
  PENDING,
} from "./example.ts";

const MINUTE = 60_000;
const RULE = {
  ...keptRule(BUILT_IN_RULE),
  expiry: { afterMs: 120 * MINUTE, outcome: "deny" },
  followUp: { ...NO_FOLLOW_UP, extend: { byMs: 30 * MINUTE, atMostMs: 60 * MINUTE } },
} as const;
const QUIET: Approval = { ...PENDING, appliedRule: { version: "0123456789ab", rule: RULE } };
const following = (followUp: FollowUp): Approval => ({ ...QUIET, followUp });

const CLAIM: Claim = { by: BEN, at: NOON, until: NOON + 30 * MINUTE };
const OPEN: Question = {
  id: aNonce(),
  by: BEN,
  at: NOON + MINUTE,
  text: "Is the database backed up? <!channel>",
};
const ANSWERED: Question = {
  ...OPEN,
  answer: { by: ANA, at: NOON + 3 * MINUTE, text: "Yes, an hour ago:\nrun 4711" },
};
const PAUSE = {
  why: "question",
  from: NOON + MINUTE,
  until: NOON + 61 * MINUTE,
  of: OPEN.id,
} as const;
const EXTENDED = [{ by: CLEO, at: NOON, byMs: 30 * MINUTE }];

const card = (when: string, followUp: FollowUp): CardExample => ({
  when,
  run: CREATED,
  approval: following(followUp),
});

export const FOLLOW_UP_PARTS: Record<
  Extract<PartId, `${"claim" | "question"}:${string}` | "extended">,
  readonly CardExample[]
> = {
  "claim:own": [
    card("", { claim: CLAIM }),
    card("instead of another person, without reminders", {
      claim: { ...CLAIM, instead: CLEO, snoozedUntil: NOON + 30 * MINUTE },
    }),
  ],
  "claim:handed-over": [card("", { claim: { ...CLAIM, by: CLEO, from: BEN } })],
  "question:open": [
    card("", { questions: [OPEN], pauses: [PAUSE] }),
    card("two questions", { questions: [{ ...ANSWERED, id: aNonce() }, OPEN], pauses: [PAUSE] }),
  ],
  "question:answered": [card("", { questions: [ANSWERED] })],
  extended: [
    card("", { extensions: EXTENDED }),
    card("no more is allowed", { extensions: [...EXTENDED, ...EXTENDED] }),
  ],
};

const ASKED_ABOUT = following({ questions: [OPEN] });
const runOf = (approval: Approval): Run => ({ ...CREATED, approvals: [approval] });

const form = (asks: NonNullable<FormTicket["asks"]>): readonly Example[] => {
  const run = runOf(ASKED_ABOUT);
  const ticket = { ...aTicket(run, ASKED_ABOUT), nonce: aNonce(), asks, question: OPEN.id };
  return one(followUpForm({ run, ticket }));
};

export const FOLLOW_UP_FORMS: Record<
  Extract<MessageId, `form:${"ask" | "answer" | "hand-over" | "snooze"}`>,
  readonly Example[]
> = {
  "form:ask": form("question"),
  "form:answer": form("answer"),
  "form:hand-over": form("hand-over"),
  "form:snooze": form("snooze"),
};

const said = (approval: Approval): readonly Example[] =>
  one(messageIn(runOf(approval), questionSlot(OPEN.id), DEPLOYMENT));
const HANDED = { id: aNonce(), from: BEN, to: CLEO, at: NOON };

export const FOLLOW_UP_MESSAGES: Record<
  Extract<MessageId, `thread:question:${string}` | "thread:handed-over">,
  readonly Example[]
> = {
  "thread:question:open": said(ASKED_ABOUT),
  "thread:question:answered": said(following({ questions: [ANSWERED] })),
  "thread:question:over": said({ ...decided({ type: "recorded" }), followUp: { questions: [OPEN] } }),
  "thread:question:changed": one(messageIn(CREATED, questionSlot(OPEN.id), DEPLOYMENT)),
  "thread:handed-over": one(
    messageIn(runOf(following({ handovers: [HANDED] })), handoverSlot(HANDED.id), DEPLOYMENT),
  ),
};

export const FOLLOW_UP_ANSWERS: Record<
  `answer:${"press-not-recorded" | "question-answered" | "several-questions" | "question-over" | "question-of-changed-request" | "question-answered-before-change" | "answer-not-recorded"}`,
  readonly Example[]
> = {
  "answer:press-not-recorded": one(messageModal(NOT_RECORDED.heading, NOT_RECORDED.text, NOT_RECORDED.id)),
  "answer:question-answered": one(TAKEN),
  "answer:several-questions": one(SEVERAL),
  "answer:question-over": one(QUESTION_OVER),
  "answer:question-of-changed-request": one(REQUEST_CHANGED),
  "answer:question-answered-before-change": one(TAKEN_BEFORE_CHANGE),
  "answer:answer-not-recorded": one(ANSWER_NOT_RECORDED),
};
