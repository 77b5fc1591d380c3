// Decisions that did not take effect and gave way, each with what became of it.

import type { Block, RichTextElement } from "@slack/types";
import { partWithId } from "./message-id.ts";
import { line, moment, person, rich, span, untrustedSpan } from "./rich.ts";
import { answerAfter } from "./delivery-words.ts";
import type { Approval, Decision, Dispute, PastDecision } from "../../../domain/approval.ts";

/** How many of them a card shows; Details shows them all. */
const PAST_ON_CARD = 3;

const verb = ({ verdict }: Decision): string => (verdict === "approve" ? "approved" : "denied");
export const who = ({ by, stoppedBy = by?.user }: Decision): RichTextElement =>
  stoppedBy === undefined ? span("the policy") : person(stoppedBy);

export function pastBlocks(approval: Approval): Block[] {
  return approval.past
    .slice(-PAST_ON_CARD)
    .map((past, at) => partWithId(`past:${at + 1}:${past.cause}`, rich(pastLine(approval, past))));
}

export function pastLine({ request }: Approval, { decision, cause, words }: PastDecision) {
  const what = decision.digest === request.digest ? "this" : "this before it changed";
  return line(
    who(decision),
    span(` ${verb(decision)} ${what}, `),
    moment(decision.at),
    span(`. ${pastWords(cause, words)}`),
  );
}

function pastWords(cause: Approval["past"][number]["cause"], serviceWords: string): string {
  switch (cause) {
    case "request-changed":
      return "Not sent: the request changed first.";
    case "no-longer-listed":
      return "Not sent: the service no longer listed it.";
    case "unreadable":
      return "Not sent: the service then sent it in a form that Countersign can't read.";
    case "run-missing":
      return "Not sent: the service no longer knew the run.";
    case "run-over":
      return "Not sent: the run ended first.";
    case "refused":
      return `The service refused it${answerAfter(serviceWords, 300)}`;
    case "undone":
      return "Undone before it was sent.";
    case "denied":
      return "Not sent: somebody denied it.";
    case "expired":
      return "Not sent: too few people approved it in time.";
    case "voter-may-not":
      return "It no longer counts: this person may no longer decide it.";
    case "rule-changed":
      return "It no longer counts: the rule now asks for more.";
    case "unwatched":
      return "Not sent: Countersign stopped watching the run.";
    case "stopped":
      return "Not sent: the run was stopped first.";
    case "frozen":
      return "Not sent: Countersign was frozen first. Approve it again once the freeze is lifted.";
    case "tampered":
      return "Not sent: it does not match the audit. The database was changed outside Countersign.";
  }
}

// "This was not me", as a card shows it.

/** How many of them a card shows, the newest; the audit has them all. */
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
