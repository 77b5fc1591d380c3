// What a card and a form say about a claim, questions and extensions, and the buttons for them.

import type { Block, RichTextBlock, RichTextElement, RichTextSection } from "@slack/types";
import type { Approval } from "../../../domain/approval.ts";
import {
  claimedUntil,
  claimOf,
  nextExtension,
  refusalToHandOver,
  timesExtended,
} from "../../../domain/handling.ts";
import { extendedMs, type Question } from "../../../domain/follow-up.ts";
import { questionsOf, refusalToAsk, shownQuestion, awaitsAnswerUntil } from "../../../domain/question.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { timeWords } from "../../../domain/text/time-words.ts";
import {
  CARD_CLAIM,
  CARD_MORE,
  MORE_ASK,
  MORE_EXTEND,
  MORE_HAND_OVER,
  MORE_RELEASE,
  MORE_SNOOZE,
} from "../names.ts";
import { partWithId } from "./message-id.ts";
import { buttonsOf } from "./pending-card.ts";
import { count, line, moment, person, rich, span, untrustedQuote, untrustedSpan } from "./rich.ts";

/** The most characters of a question or an answer that a card and a form show. Details shows all of it. */
const SAID_CHARS = 300;
const IN_LIST_CHARS = 160;

export function followUpBlocks(approval: Approval): Block[] {
  return [...extensionBlocks(approval), ...questionBlocks(approval), ...claimBlocks(approval)];
}

function claimBlocks(approval: Approval): Block[] {
  const claim = claimOf(approval);
  if (claim === null) return [];
  const { by, from, instead, snoozedUntil } = claim;
  const how: RichTextElement[] =
    from !== undefined
      ? [span(" "), person(from), span(" handed it over.")]
      : instead !== undefined
        ? [span(" Took over from "), person(instead), span(".")]
        : [];
  const quiet =
    snoozedUntil === undefined
      ? []
      : [
          span(" "),
          person(by),
          span(" gets no reminders before "),
          moment(claimedUntil(approval, { until: snoozedUntil })),
          span("."),
        ];
  const text = line(
    span("👀 "),
    person(by),
    span(" is looking at it", { bold: true }),
    span(" until "),
    moment(claimedUntil(approval, claim)),
    span("."),
    ...how,
    ...quiet,
    span(" Others can still decide it."),
  );
  return [partWithId(from === undefined ? "claim:own" : "claim:handed-over", rich(text))];
}

function extensionBlocks(approval: Approval): Block[] {
  const last = approval.followUp?.extensions?.at(-1);
  if (last === undefined || approval.state.type !== "pending") return [];
  const total = timeWords(extendedMs(approval));
  const words =
    timesExtended(approval) === 1
      ? [span("⏳ "), person(last.by), span(` extended the deadline by ${total}.`)]
      : [
          span(`⏳ The deadline was extended by ${total} in all, most recently by `),
          person(last.by),
          span("."),
        ];
  return [partWithId("extended", rich(line(...words)))];
}

/** One question, for a card and the form. Details shows all of them. */
export function questionBlocks(approval: Approval): RichTextBlock[] {
  const question = shownQuestion(approval);
  if (question === null) return [];
  const waits = approval.appliedRule.rule.expiry === null ? null : awaitsAnswerUntil(approval);
  const still =
    waits === null
      ? []
      : [
          line(
            span("The clock is paused until there is an answer, or until "),
            moment(waits),
            span(" at the latest. If the answer comes sooner, so does the deadline."),
          ),
        ];
  const more = questionsOf(approval).length - 1;
  const others =
    more === 0 ? [] : [line(span(`${count(more)} more ${more === 1 ? "question" : "questions"} in Details`))];
  const id = question.answer === undefined ? "question:open" : "question:answered";
  return [partWithId(id, rich(...questionLines(question, SAID_CHARS), ...still, ...others))];
}

/** All questions, for Details. `chars`: the room for each text. */
export function allQuestionBlocks(approval: Approval, chars: number): Block[] {
  return questionsOf(approval).map((question) => rich(...questionLines(question, chars)));
}

function questionLines({ by, at, text, answer }: Question, chars: number) {
  const asked = line(span("❓ "), person(by), span(" asked, "), moment(at), span(":"));
  const answered =
    answer === undefined
      ? [line(span("No answer yet."))]
      : [
          line(span("💬 "), person(answer.by), span(" answered, "), moment(answer.at), span(":")),
          untrustedQuote(answer.text, chars),
        ];
  return [asked, untrustedQuote(text, chars), ...answered];
}

/**
 * "I'm looking at it", and a menu of the other actions that are possible now. All readers see the same card, so permissions are checked
 * when someone presses.
 */
export function followUpActions(approval: Approval): Block[] {
  const { nonce } = approval;
  const option = (text: string, act: string): object => ({
    text: { type: "plain_text", text, emoji: false },
    value: `${nonce} ${act}`,
  });
  const claim = claimOf(approval);
  const next = nextExtension(approval, approval.appliedRule.rule) ?? 0;
  const options = [
    ...(refusalToAsk(approval) === null ? [option("Ask a question", MORE_ASK)] : []),
    ...(next === 0
      ? []
      : [option(`Extend by ${timeWords(next)}`, `${MORE_EXTEND} ${timesExtended(approval)}`)]),
    ...(claim === null
      ? []
      : [
          option("Snooze reminders", MORE_SNOOZE),
          ...(refusalToHandOver(approval, claim.by) === null ? [option("Hand over", MORE_HAND_OVER)] : []),
          option("I'm no longer looking", MORE_RELEASE),
        ]),
  ];
  // Slack refuses a menu without options.
  const menu = options.length === 0 ? [] : [{ type: "overflow", action_id: CARD_MORE, options }];
  const elements = [buttonsOf(approval)(CARD_CLAIM, "I'm looking at it"), ...menu];
  return [{ type: "actions", block_id: `more-${nonce}`, elements } as Block];
}

/** The lines in a list of runs: who is looking at the request, and the question that its card shows. */
export function followUpLines(approval: Approval): readonly RichTextSection[] {
  const claim = claimOf(approval);
  const question = shownQuestion(approval);
  const looks =
    claim === null
      ? []
      : [
          line(
            span("👀 "),
            person(claim.by),
            span(" is looking at it until "),
            moment(claimedUntil(approval, claim)),
            span("."),
          ),
        ];
  if (question === null) return looks;
  const said = question.answer === undefined ? "not answered yet" : "answered";
  const text = untrustedSpan(oneLine(question.text, IN_LIST_CHARS), IN_LIST_CHARS);
  return [...looks, line(span("❓ "), person(question.by), span(` asked (${said}): `), text)];
}
