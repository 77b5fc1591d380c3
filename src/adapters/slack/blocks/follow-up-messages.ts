// The thread's messages about questions to the requester and about hand-overs. Slack notifies the people whom they mention.

import type { Block } from "@slack/types";
import { followUpMessageKey } from "../../../domain/handling.ts";
import { findQuestion, type FoundQuestion, handoverSlot, isHandoverSlot } from "../../../domain/question.ts";
import type { Run } from "../../../domain/run.ts";
import type { Slot } from "../../../domain/slot.ts";
import { HEADLINE_CHARS, askedIn } from "../../../domain/text/headline.ts";
import { head, oneLine } from "../../../domain/text/excerpt.ts";
import { QUESTION_ANSWER } from "../names.ts";
import { withId } from "./message-id.ts";
import { buttonsOf } from "./pending-card.ts";
import {
  escaped,
  line,
  type Message,
  moment,
  person,
  quote,
  rich,
  span,
  untrustedQuote,
  untrustedSpan,
} from "./rich.ts";

/** The room for a question or an answer. Nearly every one fits, but one of 3,000 characters may be longer as Slack counts it. */
const SAID_CHARS = 5_000;
const IN_NOTIFICATION_CHARS = 150;

export function followUpMessage(run: Run, slot: Slot): Message {
  if (isHandoverSlot(slot)) return handedOver(run, slot);
  const found = findQuestion(run, slot);
  return found === null ? outOfDate() : question(run, found, followUpMessageKey(run, slot));
}

function question(run: Run, { approval, question: asked }: FoundQuestion, key: string | null): Message {
  const { by, text, answer } = asked;
  const isOpen = key === "open";
  const asks = line(
    person(run.requester),
    span(", "),
    person(by),
    span(" asks about a request of this run:"),
  );
  const about = line(span("Request: "), untrustedSpan(askedIn(approval.request), HEADLINE_CHARS));
  const said =
    answer === undefined
      ? [isOpen ? HOW_TO_ANSWER : line(span(NO_LONGER_NEEDED))]
      : [
          line(person(answer.by), span(" answered, "), moment(answer.at), span(":")),
          untrustedQuote(answer.text, SAID_CHARS),
        ];
  const isCut = [text, answer?.text ?? ""].some((each) => head(each, SAID_CHARS, "masked").hidden > 0);
  const rest = isCut ? [line(span("The rest is in Details, on the card of this request."))] : [];
  const button = buttonsOf(approval)(QUESTION_ANSWER, "Answer", { style: "primary" });
  const name = answer !== undefined ? "answered" : isOpen ? "open" : "over";
  return withId(`thread:question:${name}`, {
    text: escaped(`A question about a request: ${oneLine(text, IN_NOTIFICATION_CHARS)}`),
    blocks: [
      rich(asks, untrustedQuote(text, SAID_CHARS), about, ...said, ...rest),
      ...(isOpen ? [{ type: "actions", elements: [button] } as Block] : []),
    ],
  });
}

/** The reply that people would type first, a plain message in the thread, does not count: we discard what people say to each other. */
const HOW_TO_ANSWER = line(
  span("Press Answer to reply.", { bold: true }),
  span(
    " Countersign doesn't read messages in this thread unless they begin by mentioning it. The approvers see your answer on the card; the agent service gets neither the question nor the answer.",
  ),
);
const NO_LONGER_NEEDED = "The request is no longer open, so no answer is needed.";

function outOfDate(): Message {
  const text = "The request changed, so a question about it is out of date. No answer is needed.";
  return withId("thread:question:changed", { text, blocks: [rich(line(span(text)))] });
}

function handedOver({ approvals }: Run, slot: Slot): Message {
  const found = approvals.flatMap((approval) =>
    (approval.followUp?.handovers ?? []).map((handover) => ({ approval, handover })),
  );
  const match = found.find(({ handover: { id } }) => handoverSlot(id) === slot);
  if (match === undefined) throw new TypeError(`no message is drawn for ${slot}`);
  const { from, to } = match.handover;
  const asked = askedIn(match.approval.request);
  return withId("thread:handed-over", {
    text: escaped(`Handed over to you: ${asked}`),
    blocks: [
      rich(
        line(
          person(to),
          span(", "),
          person(from),
          span(" asks you to look at this request instead. Its card is in this thread."),
        ),
        quote(untrustedSpan(asked, HEADLINE_CHARS)),
      ),
    ],
  });
}
