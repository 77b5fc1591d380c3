// The card of one approval, in every state. One function draws them all, so that a decided card is visibly the same card, with the
// outcome in place of the buttons.

import type { Block, RichTextElement } from "@slack/types";
import { ruleRefOf } from "../../../domain/applied-rule.ts";
import { earlierVotes } from "../../../domain/approval-transitions.ts";
import type { Approval, Decision, PastDecision } from "../../../domain/approval.ts";
import { headWords } from "../../../domain/audit/hash-chain.ts";
import { fileState } from "../../../domain/render-key.ts";
import { isReused } from "../../../domain/reused-id.ts";
import { requestSlot, type Run, runId } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { needsFile } from "../../../domain/text/request-text.ts";
import { CARD_APPROVE, CARD_DENY, CARD_READ, CARD_STATE_BLOCK, CARD_UNDO } from "../names.ts";
import { ruleBlocks, voteLines } from "./card-rule.ts";
import { cardState, type CardState } from "./card-state.ts";
import { partWithId } from "./message-id.ts";
import {
  fitsCard,
  maskedRemark,
  secretsInWhole,
  shortDigest,
  WHO_SEES_MASKED,
  wholeRequest,
} from "./request-blocks.ts";
import { hasDetails, type Overview, requestOverview } from "./request-overview.ts";
import {
  clock,
  escaped,
  header,
  line,
  type Message,
  moment,
  note,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

/** How many characters of a reason a card shows. Slack lets people type as many. */
const REASON_ON_CARD_CHARS = 3_000;
/** How many characters of the service's answer a card shows. The agents adapter cuts it to this length or less. */
const ANSWER_ON_CARD_CHARS = 400;
/** How many earlier decisions without effect a card shows; the audit has them all. */
const PAST_ON_CARD = 3;

export function approvalCard(run: Run, approval: Approval): Message {
  const state = cardState(run, approval);
  const asks = oneLine(approval.request.action ?? "(the service did not say what)", 200);
  const { block, secrets } = requestShown(run, approval);
  // Slack wants another block id whenever a message changes, hence the version.
  const blockId = `${CARD_STATE_BLOCK}${state.name}:v${approval.version}`;
  const title = { ...header(state.title), block_id: blockId };
  const blocks: Block[] = [title, whoAsks(run, approval), block];
  if (isReused(run.approvals, approval)) blocks.push(partWithId("reused", rich(line(span(REUSED)))));
  if (state.open && approval.onlyContextChanged)
    blocks.push(partWithId("context-changed", rich(line(span(CONTEXT_CHANGED)))));
  blocks.push(...maskedRemark(secrets, state.open ? WHO_SEES_MASKED : ""));
  for (const [at, past] of approval.past.slice(-PAST_ON_CARD).entries()) {
    const words = line(...pastLine(approval, past), span(pastWords(past.cause, past.words)));
    blocks.push(partWithId(`past:${at + 1}:${past.cause}`, rich(words)));
  }
  blocks.push(...ruleBlocks(run, approval));
  blocks.push(...outcomeBlocks(state));
  blocks.push(...buttons(run, approval, state));
  blocks.push(note(smallPrint(approval)));
  return { text: escaped(`${state.title}: ${asks}`), blocks };
}

const REUSED =
  "This is a new request. The service gave it the id of an earlier approval of this run; that decision does not count here.";

const CONTEXT_CHANGED =
  "What is shown above is as before. What changed is what the service tells of the run, which is decided with it: it stands behind Details, and in the form.";

function smallPrint({ request, version, appliedRule, state, audited }: Approval): string {
  const rule =
    (state.type === "decided" ? state.decision.policy : ruleRefOf(appliedRule, appliedRule.rule)) ?? null;
  const parts = [
    "The request is the agent's own text, as the service sent it",
    `request ${shortDigest(request)}`,
    `version ${version}`,
    ...(rule === null ? [] : [`rule ${oneLine(rule.rule, 80)}`, `policy ${rule.version}`]),
    ...(audited === undefined ? [] : [headWords(audited)]),
  ];
  return parts.join(" · ");
}

function whoAsks(run: Run, approval: Approval): Block {
  return rich(
    line(
      span(run.origin === "started" ? "Run asked for by " : "Run watched by "),
      person(run.requester),
      span(" · decision asked for "),
      moment(approval.seenAt),
      span(" · "),
      untrustedSpan(runId(run) ?? "", 120, { code: true }),
      span(", approval "),
      untrustedSpan(approval.serviceId, 120, { code: true }),
    ),
  );
}

const WHERE_IN_FILE = {
  coming: "The whole request is being attached to this thread as a file.",
  there: "The whole request is attached to this thread as a file.",
  refused: "The whole request could not be attached; the service has it.",
};

const ROOM = { chars: 1_800, most: 4_000 };

function requestShown(run: Run, approval: Approval): Overview {
  const { request } = approval;
  if (fitsCard(request)) {
    const block = partWithId("request:whole", wholeRequest(request, "masked"));
    return { block, secrets: secretsInWhole(request) };
  }
  const file = needsFile(request) ? fileState(run, requestSlot(approval)) : null;
  const where = file === null ? '"Read in full" shows the whole request.' : WHERE_IN_FILE[file];
  const { block, secrets } = requestOverview(request, ROOM, where, "masked");
  return { block: partWithId(file === null ? "request:shortened" : `request:file-${file}`, block), secrets };
}

/** Approve and Deny while it can be decided. The button that shows the whole request stays in every state. */
function buttons(
  run: Run,
  { nonce, request, appliedRule }: Approval,
  { open, held, onlyDeny }: CardState,
): Block[] {
  const button = (action_id: string, text: string, style: { style?: "primary" } = {}): object => ({
    type: "button",
    action_id,
    value: nonce,
    text: { type: "plain_text", text, emoji: false },
    ...style,
  });
  const deny = button(CARD_DENY, "Deny");
  const approve = onlyDeny ? [] : [button(CARD_APPROVE, "Approve", { style: "primary" })];
  const decide = open ? [...approve, deny] : [];
  const stop = held === null ? [] : [button(CARD_UNDO, "Undo"), deny];
  const mustRead = open && appliedRule.rule.friction.readFirst;
  const whole = fitsCard(request) || needsFile(request);
  const inFull = !whole || mustRead;
  const read =
    inFull || hasDetails(run, request) ? [button(CARD_READ, inFull ? "Read in full" : "Details")] : [];
  const elements = [...(mustRead ? read : []), ...decide, ...stop, ...(mustRead ? [] : read)];
  // A block id of its own for each version: a click on a copy that Slack's client still shows is told apart.
  return elements.length === 0 ? [] : [{ type: "actions", block_id: `decide-${nonce}`, elements } as Block];
}

function outcomeBlocks({ decision, cause, answered, text, held }: CardState): Block[] {
  const withCause = (block: Block): Block => (cause === null ? block : partWithId(`cause:${cause}`, block));
  if (decision === null) return text === "" ? [] : [withCause(rich(line(span(text))))];
  const reason = decision.reason === "" ? [] : [quote(untrustedSpan(decision.reason, REASON_ON_CARD_CHARS))];
  const quoted = answered === null ? [] : [answerLine(answered)];
  const until = held === null ? [] : [line(span("It is sent at "), clock(held), span("."))];
  const block = rich(
    ...earlierVotes(decision).flatMap(voteLines),
    line(
      who(decision),
      span(` ${verb(decision)} `),
      moment(decision.at),
      span(decision.reason === "" ? " and gave no reason." : ":"),
    ),
    ...reason,
    ...quoted,
    line(span(text)),
    ...until,
  );
  return [withCause(block)];
}

/** The answer is drawn as code, so that no quotation mark in it can end the quotation. */
function answerLine(answered: string): ReturnType<typeof line> {
  return line(
    span('The service answered: "'),
    untrustedSpan(answered, ANSWER_ON_CARD_CHARS, { code: true }),
    span('"'),
  );
}

const verb = ({ verdict }: Decision): string => (verdict === "approve" ? "approved" : "denied");
const who = ({ by }: Decision): RichTextElement => (by === null ? span("The policy") : person(by.user));

function pastLine({ request }: Approval, { decision }: PastDecision) {
  const what = decision.digest === request.digest ? "this" : "an earlier state of this";
  return [who(decision), span(` ${verb(decision)} ${what}, `), moment(decision.at), span(". ")];
}

function pastWords(cause: Approval["past"][number]["cause"], serviceWords: string): string {
  switch (cause) {
    case "request-changed":
      return "Nothing was sent: the request changed first.";
    case "no-longer-listed":
      return "Nothing was sent: the service no longer listed the approval.";
    case "unreadable":
      return "Nothing was sent: the service then listed it in a form that cannot be read.";
    case "run-missing":
      return "Nothing was sent: the service no longer knew the run.";
    case "run-over":
      return "Nothing was sent: the run ended first.";
    case "refused":
      return `The service refused it: ${oneLine(serviceWords, 300)}`;
    case "undone":
      return "It was taken back before it was sent.";
    case "denied":
      return "Nothing was sent: somebody denied it.";
    case "expired":
      return "Nothing was sent: too few people approved it in time.";
    case "voter-may-not":
      return "It no longer counts: this person may not decide it now.";
    case "rule-changed":
      return "It no longer counts: the rule now asks for more.";
    case "unwatched":
      return "Nothing was sent: the run is no longer watched from here.";
    case "tampered":
      return "Nothing was sent: it does not match the audit. The database was changed outside Countersign.";
  }
}
