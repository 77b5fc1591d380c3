// The parts that the forms share: the request, the consequences of a decision, and the input fields.

import type { Block, RichTextBlock, RichTextElement, RichTextSection } from "@slack/types";
import { allVotes } from "../../../domain/approval-transitions.ts";
import type { Approval, Request, Verdict } from "../../../domain/approval.ts";
import { MAX_REASON_CHARS } from "../../../domain/authorization.ts";
import { BUILT_IN_RULE, type KeptRule } from "../../../domain/policy/policy.ts";
import type { Upload } from "../../../domain/posted-message.ts";
import { requestFileName, shortDigest } from "../../../domain/request-file.ts";
import { contextBehind } from "../../../domain/run-context.ts";
import { type Run, runId } from "../../../domain/run.ts";
import { requestSlot } from "../../../domain/slot.ts";
import { cardMarks } from "../../../domain/text/card-layout.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { FORM_ROOM } from "../../../domain/text/request-layout.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import {
  PRESET_BLOCK,
  PRESET_SELECT,
  REASON_BLOCK,
  REASON_INPUT,
  type REVIEW_PRESET_SELECT,
  WORD_BLOCK,
  WORD_INPUT,
} from "../names.ts";
import { type Deployment, runNote } from "./deployment.ts";
import { questionBlocks } from "./follow-up-lines.ts";
import { partWithId } from "./message-id.ts";
import { deadlineLine, missingInWords } from "./waiting-lines.ts";
import { placesAfter, riskForDeciders, riskMark, voteLines } from "./pending-card.ts";
import {
  approvalOf,
  fitsCard,
  fitsModal,
  requestOverview,
  shownFileState,
  wholeRequest,
} from "./request-blocks.ts";
import { count, duration, line, person, plain, rich, span, untrustedSpan } from "./rich.ts";

/** The room for the overview above a whole request. */
const FIRST_ROOM = { chars: 1_800, most: 4_000 };
/** Says where the whole of a request is that does not fit a form. */
function whereIsWhole(run: Run, request: Request): string {
  const name = requestFileName(request);
  return {
    coming: `The whole request is being attached to the run's thread as a file: ${name}.`,
    there: `The whole request is attached to the run's thread as a file: ${name}.`,
    refused: "The service has the whole request.",
  }[shownFileState(run, request)];
}

/** The deployment, the risk and the places, as on the card. */
export function marksLine(run: Run, request: Request, deployment: Deployment) {
  const names = approvalOf(run, request)?.appliedRule.card;
  const marks = cardMarks(request, contextBehind(run.context, request), names);
  const words = [...(deployment.name === "" ? [] : [deployment.name]), riskForDeciders(marks)];
  const mark = marks.risk === null ? [] : [span(`${riskMark(marks.risk)} `)];
  return [line(...mark, untrustedSpan(words.join(" · "), 120, { bold: true }), ...placesAfter(marks))];
}

export function askedBy(run: Run) {
  return line(span(run.origin === "started" ? "Asked by " : "Watched by "), person(run.requester));
}

/** Completes "a request": whose run it is from. */
export const fromRun = ({ origin, requester }: Run): readonly RichTextElement[] =>
  origin === "started"
    ? [span(" from "), person(requester), span("'s run")]
    : [span(" from a run that "), person(requester), span(" watches")];

/** The whole request. A long request starts with an overview of all its fields, so that no field goes unnoticed. */
export function requestBlocks(run: Run, request: Request, as: Drawing): Block[] {
  if (!fitsModal(request)) return [requestOverview(request, FORM_ROOM, whereIsWhole(run, request), as).block];
  if (fitsCard(request)) return [wholeRequest(request, as)];
  const { block } = requestOverview(request, FIRST_ROOM, "The whole request is below.", as);
  return [block, rich(line(span("The whole request:", { bold: true }))), wholeRequest(request, as)];
}

const PARTS_CHARS = 300;

/** Says what follows this approval: more approvals, a hold, or the action itself. */
export function consequenceWords(run: Run, request: Request): string {
  const approval = approvalOf(run, request);
  const { needs, holdMs } = approval?.appliedRule.rule ?? BUILT_IN_RULE;
  const left = needs - (approval?.votes.length ?? 0) - 1;
  const missing = approval === undefined ? "" : missingInWords(approval, approval.appliedRule.rule);
  const thenHeld = holdMs > 0 ? ` After that, the approval is held for ${duration(holdMs)}.` : "";
  if (left > 0 && missing !== "")
    return `Approvals are missing from ${oneLine(missing, PARTS_CHARS)}. Yours counts for one of them, and ${count(left)} more must follow before anything is sent.${thenHeld}`;
  if (left > 0)
    return `${count(left)} more ${left === 1 ? "person" : "people"} must approve it before anything is sent.${thenHeld}`;
  if (holdMs > 0)
    return `Your approval is held for ${duration(holdMs)}, and you can undo it during that time. After that, the agent can carry the request out.`;
  return "The agent can then carry it out.";
}

export function ifApproved(run: Run, request: Request): string {
  const words = consequenceWords(run, request);
  return `If you approve: ${words.charAt(0).toLowerCase()}${words.slice(1)}`;
}

/** Says what follows this denial. It is never held, and a freeze does not hold it back. */
export function denialWords(run: Run, request: Request): string {
  const approval = approvalOf(run, request);
  const given = approval === undefined ? 0 : approvalsGiven(approval);
  const overruled = given === 1 ? "the approval" : `the ${count(given)} approvals`;
  const overrules = given === 0 ? "" : ` It overrules ${overruled} given so far.`;
  return `You can't undo this. The denial is sent at once, or as soon as the service can take it.${overrules}`;
}

/** Counts the approvals that a denial would overrule. */
const approvalsGiven = ({ state, votes }: Approval): number =>
  state.type === "decided" && state.delivery.type === "held" ? allVotes(state.decision).length : votes.length;

/** Says what follows each verdict, for a form in which the person chooses one. */
export function ifDecided(run: Run, request: Request): string {
  const denial = denialWords(run, request);
  return `${ifApproved(run, request)} If you deny: ${denial.charAt(0).toLowerCase()}${denial.slice(1)}`;
}

/** Who has approved the request so far, and why. */
export function votesSoFar(run: Run, request: Request): RichTextBlock[] {
  const approval = approvalOf(run, request);
  if (approval === undefined || approval.votes.length === 0) return [];
  const progress = `${approval.votes.length}-of-${approval.appliedRule.rule.needs}` as const;
  return [partWithId(`votes:${progress}`, rich(...approval.votes.flatMap((vote) => voteLines(vote))))];
}

/** The card's line about the deadline, if the request has one. */
export function deadlinePart(run: Run, request: Request): readonly RichTextSection[] {
  const approval = approvalOf(run, request);
  return approval === undefined ? [] : deadlineLine(approval);
}

/** A question to the requester, with its answer if there is one. */
export function questionPart(run: Run, request: Request): RichTextBlock[] {
  const approval = approvalOf(run, request);
  return approval === undefined ? [] : questionBlocks(approval);
}

/** The ids of the run, the approval and the request. They help people look the request up elsewhere; a decision does not need them. */
export function idsNote(run: Run, request: Request, deployment: Deployment): Block {
  const approval = approvalOf(run, request);
  return runNote(
    runId(run) ?? "",
    deployment,
    ...(approval === undefined ? [] : [`Approval ${oneLine(approval.serviceId, 60)}`]),
    `Request ${shortDigest(request)}`,
  );
}

export function uploadOf(run: Run, request: Request): Upload | undefined {
  const approval = approvalOf(run, request);
  return approval === undefined ? undefined : run.uploads[requestSlot(approval)];
}

export function ruleOver(run: Run, request: Request): KeptRule {
  return approvalOf(run, request)?.appliedRule.rule ?? BUILT_IN_RULE;
}

// The input fields: the menu of offered reasons, the reason, and the word that a rule requires people to type.

/** The text that a chosen preset puts into the field, and the id of the field's block. */
export type FilledReason = { readonly block: string; readonly text: string };

export const EMPTY_REASON: FilledReason = { block: REASON_BLOCK, text: "" };

/** Slack's limit for the options of a menu. */
const MAX_PRESETS = 100;

/** Returns the reasons that a form can offer, each once. */
export const presetsOf = (reasons: readonly string[]): readonly string[] =>
  [...new Set(reasons)].slice(0, MAX_PRESETS);

/** The menu of the reasons that the form offers, at most 100. Returns no block if there are none. */
export function presetMenu(
  reasons: readonly string[],
  action_id: typeof PRESET_SELECT | typeof REVIEW_PRESET_SELECT = PRESET_SELECT,
): Block[] {
  if (reasons.length === 0) return [];
  // Not its number: the policy may have other reasons when one is chosen. The policy file allows 75 characters, and Slack 150.
  const options = reasons.map((text) => ({ text: plain(text), value: text }));
  const menu = {
    type: "static_select",
    action_id,
    placeholder: plain("Choose a reason, or type one"),
    options,
  };
  return [{ type: "actions", block_id: PRESET_BLOCK, elements: [menu] } as Block];
}

export function reasonInput(verdict: Verdict, rule: KeptRule, { block, text }: FilledReason): Block {
  const fewest = rule.reason[verdict];
  const needed = verdict === "approve" ? "Required to approve" : "Required to deny";
  const length = fewest > 1 ? `, at least ${count(fewest)} characters` : "";
  const who = "The service gets it, and everyone in the channel sees it.";
  return {
    type: "input",
    block_id: block,
    optional: fewest === 0,
    label: plain("Reason"),
    hint: plain(fewest === 0 ? who : `${needed}${length}. ${who}`),
    element: {
      type: "plain_text_input",
      action_id: REASON_INPUT,
      multiline: true,
      max_length: MAX_REASON_CHARS,
      ...(text === "" ? {} : { initial_value: text }),
    },
  } as Block;
}

/** Leaves room for typing mistakes. If several rules apply, there is room for all their words, up to Slack's limit. */
const roomFor = ({ length }: string): number => Math.min(Math.max(200, length), 3_000);

export function wordInput(verdict: Verdict, { friction }: KeptRule): Block[] {
  if (verdict === "deny" || friction.word === null) return [];
  const block = {
    type: "input",
    block_id: WORD_BLOCK,
    label: plain(`Type "${friction.word}" to approve`),
    element: {
      type: "plain_text_input",
      action_id: WORD_INPUT,
      max_length: roomFor(friction.word),
    },
  };
  return [block];
}
