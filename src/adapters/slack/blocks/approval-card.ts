// The card of one approval. While the approval can be decided, the card shows the whole request, starting with the action. After that it
// shrinks to who decided what and why. Everything else is behind Details.

import type { Block, RichTextElement } from "@slack/types";
import { earlierVotes } from "../../../domain/approval-transitions.ts";
import type { Approval, Decision } from "../../../domain/approval.ts";
import { BY_POLICY } from "../../../domain/decide.ts";
import { requestFileState } from "../../../domain/render-key.ts";
import { repeatsId } from "../../../domain/reused-id.ts";
import { type Run, runId } from "../../../domain/run.ts";
import { precedentsOf } from "../../../domain/same-request.ts";
import { approvalMarks, type CardMarks } from "../../../domain/text/card-layout.ts";
import { askedIn, headline } from "../../../domain/text/headline.ts";
import { needsFile } from "../../../domain/text/request-text.ts";
import { CARD_READ, CARD_STATE_BLOCK, CARD_UNDO } from "../names.ts";
import {
  buttonsOf,
  cardRequest,
  decideButtons,
  denyButton,
  DRAWN_MARK_CHARS,
  placesAfter,
  placesBefore,
  riskForDeciders,
  riskMark,
  riskWords,
  ruleBlocks,
} from "./pending-card.ts";
import { cardState, type CardState } from "./card-state.ts";
import { CONFIRMED } from "./delivery-words.ts";
import { brakeBlocks, idAfterStop, stopButton } from "./brake-blocks.ts";
import { followUpActions, followUpBlocks } from "./follow-up-lines.ts";
import { type Deployment, runNote, UNNAMED } from "./deployment.ts";
import { partWithId } from "./message-id.ts";
import { disputeBlocks, pastBlocks, precedentBlocks, who } from "./card-history.ts";
import { fitsCard, indented, maskedRemark, WHO_SEES_MASKED } from "./request-blocks.ts";
import {
  clock,
  count,
  countedLength,
  drawnBoxes,
  escaped,
  header,
  line,
  type Message,
  MESSAGE_CHARS,
  moment,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

/** The most characters of a reason, and of the service's answer, that a card shows. Details shows the whole reason. */
const REASON_ON_CARD_CHARS = 300;
const ANSWER_ON_CARD_CHARS = 400;
/** Slack's limit for the text of a header. */
const HEADER_CHARS = 150;

export function approvalCard(run: Run, approval: Approval, deployment: Deployment = UNNAMED): Message {
  const state = cardState(run, approval);
  const marks = approvalMarks(run, approval);
  const card: Card = { run, approval, state, marks, deployment };
  const blocks = state.waits ? waitingBlocks(card) : foldedBlocks(card);
  const [first, ...rest] = blocks;
  return { text: notificationText(card), blocks: [{ ...first, block_id: blockId(card) } as Block, ...rest] };
}

type Card = {
  readonly run: Run;
  readonly approval: Approval;
  readonly state: CardState;
  readonly marks: CardMarks;
  readonly deployment: Deployment;
};

/** Slack asks for a new block id whenever a message changes, so the id contains the version. */
function blockId({ approval: { version }, state }: Card): string {
  return `${CARD_STATE_BLOCK}${state.name}:v${version}`;
}

/** The text that a phone's lock screen shows. */
function notificationText({ run, approval, state, marks, deployment }: Card): string {
  const asked = askedIn(approval.request);
  const name = deployment.name === "" ? "" : `${deployment.name} · `;
  // A lock screen has room for little before the action. The card says the rest.
  const title = state.title.replace(/ by the service.*$/, "");
  if (!state.open) return escaped(`${name}${title}: ${asked}`);
  const risk = marks.risk === null ? "" : `${riskWords(marks.risk)}: `;
  return `${escaped(`${name}${risk}${asked}`)}, ${run.origin === "started" ? "asked" : "watched"} by <@${run.requester}>`;
}

function waitingBlocks(card: Card): Block[] {
  const { run, approval, state } = card;
  const above = [
    ...askedBlocks(card),
    ...pastBlocks(approval),
    ...disputeBlocks(approval),
    ...precedentBlocks(precedentsOf(approval)),
  ];
  const below = [
    ...followUpBlocks(approval),
    ...(state.open ? brakeBlocks(run) : []),
    ...(state.text === "" ? [] : [rich(line(span(state.text)))]),
    ...buttons(card),
    ...(state.open ? followUpActions(approval) : []),
    runNote(
      runId(run) ?? "",
      card.deployment,
      "The request above is written by the agent, not checked by Countersign",
    ),
  ];
  const chars = MESSAGE_CHARS - countedLength([...above, ...below]);
  return [...above, ...ruleBlocks(run, approval, { chars, details: detailsLabel(card) }), ...below];
}

/** The title, what is asked, and what changed in it. */
function askedBlocks(card: Card): Block[] {
  const { run, approval, state } = card;
  const { title, whole } = titleOf(card);
  const { blocks, secrets, id } = cardRequest(run, approval, card.marks, whole);
  const second = line(
    span(state.title, { bold: true }),
    ...marksElements(card),
    span(" · "),
    moment(approval.seenAt),
  );
  return [
    header(title),
    partWithId(id, rich(second)),
    ...changeBlocks(card),
    ...blocks,
    ...(repeatsId(run.approvals, approval) ? [partWithId("reused", rich(line(span(REUSED))))] : []),
    ...maskedRemark(secrets, state.open ? WHO_SEES_MASKED : ""),
  ];
}

/** For example "🟧 PROD · High risk: Deploy billing-api to production". `whole` is true if the title contains the whole action. */
function titleOf({ approval, marks, deployment }: Card): { title: string; whole: boolean } {
  const names = [
    ...(deployment.name === "" ? [] : [deployment.name]),
    ...(marks.risk === null ? [] : [riskWords(marks.risk)]),
  ];
  const mark = marks.risk === null ? "" : `${riskMark(marks.risk)} `;
  // The service's words never come first, because they could pass for ours.
  const before = `${mark}${names.length === 0 ? "Request" : names.join(" · ")}: `;
  const { text, whole } = headline(approval.request, HEADER_CHARS - before.length);
  return { title: `${before}${text}`, whole };
}

/** The risk, the places and the requester, separated by dots. */
function marksElements({ run, marks }: Card): RichTextElement[] {
  const risk = riskForDeciders(marks);
  return [
    span(" · "),
    // Only the first letter is ours. What follows may quote the service.
    untrustedSpan(`${risk.charAt(0).toLowerCase()}${risk.slice(1)}`, DRAWN_MARK_CHARS),
    ...placesAfter(marks),
    span(run.origin === "started" ? " · asked by " : " · watched by "),
    person(run.requester),
  ];
}

function changeBlocks({
  approval: { version, requestVersion, changes = [], moreChanges = 0, onlyContextChanged },
  state,
}: Card): Block[] {
  if (!state.open || version === 1) return [];
  if (onlyContextChanged) return [partWithId("context-changed", rich(line(span(CONTEXT_CHANGED))))];
  if (changes.length === 0 || version !== requestVersion) return [];
  const lines = changes.flatMap(({ name, was, is }) => [
    ...(was === null ? [] : [`− ${name}: ${indented(was)}`]),
    ...(is === null ? [] : [`+ ${name}: ${indented(is)}`]),
  ]);
  return [
    rich(
      line(span("Changed since last shown:", { bold: true })),
      ...drawnBoxes(lines.join("\n")),
      ...(moreChanges === 0 ? [] : [line(span(moreChanged(moreChanges), { bold: true }))]),
    ),
  ];
}

function moreChanged(fields: number): string {
  const what = fields === 1 ? "1 more field" : `${count(fields)} more fields`;
  return `${what} changed, not listed here. Read the whole request.`;
}

const REUSED =
  "This is a new request. The service gave it the id of an earlier request of this run; the decision on that one does not count here.";

const CONTEXT_CHANGED =
  "The request is the same, but what the service says about its run has changed. Details shows it, and so does the form.";

/** Who decided what and why, then what was asked. */
function foldedBlocks(card: Card): Block[] {
  const { approval, state } = card;
  const { decision, answered } = state;
  return [
    rich(
      decision === null ? line(span(state.title, { bold: true })) : decidedLine(state, decision),
      ...(decision === null ? [] : earlierVotes(decision).map(voteLine)),
      ...(answered === null ? [] : [answerLine(answered)]),
    ),
    ...disputeBlocks(approval),
    ...stateBlocks(state),
    ...pastBlocks(approval),
    askedBlock(card),
    ...buttons(card),
  ];
}

function stateBlocks({ text, held, cause }: CardState): Block[] {
  const until = held === null ? [] : onHold(held.until);
  if (text === CONFIRMED || text === "") return [];
  const block = rich(line(...until, span(text)));
  return [cause === null ? block : partWithId(`cause:${cause}`, block)];
}

const onHold = (until: number | null): RichTextElement[] =>
  until === null
    ? [span("On hold, and the hold is paused while Slack can't be reached. ")]
    : [span("On hold until "), clock(until), span(". ")];

/** What was asked. The block's id contains the head of the audit, so that someone with access to only the database cannot change it. */
function askedBlock(card: Card): Block {
  const { request, audited } = card.approval;
  const block = rich(quote(span(askedIn(request))), askedLine(card, card.state.decision));
  return audited === undefined
    ? block
    : { ...block, block_id: `audit:${audited.seq}:${audited.link.slice(0, 16)}` };
}

function decidedLine({ title, name }: CardState, decision: Decision) {
  const separator = name === "approved" || name === "denied" ? " by " : " · ";
  return line(span(title, { bold: true }), span(separator), who(decision), ...reasonOf(decision));
}

/** The line of one person's approval among several. */
function voteLine(vote: Decision) {
  return line(span("☑️ Also approved by "), who(vote), ...reasonOf(vote));
}

function reasonOf({ by, reason }: Decision): RichTextElement[] {
  const said = by === null && reason.startsWith(BY_POLICY) ? reason.slice(BY_POLICY.length) : reason;
  return said === "" ? [] : [span(": "), untrustedSpan(said.replace(/\s+/g, " "), REASON_ON_CARD_CHARS)];
}

/** The risk, the places and the time, which fit on one line of a phone. The run's opening and Details name the requester. */
function askedLine({ marks, approval, deployment }: Card, decision: Decision | null) {
  return line(
    ...(deployment.name === "" ? [] : [span(`${deployment.name} · `)]),
    ...(marks.risk === null ? [] : [untrustedSpan(riskWords(marks.risk), DRAWN_MARK_CHARS), span(" · ")]),
    ...placesBefore(marks),
    span(decision === null ? "asked " : "decided "),
    moment(decision?.at ?? approval.seenAt),
  );
}

/** Draws the answer as code, so that a quotation mark in it cannot end the quotation. */
function answerLine(answered: string): ReturnType<typeof line> {
  return line(
    span('The service answered: "'),
    untrustedSpan(answered, ANSWER_ON_CARD_CHARS, { code: true }),
    span('"'),
  );
}

/**
 * Approve, Deny and Stop while the approval can be decided, Undo and Deny while it is on hold, and Details unless the file is on its way.
 */
function buttons(card: Card): Block[] {
  const { run, approval, state } = card;
  const { nonce, appliedRule } = approval;
  const button = buttonsOf(approval);
  const decide = state.open ? decideButtons(approval, state.onlyDeny === true) : [];
  const undo = state.held === null ? [] : [button(CARD_UNDO, "Undo"), denyButton(approval)];
  const label = detailsLabel(card);
  const details = label === null ? [] : [button(CARD_READ, label)];
  const stop = state.open ? [stopButton(run)].filter((found) => found !== null) : [];
  const mustRead = state.open && appliedRule.rule.friction.readFirst;
  const elements = [...(mustRead ? details : []), ...decide, ...undo, ...(mustRead ? [] : details), ...stop];
  // Each version has its own block id, so a click on an outdated copy in Slack's client can be recognized.
  const block_id = stop.length === 0 ? `decide-${nonce}` : idAfterStop(`decide-${nonce}`, run);
  return elements.length === 0 ? [] : [{ type: "actions", block_id, elements } as Block];
}

/** The label of the button that shows the request, as much of it as fits, and every decision on it. Null while the file of the request is on its way. */
function detailsLabel({ run, approval, state }: Card): "Details" | "Read in full" | null {
  const { request, appliedRule } = approval;
  if (needsFile(request) && requestFileState(run, approval) === "coming") return null;
  const { readFirst } = appliedRule.rule.friction;
  const inFull = state.open && !needsFile(request) && (readFirst || !fitsCard(request));
  return inFull ? "Read in full" : "Details";
}
