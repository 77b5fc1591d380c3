// The windows about one request: the form for a decision, the windows for reading, and the windows that follow a submit.

import type { Block, View } from "@slack/types";
import type { Approval, Request, Verdict } from "../../../domain/approval.ts";
import type { Refusal } from "../../../domain/authorization.ts";
import { holdEnd } from "../../../domain/hold.ts";
import type { Nonce, UserId } from "../../../domain/ids.ts";
import type { Precedents } from "../../../domain/precedent.ts";
import { requestFileName } from "../../../domain/request-file.ts";
import { contextBehind, secretsInContext } from "../../../domain/run-context.ts";
import type { Run } from "../../../domain/run.ts";
import { HEADLINE_CHARS, askedIn } from "../../../domain/text/headline.ts";
import { DECISION_MODAL, READING_MODAL, WINDOW_UNDO } from "../names.ts";
import { auditNote, disputeBlocks, historyBlocks, precedentBlocks } from "./card-history.ts";
import { type Deployment, UNNAMED } from "./deployment.ts";
import {
  consequenceWords,
  askedBy,
  deadlinePart,
  denialWords,
  EMPTY_REASON,
  type FilledReason,
  fromRun,
  idsNote,
  marksLine,
  presetMenu,
  presetsOf,
  reasonInput,
  requestBlocks,
  ruleOver,
  questionPart,
  uploadOf,
  votesSoFar,
  wordInput,
} from "./form-parts.ts";
import { allQuestionBlocks } from "./follow-up-lines.ts";
import { type MessageId, textSection, withId } from "./message-id.ts";
import { refusalTitle, refusalWords } from "./refusal-words.ts";
import {
  approvalOf,
  difference,
  fitsModal,
  maskedInFile,
  maskedRemark,
  requestOverview,
  runDetails,
  secretsInWhole,
  WHO_SEES_MASKED,
  wholeRequest,
} from "./request-blocks.ts";
import { clock, line, plain, rich, span, untrustedSpan, VIEW_BYTES } from "./rich.ts";

/** The room for a request that has been replaced by a newer version. */
const WAS_CHARS = 5_000;
const WAS_ROOM = { chars: 3_000, most: WAS_CHARS };

/** The window of a stored form. */
export function formView(
  { run, ticket }: { readonly run: Run; readonly ticket: FormFacts },
  deployment: Deployment = UNNAMED,
  filled: FilledReason = EMPTY_REASON,
): View {
  if (ticket.reading === true) return readFirstModal(run, ticket, deployment);
  return decisionModal(run, ticket, deployment, filled);
}

export type FormFacts = {
  readonly saw: Request;
  readonly verdict: Verdict;
  readonly nonce: Nonce;
  readonly reading?: true;
  readonly precedents?: Precedents;
};

/** Shows the whole request and asks for the reason. The form carries only the nonce. */
function decisionModal(
  run: Run,
  { saw: request, verdict, nonce, precedents }: FormFacts,
  deployment: Deployment,
  filled: FilledReason,
): View {
  const approves = verdict === "approve";
  const rule = ruleOver(run, request);
  const then = approves ? consequenceWords(run, request) : denialWords(run, request);
  return withId(`form:${verdict}`, {
    type: "modal",
    callback_id: DECISION_MODAL,
    private_metadata: nonce,
    title: plain(approves ? "Approve request" : "Deny request"),
    submit: plain(approves ? "Approve" : "Deny"),
    close: plain("Cancel"),
    blocks: [
      rich(
        ...marksLine(run, request, deployment),
        line(
          span(`You are ${approves ? "approving" : "denying"} a request`),
          ...fromRun(run),
          span(`. ${then}`),
        ),
        ...deadlinePart(run, request),
      ),
      ...votesSoFar(run, request),
      ...questionPart(run, request),
      ...requestBlocks(run, request, "open"),
      ...runDetails(run, request, "open"),
      ...precedentBlocks(precedents),
      ...maskedInFile(uploadOf(run, request)),
      idsNote(run, request, deployment),
      ...presetMenu(presetsFor({ run, ticket: { saw: request, verdict, nonce } })),
      reasonInput(verdict, rule, filled),
      ...wordInput(verdict, rule),
    ],
  });
}

/** The reasons that the form offers, in the order of its menu. */
export function presetsFor({
  run,
  ticket: { saw, verdict, reading },
}: {
  readonly run: Run;
  readonly ticket: FormFacts;
}): readonly string[] {
  return verdict === "deny" && reading !== true ? presetsOf(ruleOver(run, saw).denyReasons) : [];
}

/** The room for each reason, question and answer in Details if the window would be too large for Slack with all of them. */
const LESS_CHARS = [3_000, 1_000, 300];

/** The request, for reading only. Everyone in the channel may open it, so secrets are masked as they are in the channel. */
export function readModal(run: Run, request: Request, deployment: Deployment = UNNAMED): View {
  const draw = (chars: number): View => readView(run, request, deployment, chars);
  return LESS_CHARS.reduce((view, chars) => (fitsSlack(view) ? view : draw(chars)), draw(Infinity));
}

const fitsSlack = (view: View): boolean => Buffer.byteLength(JSON.stringify(view)) <= VIEW_BYTES;

const NOT_WHOLE =
  "Some of what people wrote is too long for this window. The audit of the run has all of it.";

function readView(run: Run, request: Request, deployment: Deployment, chars: number): View {
  const approval = approvalOf(run, request);
  return withId("form:read", {
    type: "modal",
    title: plain(fitsModal(request) ? "Full request" : "Shortened request"),
    close: plain("Close"),
    blocks: [
      ...(approval === undefined
        ? []
        : [
            ...historyBlocks(run, approval, chars),
            ...allQuestionBlocks(approval, chars),
            ...(chars === Infinity ? [] : [rich(line(span(NOT_WHOLE)))]),
            ...disputeBlocks(approval),
          ]),
      rich(...marksLine(run, request, deployment), askedBy(run), ...deadlinePart(run, request)),
      ...requestBlocks(run, request, "masked"),
      ...runDetails(run, request, "masked"),
      ...maskedRemark(secretsShown(run, request), WHO_SEES_MASKED),
      approval === undefined ? idsNote(run, request, deployment) : auditNote(run, approval, deployment),
    ],
  });
}

/** Returns 0 for a request that is attached as a file: only a part of it is drawn, and its secrets are not counted. */
function secretsShown(run: Run, request: Request): number {
  if (!fitsModal(request)) return 0;
  const context = contextBehind(run.context, request);
  const around = context === null ? 0 : secretsInContext(context).length;
  return secretsInWhole(request) + around;
}

const toRead = (request: Request): string =>
  fitsModal(request) ? "Read the whole request" : `Read ${requestFileName(request)} in the run's thread`;

/** For a person who may decide, if the rule requires reading the request first. Continue opens the form. */
function readFirstModal(run: Run, { saw: request, nonce }: FormFacts, deployment: Deployment): View {
  return withId("form:read-first", {
    type: "modal",
    callback_id: READING_MODAL,
    private_metadata: nonce,
    title: plain("Read before you approve"),
    submit: plain("Continue"),
    close: plain("Cancel"),
    blocks: [
      rich(
        ...marksLine(run, request, deployment),
        line(span(`${toRead(request)}, then press Continue. Nothing is approved yet.`)),
        askedBy(run),
        ...deadlinePart(run, request),
      ),
      ...questionPart(run, request),
      ...requestBlocks(run, request, "open"),
      ...runDetails(run, request, "open"),
      ...maskedInFile(uploadOf(run, request)),
      idsNote(run, request, deployment),
    ],
  });
}

/** Answers a submit whose request has changed since the form opened. Shows the old and the new request, and has no submit button. */
export function changedModal(
  run: Run,
  was: Request | null,
  is: Request,
  deployment: Deployment = UNNAMED,
): View {
  const before =
    was === null
      ? []
      : [
          rich(line(span("What you were shown:", { bold: true }))),
          was.chars <= WAS_CHARS
            ? wholeRequest(was, "open")
            : requestOverview(was, WAS_ROOM, "It is no longer valid.", "open").block,
        ];
  return withId("form:changed", {
    type: "modal",
    title: plain("The request changed"),
    close: plain("Close"),
    blocks: [
      rich(
        line(
          span("Nothing was sent. ", { bold: true }),
          span("The request changed after you opened it. Its card shows the current version; decide there."),
        ),
      ),
      rich(askedBy(run)),
      ...difference(run, was, is),
      rich(line(span("The request now:", { bold: true }))),
      ...requestBlocks(run, is, "open"),
      ...runDetails(run, is, "open"),
      idsNote(run, is, deployment),
      ...before,
    ],
  });
}

/** Shows a short message, such as a refusal and its reason. Slack reads markup in `text`, so pass only our own words and escaped text. */
export function messageModal(heading: string, text: string, id: MessageId): View {
  return {
    type: "modal",
    title: plain(heading),
    close: plain("Close"),
    blocks: [textSection(id, text)],
  };
}

export const refusalModal = (refusal: Refusal, asker: UserId): View =>
  messageModal(refusalTitle(refusal), refusalWords(refusal, asker), `refusal:${refusal.type}`);

// The window after an approval that the rule holds. It shows the end of the hold, and Undo. Nothing changes an open window when the approval
// leaves or is denied, so its words must stay true.

/**
 * Returns null if the approval is not on hold. `nonce` is that of the submitted form: only the person who submitted it can use the button.
 */
export function heldModal(
  run: Run,
  approval: Approval,
  nonce: Nonce,
  deployment: Deployment = UNNAMED,
): View | null {
  const { request } = approval;
  const hold = holdEnd(approval);
  if (hold === null) return null;
  return withId("form:held", {
    type: "modal" as const,
    title: plain("Approved, not sent yet"),
    close: plain("Close"),
    blocks: [
      rich(...marksLine(run, request, deployment), line(untrustedSpan(askedIn(request), HEADLINE_CHARS))),
      rich(
        line(
          span("Your approval is recorded. It is sent "),
          ...(hold.until === null
            ? [span("after its hold, which is paused while Slack can't be reached,")]
            : [span("at "), clock(hold.until)]),
          span(
            " unless you undo it first, here or on the card, or something else stops it, such as a denial.",
          ),
        ),
        line(
          span(
            "This window stays as it is until you press Undo. The card shows what becomes of the approval.",
          ),
        ),
      ),
      undoButton(nonce),
    ],
  });
}

export const undoButton = (nonce: Nonce): Block =>
  ({
    type: "actions",
    elements: [{ type: "button", action_id: WINDOW_UNDO, value: nonce, text: plain("Undo") }],
  }) as Block;
