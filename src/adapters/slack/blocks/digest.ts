// A digest: many approvals of a run in one message, each on a line with the buttons of its card. The form shows the whole request.

import type { Block, RichTextElement } from "@slack/types";
import type { Approval } from "../../../domain/approval.ts";
import { decidedOf, linesOf } from "../../../domain/storm.ts";
import { contextBehind } from "../../../domain/run-context.ts";
import type { Run } from "../../../domain/run.ts";
import { cardMarks, headline } from "../../../domain/text/card-layout.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { CARD_READ } from "../names.ts";
import { riskMark, wordsForDeciders } from "./card-request.ts";
import { mentionedUsers, mentionLine } from "./card-rule.ts";
import { cardState } from "./card-state.ts";
import { buttonsOf, decideButtons } from "./decide-buttons.ts";
import { withId } from "./message-id.ts";
import { count, line, type Message, moment, note, person, rich, span, untrustedSpan } from "./rich.ts";

const ACTION_CHARS = 120;
const MARKS_CHARS = 120;

export function digestMessage(run: Run, page: number): Message {
  const lines = linesOf(run, page);
  if (lines.length === 0) return over(run, page);
  const many = lines.length === 1 ? "1 request waits" : `${count(lines.length)} requests wait`;
  const frozen = run.frozen === undefined ? [] : [line(span("🧊 Frozen: nothing can be approved."))];
  const head = rich(
    line(
      span(`${many} for a decision`, { bold: true }),
      span(` · ${run.origin === "started" ? "asked for by" : "watched by"} `),
      person(run.requester),
    ),
    ...mentions(run, lines),
    ...frozen,
    ...decidedLine(run, page),
  );
  return withId("digest:waiting", {
    text: `${many} for a decision`,
    blocks: [
      head,
      ...lines.flatMap((approval) => lineOf(run, approval)),
      note("Too many came at once for a card each. The form shows the whole request. Riskiest first"),
    ],
  });
}

function over(run: Run, page: number): Message {
  const text = "Nothing waits in this list any more";
  const blocks = [rich(line(span(`${text}.`)), ...decidedLine(run, page))];
  return withId("digest:over", { text, blocks });
}

function decidedLine(run: Run, page: number) {
  const { approved, denied } = decidedOf(run, page);
  if (approved + denied === 0) return [];
  return [
    line(
      span(`Decided: ${count(approved)} to approve, ${count(denied)} to deny. Their cards show the outcome.`),
    ),
  ];
}

/** Everybody whom one of the rules mentions. Slack notifies them when the digest is posted, and not when it is updated. */
function mentions(run: Run, lines: readonly Approval[]) {
  const rules = lines.map(({ appliedRule }) => appliedRule.rule);
  const users = rules.flatMap((rule) => mentionedUsers(rule, run.requester));
  const groups = rules.flatMap(({ mention }) => mention.groups);
  return mentionLine([...new Set(groups)], [...new Set(users)]);
}

function lineOf(run: Run, approval: Approval): Block[] {
  const { request, appliedRule, votes, nonce } = approval;
  const marks = cardMarks(request, contextBehind(run.context, request), appliedRule.card);
  const words = oneLine(wordsForDeciders(marks).join(" · "), MARKS_CHARS);
  const { needs } = appliedRule.rule;
  const progress: RichTextElement[] =
    needs === 1 ? [] : [span(` · ${count(votes.length)} of ${count(needs)} approvals`)];
  const said = line(
    ...(marks.risk === null ? [] : [span(`${riskMark(marks.risk)} `)]),
    untrustedSpan(headline(request, ACTION_CHARS).text, ACTION_CHARS, { bold: true }),
    span(" · "),
    untrustedSpan(words, MARKS_CHARS),
    span(" · "),
    moment(approval.since),
    ...progress,
  );
  return [
    rich(said),
    { type: "actions", block_id: `decide-${nonce}`, elements: buttons(run, approval) } as Block,
  ];
}

function buttons(run: Run, approval: Approval): readonly object[] {
  const onlyDeny = cardState(run, approval).onlyDeny === true || run.frozen !== undefined;
  const mustRead = approval.appliedRule.rule.friction.readFirst;
  return [
    ...decideButtons(approval, onlyDeny),
    buttonsOf(approval)(CARD_READ, mustRead ? "Read in full" : "Details"),
  ];
}
