// Decisions that did not take effect and gave way, each with what became of it.

import type { Block, RichTextElement } from "@slack/types";
import type { Approval, Decision, PastDecision } from "../../../domain/approval.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { partWithId } from "./message-id.ts";
import { line, moment, person, rich, span } from "./rich.ts";

/** How many of them a card shows; Details shows them all. */
const PAST_ON_CARD = 3;

const verb = ({ verdict }: Decision): string => (verdict === "approve" ? "approved" : "denied");
export const who = ({ by }: Decision): RichTextElement =>
  by === null ? span("the policy") : person(by.user);

export function pastBlocks(approval: Approval): Block[] {
  return approval.past
    .slice(-PAST_ON_CARD)
    .map((past, at) => partWithId(`past:${at + 1}:${past.cause}`, rich(pastLine(approval, past))));
}

export function pastLine({ request }: Approval, { decision, cause, words }: PastDecision) {
  const what = decision.digest === request.digest ? "this" : "an earlier state of this";
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
