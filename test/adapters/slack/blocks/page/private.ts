// Messages to one person or to the admins: private notices, receipts and alarms.

import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import { named } from "#src/adapters/slack/blocks/deployment.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { type DrawnWith, severalReceipts } from "#src/adapters/slack/blocks/receipts.ts";
import { privateNotice, queuedNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import type { Run } from "#src/domain/run.ts";
import type { Notification, NotificationFacts } from "#src/ports/notification.ts";
import { ADMIN } from "../../../../make/bot.ts";
import { anAuditEntry, aNonce, NOON, TEAM } from "../../../../make/run.ts";
import {
  ASKED,
  BEN,
  CLEO,
  CREATED,
  decided,
  decisionOf,
  DEPLOYMENT,
  type Example,
  PENDING,
  REQUEST,
  SERVICE_SAYS,
} from "./example.ts";

import { LOOK_BACKS } from "./look-backs.ts";

type VoidCause = Extract<NoticeContent, { type: "decision-void" }>["cause"];

const approval = ApprovalId("apr_1");
const DECIDED = decided({ type: "unconfirmed", at: NOON, cause: "no-longer-listed" });
const notice = (says: NoticeContent, when = "", run: Run = CREATED, about = DECIDED): Example => ({
  when,
  drawn: named(privateNotice(says, { ...run, approvals: [about] }), DEPLOYMENT),
});
const denied = (by: Pick<Decision, "stoppedBy">): Approval =>
  withDelivery(
    PENDING,
    { ...decisionOf("deny", "no one decided", null), ...by },
    { type: "confirmed", at: NOON, stillListed: true },
  );
const voided = (cause: VoidCause): readonly Example[] => [
  notice(
    { type: "decision-void", approval, cause },
    "",
    CREATED,
    cause === "request-changed" ? PENDING : DECIDED,
  ),
];

const refusedBySlack = (code: string): NoticeContent => ({
  type: "cannot-post",
  words: `Slack refused (${code})`,
  code,
});

const unstarted = (words: string): Run => ({ ...ASKED, creation: { type: "refused", words, at: NOON } });

export const NOTICES: Record<Extract<MessageId, `notice:${string}`>, readonly Example[]> = {
  "notice:cannot-post": [
    notice(refusedBySlack("not_in_channel"), "not in the channel"),
    notice(refusedBySlack("is_archived"), "archived"),
    notice(refusedBySlack("restricted_action"), "not allowed to post"),
    notice(refusedBySlack("msg_too_long"), "one message refused"),
    notice(
      refusedBySlack("not_in_channel"),
      "its run was not started",
      unstarted("Slack refused (not_in_channel)"),
    ),
    notice(refusedBySlack("not_in_channel"), "the service refused its run", unstarted(SERVICE_SAYS)),
  ],
  "notice:queued": [
    { when: "many before it", drawn: named(queuedNotice(12), DEPLOYMENT) },
    { when: "one before it", drawn: named(queuedNotice(1), DEPLOYMENT) },
  ],
  "notice:nobody-can-approve": [
    notice(
      { type: "nobody-can-approve", approval, able: 0, needs: 1, grows: true },
      "the channel may decide",
    ),
    notice({ type: "nobody-can-approve", approval, able: 1, needs: 2, grows: false }, "a group may decide"),
  ],
  "notice:decision-stopped": [notice({ type: "decision-stopped", approval })],
  "notice:decision-unconfirmed": [notice({ type: "decision-unconfirmed", approval })],
  "notice:decision-still-listed": [
    notice({ type: "decision-still-listed", approval }),
    notice({ type: "decision-still-listed", approval }, "the policy denied it", CREATED, denied({})),
    notice(
      { type: "decision-still-listed", approval },
      "a stop denied it",
      CREATED,
      denied({ stoppedBy: CLEO }),
    ),
  ],
  "notice:decision-refused": [notice({ type: "decision-refused", approval, words: SERVICE_SAYS })],
  "notice:decision-elsewhere": [
    notice({ type: "decision-elsewhere", approval, words: "", said: "deny" }),
    notice({ type: "decision-elsewhere", approval, words: "", said: "expired" }, "expired"),
  ],
  "notice:decision-void:request-changed": voided("request-changed"),
  "notice:decision-void:no-longer-listed": voided("no-longer-listed"),
  "notice:decision-void:run-missing": voided("run-missing"),
  "notice:decision-void:given-up": voided("given-up"),
  "notice:decision-void:unreadable": voided("unreadable"),
  "notice:decision-void:run-over": voided("run-over"),
  "notice:decision-void:voter-may-not": voided("voter-may-not"),
  "notice:decision-void:rule-changed": voided("rule-changed"),
  "notice:decision-void:others-needed": voided("others-needed"),
  "notice:decision-void:denied": voided("denied"),
  "notice:decision-void:stopped": voided("stopped"),
  "notice:decision-void:frozen": voided("frozen"),
  "notice:decision-void:restored": voided("restored"),
  "notice:decision-void:tampered": voided("tampered"),
};

const CARD_LINK = "https://acme.slack.com/archives/C0OPS/p1795176000000100";
const LINK = "0123456789abcdef".repeat(4);

const entryOf = (seq: number, facts: Partial<AuditEntry>): NotificationFacts["entry"] => ({
  seq,
  link: LINK,
  entry: anAuditEntry(CREATED, {
    runId: RunId("run_7"),
    approval,
    by: { team: TEAM, user: BEN },
    digest: REQUEST.digest,
    policy: { version: "0123456789ab", rule: "production" },
    ...facts,
  }),
});

const APPROVED = entryOf(41, { what: "decided", verdict: "approve", reason: "Checked the plan" });
const DENIED = entryOf(41, { what: "decided", verdict: "deny", reason: "Not before the freeze ends" });
const UNDONE = entryOf(42, {
  what: "settled",
  outcome: "void: undone",
  verdict: "approve",
  reason: "Checked the plan",
});

function notification(
  kind: Notification["kind"],
  entry: NotificationFacts["entry"],
  about: NotificationFacts["about"] = null,
  { reach = "maybe", ...more }: DrawnWith & Pick<NotificationFacts, "reach"> = {},
): readonly Example[] {
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const made: Notification = { id: aNonce(), kind, entry: entry.seq, to: ADMIN, madeAt: NOON, post };
  const facts = { entry, about, action: REQUEST.action, channel: CREATED.channel, card: null, reach };
  return [{ when: "", drawn: named(notificationMessage(made, facts, more), DEPLOYMENT) }];
}

const weekEnded = (at: number) => entryOf(42, { what: "week-ended", at, by: null, approval: null });
const LOOK_BACK: Notification = {
  id: aNonce(),
  kind: "look-back",
  entry: 42,
  to: CREATED.channel,
  madeAt: NOON,
  post: { type: "planned", notBefore: 0, tries: 0 },
};
const LOOK_BACK_FACTS = { about: null, action: null, channel: null, card: null };

/** The result of a dispute that redraws the receipt. */
export const REPORTED = {
  reportedAt: NOON,
  entry: APPROVED,
  receipt: {
    id: aNonce(),
    kind: "receipt",
    entry: APPROVED.seq,
    to: BEN,
    madeAt: NOON,
    post: { type: "planned", notBefore: 0, tries: 0, why: "" },
  },
  facts: { entry: APPROVED, about: null, action: REQUEST.action, channel: CREATED.channel, card: null },
  reach: "maybe",
} as const;

export const DENIAL_REPORTED = {
  ...REPORTED,
  entry: DENIED,
  facts: { ...REPORTED.facts, entry: DENIED },
} as const;
export const UNDO_REPORTED = {
  ...REPORTED,
  entry: UNDONE,
  facts: { ...REPORTED.facts, entry: UNDONE },
} as const;

export const NOTIFICATIONS: Record<
  Extract<MessageId, `${"receipt" | "notification"}:${string}`>,
  readonly Example[]
> = {
  "receipt:approve": notification("receipt", APPROVED),
  "receipt:deny": notification("receipt", DENIED),
  "receipt:undo": notification("receipt", UNDONE),
  "receipt:several": [
    {
      when: "",
      drawn: named(
        severalReceipts(
          [APPROVED, UNDONE, DENIED].map((entry) => ({
            receipt: { id: aNonce() },
            facts: { entry, about: null, action: REQUEST.action, channel: CREATED.channel, card: null },
            link: CARD_LINK,
          })),
        ),
        DEPLOYMENT,
      ),
    },
    {
      when: "one of them is reported",
      drawn: named(
        severalReceipts(
          [APPROVED, DENIED].map((entry, at) => ({
            receipt: { id: aNonce() },
            facts: { entry, about: null, action: REQUEST.action, channel: CREATED.channel, card: null },
            link: null,
            ...(at === 0 ? { reportedAt: NOON } : {}),
          })),
        ),
        DEPLOYMENT,
      ),
    },
  ],
  "receipt:reported": notification("receipt", APPROVED, null, { reportedAt: NOON }),
  "notification:dispute": [
    ...notification("dispute", entryOf(42, { what: "disputed" }), APPROVED, { link: CARD_LINK }),
    ...notification("dispute", entryOf(42, { what: "disputed" }), APPROVED, { reach: "not-yet" }).map(
      (example) => ({ ...example, when: "not sent yet" }),
    ),
    ...notification("dispute", entryOf(42, { what: "disputed" }), APPROVED, { reach: "never" }).map(
      (example) => ({ ...example, when: "never sent" }),
    ),
    ...notification("dispute", entryOf(43, { what: "disputed" }), DENIED, { link: CARD_LINK }).map(
      (example) => ({ ...example, when: "of a denial" }),
    ),
    ...notification("dispute", entryOf(43, { what: "disputed" }), UNDONE, { link: CARD_LINK }).map(
      (example) => ({ ...example, when: "of an approval that was taken back" }),
    ),
  ],
  "notification:head": notification("head", entryOf(42, {})),
  "notification:tampering": notification(
    "tampering",
    entryOf(42, { what: "tampering-found", outcome: "run run_7: the row does not match its seal" }),
  ),
  "notification:freeze": [
    ...notification(
      "freeze",
      entryOf(42, { what: "frozen", approval: null, reason: "The deploy agent loops" }),
    ),
    ...notification(
      "freeze",
      entryOf(42, { what: "freeze-lifted", approval: null, channel: null, reason: "" }),
    ),
  ],
  "notification:answered": [
    ...notification("answered", entryOf(43, { ...APPROVED.entry, what: "settled", outcome: "confirmed" })),
    ...notification("answered", entryOf(43, { ...DENIED.entry, what: "settled", outcome: "confirmed" })),
    ...notification(
      "answered",
      entryOf(43, { what: "settled", outcome: "confirmed", verdict: "deny", by: null, reason: "no one" }),
    ),
  ],
  "notification:expired": notification(
    "expired",
    entryOf(43, { what: "closed", outcome: "expired", by: null }),
  ),
  "notification:look-back": LOOK_BACKS.map(({ when, lookBack, at }) => ({
    when,
    drawn: named(
      notificationMessage(LOOK_BACK, { ...LOOK_BACK_FACTS, entry: weekEnded(at), lookBack }),
      DEPLOYMENT,
    ),
  })),
  "notification:redaction": notification(
    "redaction",
    entryOf(42, { what: "redacted", reason: "It held a password", outcome: "a request was erased" }),
  ),
};
