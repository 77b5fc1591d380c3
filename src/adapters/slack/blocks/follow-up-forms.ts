// The forms behind a card's menu: a question, its answer, a hand-over, and a snooze of reminders. None of them decides anything.

import type { Block, View } from "@slack/types";
import { SNOOZES } from "../../../domain/handling.ts";
import { MAX_QUESTION_CHARS, questionsOf } from "../../../domain/question.ts";
import { HEADLINE_CHARS, askedIn } from "../../../domain/text/headline.ts";
import { timeWords } from "../../../domain/text/time-words.ts";
import type { OpenedForm } from "../../../usecases/open-form.ts";
import {
  ANSWER_MODAL,
  HAND_OVER_MODAL,
  QUESTION_MODAL,
  SAID_BLOCK,
  SAID_INPUT,
  SNOOZE_BLOCK,
  SNOOZE_INPUT,
  SNOOZE_MODAL,
  TAKER_BLOCK,
  TAKER_INPUT,
} from "../names.ts";
import { approvalOf } from "./request-blocks.ts";
import { type MessageId, withId } from "./message-id.ts";
import { line, person, plain, quote, rich, span, untrustedQuote, untrustedSpan } from "./rich.ts";

export function followUpForm(opened: OpenedForm): View {
  switch (opened.ticket.asks) {
    case "answer":
      return answerForm(opened);
    case "hand-over":
      return handOverForm(opened);
    case "snooze":
      return snoozeForm(opened);
    default:
      return questionForm(opened);
  }
}

function questionForm({ run, ticket }: OpenedForm): View {
  const head = line(span("You are asking "), person(run.requester), span(" about this request:"));
  return modal("form:ask", ticket.nonce, {
    callback_id: QUESTION_MODAL,
    title: "Ask a question",
    submit: "Ask",
    blocks: [
      rich(head, about(ticket.saw)),
      textInput("Question", "It is posted in the thread. The agent service does not get it."),
    ],
  });
}

function answerForm({ run, ticket }: OpenedForm): View {
  const approval = approvalOf(run, ticket.saw);
  const asked = approval === undefined ? [] : questionsOf(approval);
  const question = asked.find(({ id }) => id === ticket.question);
  const asks =
    question === undefined ? [] : [line(person(question.by), span(" asks:")), untrustedQuote(question.text)];
  return modal("form:answer", ticket.nonce, {
    callback_id: ANSWER_MODAL,
    title: "Answer a question",
    submit: "Answer",
    blocks: [
      rich(...asks, line(span("About this request:")), about(ticket.saw)),
      textInput("Answer", "Everyone in the channel sees it. The agent service does not get it."),
    ],
  });
}

function handOverForm({ ticket }: OpenedForm): View {
  const head = line(span("Ask another person to look at this request instead of you:"));
  return modal("form:hand-over", ticket.nonce, {
    callback_id: HAND_OVER_MODAL,
    title: "Hand over",
    submit: "Hand over",
    blocks: [
      rich(head, about(ticket.saw)),
      input(TAKER_BLOCK, "Who takes over", TAKES_OVER, { type: "users_select", action_id: TAKER_INPUT }),
    ],
  });
}

const TAKES_OVER =
  "They must be allowed to decide it and see this channel. They are told in the thread, and can't hand it on.";

function snoozeForm({ ticket }: OpenedForm): View {
  const head = line(span("You are still looking at this request, but won't be reminded about it:"));
  const options = SNOOZES.map((ms) => ({ text: plain(timeWords(ms)), value: String(ms) }));
  return modal("form:snooze", ticket.nonce, {
    callback_id: SNOOZE_MODAL,
    title: "Snooze reminders",
    submit: "Snooze",
    blocks: [
      rich(head, about(ticket.saw)),
      input(SNOOZE_BLOCK, "For how long", "Others are still reminded. It ends at the deadline.", {
        type: "radio_buttons",
        action_id: SNOOZE_INPUT,
        options,
      }),
    ],
  });
}

const about = (saw: OpenedForm["ticket"]["saw"]) => quote(untrustedSpan(askedIn(saw), HEADLINE_CHARS));

type Form = {
  readonly callback_id: string;
  readonly title: string;
  readonly submit: string;
  readonly blocks: Block[];
};

/** The form carries only the nonce. */
const modal = (id: MessageId, nonce: string, { callback_id, title, submit, blocks }: Form): View =>
  withId(id, {
    type: "modal" as const,
    callback_id,
    private_metadata: nonce,
    title: plain(title),
    submit: plain(submit),
    close: plain("Cancel"),
    blocks,
  });

function input(block_id: string, label: string, hint: string, element: object): Block {
  return { type: "input", block_id, label: plain(label), hint: plain(hint), element } as Block;
}

const textInput = (label: string, hint: string): Block =>
  input(SAID_BLOCK, label, hint, {
    type: "plain_text_input",
    action_id: SAID_INPUT,
    multiline: true,
    max_length: MAX_QUESTION_CHARS,
  });
