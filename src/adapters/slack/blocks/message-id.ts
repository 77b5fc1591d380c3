// The id of the first block of a message or view says what the message is. Tests wait for this id, so titles and sentences are free to
// change. An id contains only our own words, because other apps in the workspace can read it. The ids of cards are in names.ts.

import type { Block } from "@slack/types";
import type { PastDecision } from "../../../domain/approval.ts";
import type { Call } from "../../../domain/follow-up.ts";
import type { Refusal } from "../../../domain/authorization.ts";
import type { OrphanKind } from "../../../domain/orphan.ts";
import type { NoticeContent } from "../../../domain/notice.ts";
import type { CommandRefusal } from "../../../domain/command-refusal.ts";
import type { Notification } from "../../../ports/notification.ts";
import type { CardCause } from "./card-state.ts";
import type { RunStatusName } from "./run-status.ts";

type VoidCause = Extract<NoticeContent, { type: "decision-void" }>["cause"];

export type MessageId =
  /** The opening of a thread. */
  | `run:${RunStatusName}`
  | `outcome:${"succeeded" | "failed" | "canceled" | "ended" | "not-started" | "taken"}`
  | `outcome:unknown:${"asked" | "started" | "left"}`
  | `thread:${"missing" | "unwatched" | "given-up" | "known-again" | "tampered" | "service-down" | "service-back" | "service-unchecked" | "storm" | "storm-over" | "stopped" | "stop-lifted" | "handed-over"}`
  | `thread:question:${"open" | "answered" | "over" | "changed"}`
  | `call:${Call["says"] | "past"}`
  | `several:${Call["says"] | "past"}`
  | `announcement:${"stage" | "past"}`
  | `digest:${"waiting" | "over"}`
  | `unreadable:${"answer" | "list" | "items" | "over"}`
  | `notice:${Exclude<NoticeContent["type"], "decision-void">}`
  | `notice:decision-void:${VoidCause}`
  | "notice:queued"
  | `receipt:${"approve" | "deny" | "undo" | "reported" | "several"}`
  /** A message of which Countersign has no record since it was restored from an older copy. */
  | `orphan:${OrphanKind}`
  | `notification:${Exclude<Notification["kind"], "receipt" | "receipt-at-once">}`
  | `refusal:${Refusal["type"]}`
  | `command-refusal:${CommandRefusal["type"]}`
  | `answer:${AnswerName}`
  | `form:${"approve" | "deny" | "review" | "review-several" | "reviewed" | "read" | "read-first" | "changed" | "held" | "ask" | "answer" | "hand-over" | "snooze"}`
  | `home:${"runs" | "unknown"}`;

/** The id of a part of a card that shows more than the card's state, or of a part of the Home tab or the queue. */
export type PartId =
  | `request:${"whole" | "shortened" | "file-coming" | "file-there" | "file-refused"}`
  | `past:${number}:${PastDecision["cause"]}`
  | `rule:${number}-of-${number}${"" | ":too-few"}`
  /** In the form: how many of the needed approvals have been given. */
  | `votes:${number}-of-${number}`
  | `cause:${CardCause}`
  | `dispute:${number}:${"open" | "closed"}`
  | `before:${"denied" | "approved" | "both" | "unread"}`
  | "reused"
  | `claim:${"own" | "handed-over"}`
  | `question:${"open" | "answered"}`
  | "extended"
  | "frozen"
  | "stopped"
  | "home:own:none"
  | `queue:${"yours" | "others"}`
  | "queue:yours:none"
  | "queue:undelivered"
  | "context-changed";

type AnswerName =
  | "help"
  | "health:ok"
  | "health:faulty"
  | "list"
  | "list:empty"
  | "pending"
  | "pending:empty"
  | "status"
  | "watching"
  | "unwatched"
  | "which-run"
  | "unknown-command"
  | "decide-on-card"
  | "did-you-mean"
  | "did-you-mean-run"
  | "did-you-mean-long-run"
  | "mention-without-task"
  | "mention-too-late"
  | "form-not-opened"
  | "nothing-opened"
  | "task-not-kept"
  | "again-not-recorded"
  | "suggestion-started"
  | "suggestion-invalid"
  | "evidence-sent"
  | "week-report"
  | "acknowledged"
  | "dispute-closed"
  | "frozen"
  | "freeze-lifted"
  | "freeze-state"
  | "command-before"
  | "not-stopped"
  | "run-recorded"
  | "run-not-recorded"
  | "run-maybe-recorded"
  | "not-your-run"
  | "not-undone"
  | "press-not-recorded"
  | "question-answered"
  | "several-questions"
  | "question-over"
  | "question-of-changed-request"
  | "question-answered-before-change"
  | "answer-not-recorded"
  | "taken-back"
  | "opened-before"
  | "reading-not-recorded"
  | "review-not-opened"
  | "nothing-more"
  | "queue-not-read"
  | "opening-not-confirmed"
  | "reported"
  | "reported-before"
  | "report-not-recorded"
  | "not-your-receipt"
  | "decision-not-proven"
  | "failed"
  | "not-read"
  | "unreadable-run"
  | "unread-payload"
  | "other-app"
  | "other-team"
  | "unverified-team";

/** Returns the message or view with this id on its first block. */
export function withId<Drawn extends { readonly blocks: readonly Block[] }>(
  id: MessageId,
  drawn: Drawn,
): Drawn & { readonly blocks: Block[] } {
  const [first, ...rest] = drawn.blocks;
  return { ...drawn, blocks: first === undefined ? [] : [{ ...first, block_id: id }, ...rest] };
}

/** Returns the block with this id. */
export const partWithId = <Drawn extends Block>(id: PartId, block: Drawn): Drawn => ({
  ...block,
  block_id: id,
});

/** A private answer of one paragraph. Slack reads markup in it, so pass only our own words and escaped text. */
export function textAnswer(id: MessageId, text: string): { text: string; blocks: Block[] } {
  return { text, blocks: [textSection(id, text)] };
}

export function textSection(id: MessageId, text: string): Block {
  return { type: "section", block_id: id, text: { type: "mrkdwn", text, verbatim: true } } as Block;
}
