// The messages for a storm (more requests at once than Slack accepts cards): the listing of a run, and the notice in a channel.

import type { Block, RichTextElement } from "@slack/types";
import { deadlineOf } from "../../../domain/applied-rule.ts";
import type { Approval, ClosedCause } from "../../../domain/approval.ts";
import { isBraked, isStopped, type Run } from "../../../domain/run.ts";
import type { Slot } from "../../../domain/slot.ts";
import { closedOf, decidedOf, linesOf, movedToCards } from "../../../domain/listing.ts";
import { activeStorm } from "../../../domain/storm.ts";
import { approvalMarks } from "../../../domain/text/card-layout.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import { needsFile } from "../../../domain/text/request-text.ts";
import { CARD_READ, OPEN_QUEUE } from "../names.ts";
import { brakesAre } from "./brake-blocks.ts";
import { cardState } from "./card-state.ts";
import { withId } from "./message-id.ts";
import { askedWithMarks, buttonsOf, decideButtons, mentionedUsers, mentionLine } from "./pending-card.ts";
import { count, line, type Message, moment, note, person, plural, rich, span } from "./rich.ts";

// A listing lists many approvals of a run in one message, each with the buttons of its card. The form shows the whole request.

const ACTION_CHARS = 120;

function brakeLine(run: Run) {
  if (!isBraked(run)) return [];
  const title = isStopped(run) ? "🛑 Run stopped" : "🧊 Frozen";
  return [line(span(`${title}: requests can be denied, but not approved until ${brakesAre(run)} lifted.`))];
}

export function listingMessage(run: Run, page: number): Message {
  const lines = linesOf(run, page);
  if (lines.length === 0) return listingOver(run, page);
  const requests = lines.length === 1 ? "1 request waits" : `${count(lines.length)} requests wait`;
  const head = rich(
    line(
      span(`${requests} for a decision`, { bold: true }),
      span(` · ${run.origin === "started" ? "asked for by" : "watched by"} `),
      person(run.requester),
    ),
    ...mentions(run, lines),
    ...brakeLine(run),
    ...outcomeLines(run, page),
  );
  return withId("digest:waiting", {
    text: `${requests} for a decision`,
    blocks: [
      head,
      ...lines.flatMap((approval) => lineOf(run, approval)),
      note(
        "Too many requests came at once to post a card for each. The form shows the whole request. Riskiest first",
      ),
    ],
  });
}

function listingOver(run: Run, page: number): Message {
  const text = overWords(movedToCards(run, page));
  const blocks = [rich(line(span(`${text}.`)), ...outcomeLines(run, page))];
  return withId("digest:over", { text, blocks });
}

function overWords(moved: number): string {
  if (moved === 0) return "Nothing in this list is waiting any more";
  return moved === 1
    ? "1 request of this list still waits, now on a card of its own"
    : `${count(moved)} requests of this list still wait, now on cards of their own`;
}

const outcomeLines = (run: Run, page: number) => [...decidedLine(run, page), ...closedLines(run, page)];

function decidedLine(run: Run, page: number) {
  const { approved, denied } = decidedOf(run, page);
  const decisions = [
    ...(approved === 0 ? [] : [`${count(approved)} ${plural(approved, "approval")}`]),
    ...(denied === 0 ? [] : [`${count(denied)} ${plural(denied, "denial")}`]),
  ];
  if (decisions.length === 0) return [];
  return [line(span(`Decided here: ${decisions.join(", ")}. Their cards show the outcome.`))];
}

const closedLines = (run: Run, page: number) =>
  [...closedOf(run, page)].map(([cause, many]) =>
    line(span(`Closed without a decision here: ${count(many)}${CLOSED[cause]}`)),
  );

/** Each continues a sentence after the number of requests, and fits one and several. */
const CLOSED: { readonly [cause in ClosedCause]: string } = {
  "no-longer-listed": ", no longer listed as pending by the service.",
  unreadable:
    ", now sent by the service in a format that Countersign can't read. A message in this thread says why.",
  "run-over": ". The run ended first.",
  "run-missing": ". The service no longer knows the run.",
  unwatched: ". Countersign no longer watches the run. The service may still be waiting.",
  expired:
    ". The deadline passed, and nothing more is sent. The service may still be waiting. Decide there first, before anyone starts the same work again.",
  tampered:
    ". Countersign's record was changed from outside, so nothing is sent. Tell the people who operate Countersign.",
};

/** Everyone whom one of the rules mentions. Slack notifies them when the listing is posted, but not when it is updated. */
function mentions(run: Run, lines: readonly Approval[]) {
  const rules = lines.map(({ appliedRule }) => appliedRule.rule);
  const users = rules.flatMap((rule) => mentionedUsers(rule, run.requester));
  const groups = rules.flatMap(({ mention }) => mention.groups);
  return mentionLine([...new Set(groups)], [...new Set(users)]);
}

function lineOf(run: Run, approval: Approval): Block[] {
  const { request, appliedRule, votes, nonce } = approval;
  const { needs } = appliedRule.rule;
  const progress: RichTextElement[] =
    needs === 1 ? [] : [span(` · ${count(votes.length)} of ${count(needs)} approvals`)];
  const deadline = deadlineOf(approval);
  const said = line(
    ...askedWithMarks(askedIn(request, ACTION_CHARS), ACTION_CHARS, approvalMarks(run, approval)),
    span(" · asked "),
    moment(approval.since),
    ...(deadline === null ? [] : [span(" · deadline "), moment(deadline)]),
    ...progress,
  );
  return [
    rich(said),
    { type: "actions", block_id: `decide-${nonce}`, elements: lineButtons(run, approval) } as Block,
  ];
}

function lineButtons(run: Run, approval: Approval): readonly object[] {
  const onlyDeny = cardState(run, approval).onlyDeny === true;
  const inFull = approval.appliedRule.rule.friction.readFirst && !needsFile(approval.request);
  return [
    ...decideButtons(approval, onlyDeny),
    buttonsOf(approval)(CARD_READ, inFull ? "Read in full" : "Details"),
  ];
}

// The notice in a channel where many requests wait for their cards. Its button opens the reader's own queue and decides nothing.

const WHY_NO_CARDS =
  "Slack accepts about one message a second here, so the cards are posted one by one, which can take minutes. You don't have to wait: Review lists what waits for you, and only you see the list.";

export function stormNotice(run: Run, slot: Slot): Message {
  const storm = activeStorm(run, slot);
  if (storm === null) return stormOver();
  const { waiting, at } = storm;
  const text =
    waiting === 1 ? "1 request waits for its card" : `${count(waiting)} requests wait for their cards`;
  return withId("thread:storm", {
    text,
    blocks: [
      rich(line(span(`🟡 ${text}`, { bold: true }), span(" · "), moment(at)), line(span(WHY_NO_CARDS))),
      { type: "actions", block_id: `storm-${run.key}`, elements: [reviewButton(run)] } as Block,
    ],
  });
}

const reviewButton = ({ key }: Run): object => ({
  type: "button",
  action_id: OPEN_QUEUE,
  value: key,
  style: "primary",
  text: { type: "plain_text", text: "Review", emoji: false },
});

function stormOver(): Message {
  const text = "The cards of the requests that waited here are posted, or will follow within seconds";
  return withId("thread:storm-over", { text, blocks: [rich(line(span(`${text}.`)))] });
}
