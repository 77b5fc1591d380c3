// The forms behind Review, for one request or several. Each request has a choice between Approve and Deny, and neither is preselected. In a
// form with several requests, each one is left as it is until the person chooses.

import type { Block, View } from "@slack/types";
import type { Verdict } from "../../../domain/approval.ts";
import { MAX_REASON_CHARS } from "../../../domain/authorization.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";
import type { QueueItem } from "../../../domain/queue.ts";
import type { Run } from "../../../domain/run.ts";
import { precedentsOf } from "../../../domain/same-request.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import type { OpenedReview } from "../../../usecases/review.ts";
import {
  APPROVE_REASON_BLOCK,
  DECISION_MODAL,
  DENY_REASON_BLOCK,
  REASON_BLOCK,
  REASON_INPUT,
  REVIEW_BLOCK,
  REVIEW_MODAL,
  REVIEW_PRESET_SELECT,
  VERDICT_BLOCK,
  VERDICT_INPUT,
} from "../names.ts";
import { reviewMetadata } from "../review-metadata.ts";
import { type FormFacts, formView } from "./decision-modal.ts";
import { type Deployment, UNNAMED } from "./deployment.ts";
import {
  deadlinePart,
  type FilledReason,
  fromRun,
  idsNote,
  ifApproved,
  ifDecided,
  marksLine,
  presetMenu,
  presetsOf,
  requestBlocks,
  ruleOver,
  uploadOf,
  questionPart,
  votesSoFar,
  wordInput,
} from "./form-parts.ts";
import { withId } from "./message-id.ts";
import { precedentBlocks, precedentLines } from "./card-history.ts";
import { maskedInFile, runDetails, wholeRequest } from "./request-blocks.ts";
import { count, line, note, plain, quote, rich, span } from "./rich.ts";

export type ReviewFacts = FormFacts & { readonly choice?: true };

/** The window of a stored form, with the choice of a verdict if the form has one. */
export function reviewView(
  { run, ticket }: { readonly run: Run; readonly ticket: ReviewFacts },
  deployment: Deployment = UNNAMED,
): View {
  if (ticket.reading === true || ticket.choice !== true) return formView({ run, ticket }, deployment);
  return reviewModal(run, ticket, deployment);
}

/** The form for one request. It carries only the nonce. */
function reviewModal(
  run: Run,
  { saw: request, nonce, precedents }: ReviewFacts,
  deployment: Deployment,
): View {
  const rule = ruleOver(run, request);
  return withId("form:review", {
    type: "modal",
    callback_id: DECISION_MODAL,
    private_metadata: nonce,
    title: plain("Review request"),
    submit: plain("Record decision"),
    close: plain("Cancel"),
    blocks: [
      rich(
        ...marksLine(run, request, deployment),
        line(span("A request"), ...fromRun(run), span(`. ${ifDecided(run, request)}`)),
        ...deadlinePart(run, request),
      ),
      ...votesSoFar(run, request),
      ...questionPart(run, request),
      ...requestBlocks(run, request, "open"),
      ...runDetails(run, request, "open"),
      ...precedentBlocks(precedents),
      ...maskedInFile(uploadOf(run, request)),
      idsNote(run, request, deployment),
      verdictInput(VERDICT_BLOCK, "Decision", VERDICTS),
      reasonInput(REASON_BLOCK, "Reason", `${neededFor(rule)}${WHO_SEES}`),
      ...wordInput("approve", rule).map((block) => ({ ...block, optional: true })),
    ],
  });
}

const WHO_SEES = "The service gets it, and everyone in the channel sees it.";

function neededFor({ reason }: KeptRule): string {
  const part = (verdict: Verdict): string[] =>
    reason[verdict] === 0
      ? []
      : [`to ${verdict}${reason[verdict] > 1 ? ` (at least ${count(reason[verdict])} characters)` : ""}`];
  const parts = [...part("approve"), ...part("deny")];
  return parts.length === 0 ? "" : `Required ${parts.join(" and ")}. `;
}

type Option = { readonly value: string; readonly text: object };
const option = (value: string, text: string): Option => ({ value, text: plain(text) });
const VERDICTS = [option("approve", "Approve"), option("deny", "Deny")];
const LEAVE = option("leave", "Leave");

function verdictInput(block_id: string, label: string, options: readonly Option[], initial?: Option): Block {
  const element = {
    type: "radio_buttons",
    action_id: VERDICT_INPUT,
    options,
    ...(initial === undefined ? {} : { initial_option: initial }),
  };
  return { type: "input", block_id, label: plain(label), element } as Block;
}

function reasonInput(block_id: string, label: string, hint: string, text = ""): Block {
  const element = {
    type: "plain_text_input",
    action_id: REASON_INPUT,
    multiline: true,
    max_length: MAX_REASON_CHARS,
    ...(text === "" ? {} : { initial_value: text }),
  };
  return {
    type: "input",
    block_id,
    optional: true,
    label: plain(label),
    hint: plain(hint),
    element,
  } as Block;
}

// Several requests in one form.

export const TITLE_CHARS = 100;
/** The most requests that are listed by name in addition to those in the form. */
const MAX_NAMED = 10;

/** A request that is not part of the form. `link` leads to its card, and is null if Slack gave none. */
export type Apart = { readonly item: QueueItem; readonly link: string | null };

/** The reasons for a denial that the form offers, in the order of its menu. They come from the rules of its requests. */
export function presetsOfSeveral({ forms }: OpenedReview): readonly string[] {
  return presetsOf(forms.flatMap(({ item }) => item.rule.denyReasons));
}

const EMPTY_DENIAL: FilledReason = { block: DENY_REASON_BLOCK, text: "" };

/** `apart` are the listed requests that have to be decided in their own form. */
export function reviewSeveralModal(
  opened: OpenedReview,
  apart: readonly Apart[],
  denial: FilledReason = EMPTY_DENIAL,
): View {
  const { forms, later } = opened;
  const rules = forms.map(({ item }) => item.rule);
  const fewest = (verdict: Verdict): number => Math.max(0, ...rules.map(({ reason }) => reason[verdict]));
  const decidable: Block[] = [
    reasonInput(APPROVE_REASON_BLOCK, "Reason for approving", hintFor("approve", fewest("approve"))),
    ...presetMenu(presetsOfSeveral(opened), REVIEW_PRESET_SELECT),
    reasonInput(denial.block, "Reason for denying", hintFor("deny", fewest("deny")), denial.text),
  ];
  return withId("form:review-several", {
    type: "modal",
    callback_id: REVIEW_MODAL,
    private_metadata: reviewMetadata(opened),
    title: plain("Review together"),
    ...(forms.length === 0 ? {} : { submit: plain("Record decisions") }),
    close: plain(forms.length === 0 ? "Close" : "Cancel"),
    blocks: [
      rich(line(span(introOf(forms.length)))),
      ...forms.flatMap((form, at) => requestPart(form, at, forms[at - 1])),
      ...(forms.length === 0 ? [] : [{ type: "divider" } as Block, ...decidable]),
      ...apartPart(apart, opened.apart.length),
      ...(later.length === 0
        ? []
        : [note(`${count(later.length)} more did not fit in this form. ${TO_THE_NEXT}`)]),
    ],
  });
}

const TO_THE_NEXT = "To review them next, press Record decisions, even if you decide none of these.";

function introOf(requests: number): string {
  if (requests === 0) return "None of these can be decided together.";
  if (requests === 1)
    return `The request is shown in full. If you don't decide it, it stays open. ${NOT_UNDONE}`;
  return `The ${count(requests)} requests are shown in full. Anything you don't decide stays open. ${NOT_UNDONE}`;
}

const NOT_UNDONE = "You can't undo a denial.";

function hintFor(verdict: Verdict, fewest: number): string {
  const length = fewest > 1 ? `, at least ${count(fewest)} characters` : "";
  const required = fewest === 0 ? "" : `Required to ${verdict}${length}. `;
  return `${required}It goes with each request that you ${verdict} here. ${WHO_SEES}`;
}

type Form = OpenedReview["forms"][number];

/** One request of the form. The run's own fields are shown only once if consecutive requests share them. */
function requestPart({ item, nonce }: Form, at: number, before: Form | undefined): Block[] {
  const { run, approval } = item;
  const { request } = approval;
  const asked = askedIn(request, TITLE_CHARS);
  const isSameRun =
    before !== undefined &&
    before.item.run.key === run.key &&
    before.item.approval.request.context === request.context;
  return [
    { type: "divider" },
    rich(
      line(
        span(`Request ${count(at + 1)}`, { bold: true }),
        ...fromRun(run),
        span(`. ${ifApproved(run, request)}`),
      ),
      ...deadlinePart(run, request),
      ...marksLine(run, request, UNNAMED),
      ...[...votesSoFar(run, request), ...questionPart(run, request)].flatMap(({ elements }) => elements),
      ...wholeRequest(request, "open").elements,
      ...precedentLines(precedentsOf(approval)),
    ),
    ...(isSameRun ? [] : runDetails(run, request, "open")),
    verdictInput(`${REVIEW_BLOCK}${nonce}`, `${count(at + 1)}. ${asked}`, [LEAVE, ...VERDICTS], LEAVE),
  ];
}

function apartPart(apart: readonly Apart[], total: number): Block[] {
  if (total === 0) return [];
  const shown = apart.slice(0, MAX_NAMED);
  const braked = shown.filter(({ item }) => isBraked(item));
  const others = shown.filter(({ item }) => !isBraked(item));
  const more = total - shown.length;
  return [
    ...apartList("Decide these one by one, with Review or on their cards:", others),
    ...apartList("Frozen or stopped. You can only deny these, on their cards:", braked),
    ...(more > 0 ? [note(`… and ${count(more)} more that can't be decided in this form`)] : []),
  ];
}

const isBraked = ({ refusal }: QueueItem): boolean =>
  refusal?.type === "frozen" || refusal?.type === "stopped";

function apartList(heading: string, apart: readonly Apart[]): Block[] {
  if (apart.length === 0) return [];
  const lines = apart.map(({ item, link }) =>
    quote(
      span(askedIn(item.approval.request, TITLE_CHARS)),
      ...(link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: "open the card" }]),
    ),
  );
  return [rich(line(span(heading, { bold: true })), ...lines)];
}
