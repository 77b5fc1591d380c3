// "This was not me", as a card shows it.

import type { Block } from "@slack/types";
import type { Approval, Dispute } from "../../../domain/approval.ts";
import { partWithId } from "./message-id.ts";
import { line, moment, person, rich, span, untrustedSpan } from "./rich.ts";

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
