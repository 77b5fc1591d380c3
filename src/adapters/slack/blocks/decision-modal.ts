import type { Block, View } from "@slack/types";
import type { Approval, Request, Verdict } from "../../../domain/approval.ts";
import type { Nonce } from "../../../domain/ids.ts";
import { BUILT_IN_RULE, type KeptRule } from "../../../domain/policy/policy.ts";
import type { Upload } from "../../../domain/posted-message.ts";
import { contextBehind, secretsInContext } from "../../../domain/run-context.ts";
import { requestSlot, type Run, runId } from "../../../domain/run.ts";
import { cardMarks } from "../../../domain/text/card-layout.ts";
import { FORM_ROOM } from "../../../domain/text/request-layout.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { Drawing } from "../../../domain/text/secrets.ts";
import { DECISION_MODAL, READING_MODAL } from "../names.ts";
import { auditNote, historyBlocks } from "./card-details.ts";
import { riskMark, wordsForDeciders } from "./card-request.ts";
import { voteLines } from "./card-rule.ts";
import { type Deployment, runNote, UNNAMED } from "./deployment.ts";
import { disputeBlocks } from "./past-decisions.ts";
import { type MessageId, partWithId, textSection, withId } from "./message-id.ts";
import {
  difference,
  fitsCard,
  fitsModal,
  maskedInFile,
  maskedRemark,
  secretsInWhole,
  shortDigest,
  WHO_SEES_MASKED,
  wholeRequest,
} from "./request-blocks.ts";
import { EMPTY_REASON, type FilledReason, presetMenu, reasonInput, wordInput } from "./reason-fields.ts";
import { requestOverview, runDetails } from "./request-overview.ts";
import { count, duration, line, person, rich, span, untrustedSpan } from "./rich.ts";

/** For the overview above a whole request. */
const FIRST_ROOM = { chars: 1_800, most: 4_000 };
/** For a request that is no longer valid. */
const WAS_CHARS = 5_000;
const WAS_ROOM = { chars: 3_000, most: WAS_CHARS };

const IN_FILE = "The whole request is attached to the run's thread as a file.";

/** The window of a form that is stored. */
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
};

/** Shows the whole request and asks for the reason. The nonce is all that the form carries. */
function decisionModal(
  run: Run,
  { saw: request, verdict, nonce }: FormFacts,
  deployment: Deployment,
  filled: FilledReason,
): View {
  const approves = verdict === "approve";
  const rule = ruleOver(run, request);
  const then = approves ? afterwards(run, request) : "The service gets your reason.";
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
          span(`You are ${approves ? "approving" : "denying"} a request by `),
          person(run.requester),
          span(`. ${then}`),
        ),
      ),
      ...votesSoFar(run, request),
      ...requestBlocks(request, "open"),
      ...runDetails(run, request, "open"),
      ...maskedInFile(uploadOf(run, request)),
      idsNote(run, request, deployment),
      ...presetMenu(presetsFor({ run, ticket: { saw: request, verdict, nonce } })),
      reasonInput(verdict, rule, filled),
      ...wordInput(verdict, rule),
    ],
  });
}

/** What follows this approval: more approvals, a hold, or the action itself. */
export function afterwards(run: Run, request: Request): string {
  const approval = approvalOf(run, request);
  const { needs, holdMs } = approval?.appliedRule.rule ?? BUILT_IN_RULE;
  const left = needs - (approval?.votes.length ?? 0) - 1;
  if (left > 0)
    return `${count(left)} more ${left === 1 ? "person" : "people"} must approve it before anything is sent.`;
  if (holdMs > 0)
    return `It is held for ${duration(holdMs)}, and you can undo it until then. Then the agent can run it.`;
  return "The agent can then run it.";
}

/** The next person sees who has approved it, and why. */
export function votesSoFar(run: Run, request: Request): Block[] {
  const approval = approvalOf(run, request);
  if (approval === undefined || approval.votes.length === 0) return [];
  const progress = `${approval.votes.length}-of-${approval.appliedRule.rule.needs}` as const;
  return [partWithId(`votes:${progress}`, rich(...approval.votes.flatMap(voteLines)))];
}

/** What tells this request from others: for who looks it up elsewhere, not for the decision. */
export function idsNote(run: Run, request: Request, deployment: Deployment): Block {
  const approval = approvalOf(run, request);
  return runNote(
    runId(run) ?? "",
    deployment,
    ...(approval === undefined ? [] : [`Approval ${oneLine(approval.serviceId, 60)}`]),
    `Request ${shortDigest(request)}`,
  );
}

/** The request, for reading only. Everybody who sees the channel may open it, so secrets are masked as they are in the channel. */
export function readModal(run: Run, request: Request, deployment: Deployment = UNNAMED): View {
  const approval = approvalOf(run, request);
  return withId("form:read", {
    type: "modal",
    title: plain("Full request"),
    close: plain("Close"),
    blocks: [
      ...(approval === undefined ? [] : [...historyBlocks(run, approval), ...disputeBlocks(approval)]),
      rich(...marksLine(run, request, deployment), askedBy(run)),
      ...requestBlocks(request, "masked"),
      ...runDetails(run, request, "masked"),
      ...maskedRemark(secretsShown(run, request), WHO_SEES_MASKED),
      approval === undefined ? idsNote(run, request, deployment) : auditNote(run, approval, deployment),
    ],
  });
}

/** For a person who may decide, where the rule wants the request read first. Continue opens the form. */
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
        line(span("Read the whole request, then continue. Nothing is approved yet.")),
        askedBy(run),
      ),
      ...requestBlocks(request, "open"),
      ...runDetails(run, request, "open"),
      ...maskedInFile(uploadOf(run, request)),
      idsNote(run, request, deployment),
    ],
  });
}

function approvalOf(run: Run, { digest }: Request): Approval | undefined {
  return run.approvals.find(({ request }) => request.digest === digest);
}

/** Answers a submit whose request has changed since: what was shown, and what the request is now. It has no submit button. */
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
            : requestOverview(was, WAS_ROOM, "It is not valid any more.", "open").block,
        ];
  return withId("form:changed", {
    type: "modal",
    title: plain("The request changed"),
    close: plain("Close"),
    blocks: [
      rich(
        line(
          span("Nothing was sent. ", { bold: true }),
          span("The request changed after you opened it. Its card shows it as it is now; decide there."),
        ),
      ),
      rich(askedBy(run)),
      ...difference(run, was, is),
      rich(line(span("What it is now:", { bold: true }))),
      ...requestBlocks(is, "open"),
      ...runDetails(run, is, "open"),
      idsNote(run, is, deployment),
      ...before,
    ],
  });
}

/** Says no, and why. Slack reads markup in `text`: pass our own words and escaped text only. */
export function refusedModal(heading: string, text: string, id: MessageId): View {
  return {
    type: "modal",
    title: plain(heading),
    close: plain("Close"),
    blocks: [textSection(id, text)],
  };
}

/** The deployment, the risk and the place, as on the card. */
export function marksLine(run: Run, request: Request, deployment: Deployment) {
  const names = approvalOf(run, request)?.appliedRule.card;
  const marks = cardMarks(request, contextBehind(run.context, request), names);
  const words = [...(deployment.name === "" ? [] : [deployment.name]), ...wordsForDeciders(marks)];
  const mark = marks.risk === null ? [] : [span(`${riskMark(marks.risk)} `)];
  return [line(...mark, untrustedSpan(words.join(" · "), 120, { bold: true }))];
}

function askedBy(run: Run) {
  return line(span(run.origin === "started" ? "Asked by " : "Watched by "), person(run.requester));
}

/** The whole request. A long one starts with an overview of all fields, so that none is out of sight. */
export function requestBlocks(request: Request, as: Drawing): Block[] {
  if (!fitsModal(request)) return [requestOverview(request, FORM_ROOM, IN_FILE, as).block];
  if (fitsCard(request)) return [wholeRequest(request, as)];
  const { block } = requestOverview(request, FIRST_ROOM, "The whole request is below.", as);
  return [block, rich(line(span("The whole request:", { bold: true }))), wholeRequest(request, as)];
}

/** 0 for a request that is attached as a file: only a part of it is drawn, and we do not count its secrets. */
function secretsShown(run: Run, request: Request): number {
  if (!fitsModal(request)) return 0;
  const context = contextBehind(run.context, request);
  const around = context === null ? 0 : secretsInContext(context).length;
  return secretsInWhole(request) + around;
}

export function uploadOf(run: Run, request: Request): Upload | undefined {
  const approval = approvalOf(run, request);
  return approval === undefined ? undefined : run.uploads[requestSlot(approval)];
}

export function ruleOver(run: Run, request: Request): KeptRule {
  return approvalOf(run, request)?.appliedRule.rule ?? BUILT_IN_RULE;
}

/** The reasons that this form offers, in the order of the menu. */
export function presetsFor({
  run,
  ticket: { saw, verdict, reading },
}: {
  readonly run: Run;
  readonly ticket: FormFacts;
}): readonly string[] {
  return verdict === "deny" && reading !== true ? ruleOver(run, saw).denyReasons : [];
}

export function plain(text: string): { type: "plain_text"; text: string } {
  return { type: "plain_text", text };
}
