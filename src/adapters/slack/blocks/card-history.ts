// Earlier decisions: on this approval (shown on its card and behind Details), and on the same request in earlier approvals.

import type { Block, RichTextElement, RichTextSection } from "@slack/types";
import { ruleRefOf } from "../../../domain/applied-rule.ts";
import { earlierVotes } from "../../../domain/approval-transitions.ts";
import type { Approval, Decision, Dispute, PastDecision } from "../../../domain/approval.ts";
import { headWords } from "../../../domain/audit/hash-chain.ts";
import {
  MAX_READ,
  NO_PRECEDENTS,
  type Precedent,
  PRECEDENT_DAYS,
  type Precedents,
} from "../../../domain/precedent.ts";
import { shortDigest } from "../../../domain/request-file.ts";
import { type Run, runId } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { type CardState, cardState } from "./card-state.ts";
import { answerAfter } from "./delivery-words.ts";
import { type Deployment, runNote } from "./deployment.ts";
import { partWithId } from "./message-id.ts";
import {
  count,
  day,
  line,
  moment,
  person,
  quote,
  rich,
  span,
  untrustedQuote,
  untrustedSpan,
} from "./rich.ts";

// Decisions that did not take effect and were replaced, each with what became of it.

/** The most past decisions that a card shows. Details shows them all. */
const PAST_ON_CARD = 3;

const verb = ({ verdict }: Decision): string => (verdict === "approve" ? "approved" : "denied");
export const who = ({ by, stoppedBy = by?.user }: Decision): RichTextElement =>
  stoppedBy === undefined ? span("the policy") : person(stoppedBy);

export function pastBlocks(approval: Approval): Block[] {
  return approval.past
    .slice(-PAST_ON_CARD)
    .map((past, at) => partWithId(`past:${at + 1}:${past.cause}`, rich(pastLine(approval, past))));
}

function pastLine({ request }: Approval, { decision, cause, words }: PastDecision) {
  const what = decision.digest === request.digest ? "this" : "this before it changed";
  return line(
    who(decision),
    span(` ${verb(decision)} ${what}, `),
    moment(decision.at),
    span(cause === "undone" ? ", then took it back." : `. ${pastWords(cause, words)}`),
  );
}

function pastWords(cause: Exclude<PastDecision["cause"], "undone">, serviceWords: string): string {
  switch (cause) {
    case "request-changed":
      return "Not applied: the request changed first.";
    case "no-longer-listed":
      return "Not applied: the service no longer listed it as pending.";
    case "unreadable":
      return "Not applied: the service then sent it in a format that Countersign can't read.";
    case "run-missing":
      return "Not applied: the service no longer knew the run.";
    case "run-over":
      return "Not applied: the run ended first.";
    case "refused":
      return `The service refused it${answerAfter(serviceWords, 300)}`;
    case "denied":
      return "Not applied: someone denied it.";
    case "expired":
      return "Not applied: too few people approved it in time.";
    case "voter-may-not":
      return "It no longer counts: this person is no longer allowed to decide it.";
    case "rule-changed":
      return "It no longer counts: the rule or an approver's groups changed.";
    case "unwatched":
      return "Not applied: Countersign stopped watching the run.";
    case "stopped":
      return "Not applied: the run was stopped first.";
    case "frozen":
      return "Not applied: Countersign was frozen first.";
    case "restored":
      return "It no longer counts: Countersign was restored from an older copy and can't tell whether it was sent.";
    case "tampered":
      return "Not applied: it does not match the audit. The database was changed outside Countersign.";
  }
}

// How a card shows "This was not me".

/** A card shows only this many of the newest disputes. The audit has them all. */
const DISPUTES_ON_CARD = 3;
const FOUND_CHARS = 300;

export function disputeBlocks({ disputes = [] }: Approval): Block[] {
  return disputes
    .slice(-DISPUTES_ON_CARD)
    .map((dispute, at) =>
      partWithId(
        `dispute:${at + 1}:${dispute.closed === undefined ? "open" : "closed"}`,
        rich(disputeLine(dispute)),
      ),
    );
}

function disputeLine({ by, at, closed }: Dispute): ReturnType<typeof line> {
  if (closed === undefined)
    return line(
      span("⚠️ Disputed", { bold: true }),
      span(" by "),
      person(by),
      span(", "),
      moment(at),
      span(': "This was not me." The report takes nothing back.'),
    );
  return line(
    span("Disputed by "),
    person(by),
    span(", "),
    moment(at),
    span(". "),
    span("Dispute closed", { bold: true }),
    span(" by "),
    person(closed.by),
    span(": "),
    untrustedSpan(closed.words.replace(/\s+/g, " "), FOUND_CHARS),
  );
}

// What Details shows besides the request: every decision with its whole reason, and the ids that an auditor looks for.

/** More than the card shows of an answer. */
const ANSWER_CHARS = 1_000;

/** What became of the approval. Empty while it is pending without votes or past decisions. `chars`: the room for each reason. */
export function historyBlocks(run: Run, approval: Approval, chars = Infinity): Block[] {
  const { title, decision, text, answered } = cardState(run, approval);
  const votes = decision === null ? approval.votes : [...earlierVotes(decision), decision];
  const past = approval.past.map((decision) => pastLine(approval, decision));
  const ends = approval.state.type === "pending" ? [] : endLines({ title, answered, text });
  const lines = [...ends, ...votes.flatMap((vote) => decisionLines(vote, chars)), ...past];
  return lines.length === 0 ? [] : [rich(...lines)];
}

/** The answer stands between the title and the text, which may refer to it. */
function endLines({ title, answered, text }: Pick<CardState, "title" | "answered" | "text">) {
  const heading = span(`${title}.`, { bold: true });
  const more = text === "" ? [] : [span(answered === null ? ` ${text}` : text)];
  if (answered === null) return [line(heading, ...more)];
  return [
    line(heading, span(" The service answered:")),
    quote(untrustedSpan(answered, ANSWER_CHARS)),
    ...(more.length === 0 ? [] : [line(...more)]),
  ];
}

function decisionLines(decision: Decision, chars: number) {
  const { verdict, at, reason } = decision;
  const said = reason === "" ? "and gave no reason." : "and said:";
  const head = line(
    who(decision),
    span(verdict === "approve" ? " approved it " : " denied it "),
    moment(at),
    span(` ${said}`),
  );
  return reason === "" ? [head] : [head, untrustedQuote(reason, chars)];
}

/** The ids under which the audit records this request. The card shows the same short digest. */
export function auditNote(
  run: Run,
  { request, version, appliedRule, state, audited }: Approval,
  deployment: Deployment,
): Block {
  const rule =
    (state.type === "decided" ? state.decision.policy : ruleRefOf(appliedRule, appliedRule.rule)) ?? null;
  const parts = [
    `Audit record: request ${shortDigest(request)}`,
    `version ${version}`,
    ...(rule === null ? [] : [`rule ${oneLine(rule.rule, 80)}`, `policy ${rule.version}`]),
    ...(audited === undefined ? [] : [headWords(audited)]),
  ];
  return runNote(runId(run) ?? "", deployment, parts.join(" · "));
}

// Earlier decisions on the same request, shown on its card and in the forms: the newest denial with its reason, then the approvals. These
// are facts, not advice, so they have no color, icon or button.

/** More than `engine/precedents.ts` keeps of a reason. */
const PRECEDENT_REASON_CHARS = 200;

const HEADING = span("Same request before: ");

/** Returns no block if there are no precedents. */
export function precedentBlocks(precedents: Precedents = NO_PRECEDENTS): Block[] {
  const { denied, approved } = precedents;
  const lines = precedentLines(precedents);
  if (lines.length === 0) return [];
  const one = denied === null ? (approved === null ? "unread" : "approved") : "denied";
  const which = denied !== null && approved !== null ? "both" : one;
  return [partWithId(`before:${which}`, rich(...lines))];
}

/** Decisions that the readers may not see can be so many that they would hide those that the readers may see. */
const UNREAD = `At least ${MAX_READ} decisions can't be shown here, and older ones were not checked. So a denial or an approval may be missing.`;

export function precedentLines({ denied, approved, unread }: Precedents): RichTextSection[] {
  const lines = [
    ...(denied === null ? [] : [deniedWords(denied)]),
    ...(approved === null ? [] : [[...precedentWords("Approved", approved), span(".")]]),
    ...(unread === undefined ? [] : [[span(UNREAD)]]),
  ];
  return lines.map((words, at) => line(...(at === 0 ? [HEADING] : []), ...words));
}

/**
 * The reason ends the line and is the only italic text, so it cannot pass for our words. It is not drawn as code, which Slack shows in red.
 */
function deniedWords({ reason, ...denied }: NonNullable<Precedents["denied"]>): RichTextElement[] {
  const quoted =
    reason.trim() === ""
      ? [span(".")]
      : [span(': "'), untrustedSpan(reason, PRECEDENT_REASON_CHARS, { italic: true }), span('".')];
  return [...precedentWords("Denied", denied), ...quoted];
}

function precedentWords(verdict: string, { times, more, by, at }: Precedent): RichTextElement[] {
  const howOften = `${more ? "at least " : ""}${count(times)} ${times === 1 ? "time" : "times"}`;
  const said =
    times === 1 && !more ? `${verdict} ` : `${verdict} ${howOften} in ${PRECEDENT_DAYS} days, last `;
  return [span(said), day(at), span(" by "), person(by)];
}
