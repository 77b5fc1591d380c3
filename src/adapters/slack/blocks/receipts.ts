// Draws receipts: one or several decisions in a message, each with its button "This was not me". Also contains the parts that receipts
// share with the other notifications.

import type { Block } from "@slack/types";
import { RECEIPT_NOT_ME } from "../names.ts";
import { isUndo, type KeptEntry } from "../../../audit/entry.ts";
import { type AuditPlace, headWords } from "../../../domain/audit/hash-chain.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { Notification, NotificationFacts } from "../../../ports/notification.ts";
import { type Deployment, runIdElement, UNNAMED } from "./deployment.ts";
import { withId } from "./message-id.ts";
import {
  escaped,
  line,
  type Message,
  moment,
  note,
  plain,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

/** The most characters of an action or a reason when several receipts share a message. Twenty receipts then stay below MESSAGE_CHARS. */
const SHARED_CHARS = 110;

export function receipt(
  id: string,
  facts: NotificationFacts,
  { link = null, reportedAt, deployment = UNNAMED }: DrawnWith,
): Message {
  const { entry } = facts.entry;
  const title = titleOf(entry);
  const ending =
    reportedAt === undefined
      ? line(span("Not you? Press the button to report it."))
      : reportedLine(reportedAt);
  const blocks: Block[] = [
    rich(
      line(span(`${title}, `, { bold: true }), moment(entry.at), ...placeOf(facts, deployment)),
      quote(untrustedSpan(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
      ...reasonOf(facts.entry),
      line(
        link === null ? span("Its card") : { type: "link", url: link, text: "Its card" },
        span(isUndo(entry) ? " shows where the request stands now." : " shows what became of it."),
      ),
      ending,
    ),
    ...(reportedAt === undefined ? [notMe(id, facts.entry)] : []),
    note(smallPrint(facts.entry)),
  ];
  return { text: escaped(`${beginningOf(entry)}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

function titleOf(entry: KeptEntry["entry"]): string {
  if (isUndo(entry)) return "You took your approval back before it was sent";
  return `Your ${entry.verdict === "deny" ? "denial" : "approval"} is recorded`;
}

/** A short title for a lock screen, so that it shows the action too. */
function beginningOf(entry: KeptEntry["entry"]): string {
  if (isUndo(entry)) return "Your approval taken back";
  return entry.verdict === "deny" ? "Your denial" : "Your approval";
}

/** `at` is null if the time of the report is no longer known. */
const reportedLine = (at: number | null) =>
  line(
    span("⚠️ You reported this", { bold: true }),
    ...(at === null ? [] : [span(", "), moment(at)]),
    span(": it was not you."),
  );

export type ReceiptFacts = {
  readonly receipt: Pick<Notification, "id">;
  readonly facts: NotificationFacts;
  readonly link: string | null;
  /** When the decision was reported (wall clock, ms). Left out if it was not. */
  readonly reportedAt?: number;
};

/** Draws at most `RECEIPTS_AT_ONCE` receipts: each takes two blocks, and Slack accepts fifty in a message. */
export function severalReceipts(
  receipts: readonly ReceiptFacts[],
  deployment: Deployment = UNNAMED,
): Message {
  const title = `${receipts.length} of your decisions are recorded`;
  const newest = receipts.at(-1);
  const blocks: Block[] = [
    rich(
      line(span(title, { bold: true }), span(". Their cards show what became of them.")),
      line(span("If one of these was not you, press the button under it to report it.")),
    ),
    ...receipts.flatMap((decision) => [
      oneOf(decision, deployment),
      ...(decision.reportedAt === undefined ? [notMe(decision.receipt.id, decision.facts.entry)] : []),
    ]),
    ...(newest === undefined ? [] : [note(headWords(newest.facts.entry))]),
  ];
  return withId("receipt:several", { text: title, blocks });
}

function oneOf({ facts, link, reportedAt }: ReceiptFacts, deployment: Deployment): Block {
  const { entry } = facts.entry;
  return rich(
    line(
      span(`${verbOf(entry)}, `, { bold: true }),
      moment(entry.at),
      ...placeOf(facts, deployment),
      ...(link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: "Open the card" }]),
    ),
    quote(untrustedSpan(oneLine(actionOf(facts), SHARED_CHARS), SHARED_CHARS)),
    ...reasonOf(facts.entry, SHARED_CHARS),
    ...(reportedAt === undefined ? [] : [reportedLine(reportedAt)]),
  );
}

function verbOf(entry: KeptEntry["entry"]): string {
  if (isUndo(entry)) return "Approval taken back";
  return entry.verdict === "deny" ? "Denial recorded" : "Approval recorded";
}

/** The button asks for confirmation, so that a slip of the thumb raises no alarm. */
function notMe(id: string, { seq, link }: KeptEntry): Block {
  const button = {
    type: "button",
    action_id: RECEIPT_NOT_ME,
    value: id,
    style: "danger",
    text: plain("This was not me"),
    confirm: {
      title: plain("Raise an alarm?"),
      text: plain(
        "This reports that someone else acted in your name. Countersign then tells you who is alerted.",
      ),
      confirm: plain("Yes, it was not me"),
      deny: plain("Cancel"),
      style: "danger",
    },
  };
  const block_id = `receipt-${id}-${seq}-${link.slice(0, LINK_DIGITS)}`;
  return { type: "actions", block_id, elements: [button] } as Block;
}

/** Enough that no other entry has them. The id of a block has room for 255 characters. */
const LINK_DIGITS = 16;

/**
 * Returns the entry that a "This was not me" button was drawn for, with the first digits of its link, from the id of its block. Null if the id
 * does not say it, as in earlier releases.
 */
export function entryShownIn(blockId: string | undefined): AuditPlace | null {
  const [, seq, link] = /^receipt-.{16,64}-(\d{1,15})-([0-9a-f]{16})$/.exec(blockId ?? "") ?? [];
  return seq === undefined || link === undefined ? null : { seq: Number(seq), link };
}

function smallPrint({ seq, link, entry }: KeptEntry): string {
  const request = entry.digest === null ? [] : [`request ${entry.digest.slice(0, 12)}`];
  const rule = entry.policy === null ? [] : [`rule ${oneLine(entry.policy.rule, 80)}`];
  return [headWords({ seq, link }), ...request, ...rule].join(" · ");
}

// The parts that receipts share with the other notifications: the action, the place and the reason of their audit entry.

export const ACTION_CHARS = 300;
export const REASON_CHARS = 500;

/** What is known only when the message is drawn. `link` leads to the card. `reportedAt` is when the recipient said "This was not me". */
export type DrawnWith = {
  readonly link?: string | null;
  readonly reportedAt?: number | null;
  readonly deployment?: Deployment;
  /** `COMMAND` if left out. */
  readonly command?: string;
};

/** The command, unless SLACK_COMMAND names another. */
export const COMMAND = "/agent";

export const actionOf = ({ action }: NotificationFacts): string => action ?? "(the service did not say what)";

export const channelOf = ({ channel }: NotificationFacts) =>
  channel === null ? [] : [span(" in "), { type: "channel" as const, channel_id: channel }];

export function placeOf(facts: NotificationFacts, deployment: Deployment) {
  const { runId } = (facts.about ?? facts.entry).entry;
  return [...channelOf(facts), ...(runId === null ? [] : [span(" · "), runIdElement(runId, deployment)])];
}

export function reasonOf({ entry }: KeptEntry, chars = REASON_CHARS) {
  if (entry.reason === null || entry.reason === "") return [];
  return [line(span("Reason: "), untrustedSpan(oneLine(entry.reason, chars), chars))];
}
