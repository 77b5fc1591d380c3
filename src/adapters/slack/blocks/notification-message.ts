// Draws the notifications that follow from the audit.

import type { Block } from "@slack/types";
import { freezeNotification } from "./brake-blocks.ts";
import { runIdElement, UNNAMED } from "./deployment.ts";
import { lookBackMessage } from "./look-back-message.ts";
import { type MessageId, withId } from "./message-id.ts";
import {
  ACTION_CHARS,
  actionOf,
  channelOf,
  COMMAND,
  type DrawnWith,
  placeOf,
  REASON_CHARS,
  reasonOf,
  receipt,
} from "./receipts.ts";
import {
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
import { isUndo, type KeptEntry } from "../../../audit/entry.ts";
import { headWords } from "../../../domain/audit/hash-chain.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { Notification, NotificationFacts, Reach } from "../../../ports/notification.ts";

const FINDING_CHARS = 1_500;

export function notificationMessage(
  notification: Notification,
  facts: NotificationFacts,
  more: DrawnWith = {},
): Message {
  return withId(idOf(notification, facts, more), drawn(notification, facts, more));
}

function idOf({ kind }: Notification, { entry: { entry } }: NotificationFacts, more: DrawnWith): MessageId {
  if (kind !== "receipt" && kind !== "receipt-at-once") return `notification:${kind}`;
  if (more.reportedAt !== undefined) return "receipt:reported";
  if (isUndo(entry)) return "receipt:undo";
  return `receipt:${entry.verdict === "deny" ? "deny" : "approve"}`;
}

function drawn({ id, kind }: Notification, facts: NotificationFacts, more: DrawnWith): Message {
  switch (kind) {
    case "receipt":
    case "receipt-at-once":
      return receipt(id, facts, more);
    case "dispute":
      return dispute(facts, more);
    case "redaction":
      return redaction(facts.entry);
    case "freeze":
      return freezeNotification(facts.entry, more.command ?? COMMAND);
    case "answered":
    case "expired":
      return answered(kind, facts, more);
    case "look-back":
      return lookBackMessage(facts, more.command ?? COMMAND);
    case "head":
      return head(facts.entry);
    case "tampering":
      return tampering(facts.entry, more.command ?? COMMAND);
  }
}

function disputeWords(entry: NotificationFacts["entry"]["entry"], reach: Reach) {
  if (isUndo(entry))
    return {
      says: "someone else took their approval back",
      stays: "The approval does not come back by itself.",
      todo: "Ask this person whether the request should still be approved, and end",
    };
  const denies = entry.verdict === "deny";
  const says = `someone else gave this ${denies ? "denial" : "approval"} in their name`;
  if (denies && reach !== "never") return { says, ...DENIED };
  return {
    says,
    ...{
      never: { stays: "It was never sent to the service, and it no longer counts.", todo: "End" },
      "not-yet": {
        stays: "It was not sent when this was written.",
        todo: "If its card has a Deny button, deny it there at once, so that it is never sent. End",
      },
      maybe: {
        stays: "Nothing is taken back.",
        todo: "At the service, stop whatever followed from it. If its card has a Deny button, deny it there. End",
      },
    }[reach],
  };
}

/** A denial has no consequences that anyone could stop. */
const DENIED = {
  stays: "Nothing is taken back.",
  todo: "Ask this person whether the request should have been approved. If so, and its card has no buttons, the agent must ask again. End",
};

function dispute(
  facts: NotificationFacts,
  { link = null, deployment = UNNAMED, command = COMMAND }: DrawnWith,
): Message {
  const about = facts.about ?? facts.entry;
  const { entry } = about;
  const { by: disputer } = facts.entry.entry;
  const by = disputer === null ? span("Someone") : person(disputer.user);
  const { says, stays, todo } = disputeWords(entry, facts.reach ?? "maybe");
  const title = '🚨 "This was not me"';
  const run = oneLine(entry.runId ?? entry.run ?? "", 120);
  const what = rich(
    line(by, span(` says that ${says}, `), moment(entry.at), ...channelOf(facts), span(":")),
    quote(untrustedSpan(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
    ...reasonOf(about),
    line(
      span("Run "),
      entry.runId === null ? span(run, { code: true }) : runIdElement(entry.runId, deployment),
      span(" · "),
      ...(link === null ? [] : [{ type: "link" as const, url: link, text: "Open the card" }, span(" · ")]),
      span("Evidence: "),
      span(`${command} audit ${run}`, { code: true }),
    ),
    line(
      span(`${stays} `, { bold: true }),
      span(`${todo} this person's Slack sessions. Then close the dispute: `),
      span(`${command} audit close ${run} <what you found>`, { code: true }),
    ),
  );
  // The block's id contains the head of the audit, so that someone with access to only the database cannot change it.
  const block_id = `audit:${facts.entry.seq}:${facts.entry.link.slice(0, 16)}`;
  const blocks: Block[] = [header(title), { ...what, block_id }];
  return { text: escaped(`${title}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

/** Says in our own words and numbers what was changed. Quotes nothing from the changed rows. */
function tampering({ seq, link, entry }: KeptEntry, command: string): Message {
  const title = "🚨 The database was changed outside Countersign";
  const blocks: Block[] = [
    header(title),
    rich(
      quote(untrustedSpan(oneLine(entry.outcome, FINDING_CHARS), FINDING_CHARS)),
      line(
        span("No approval is sent until an admin acknowledges this. ", { bold: true }),
        span("Denials are still sent. What was changed is not used."),
      ),
      line(
        span("Find out who writes to the database. "),
        span("npm run audit -- verify", { code: true }),
        span(
          " shows what was changed. Compare it with a backup, and with the audit heads that are kept outside the database: on cards, in receipts and in the audit channel.",
        ),
      ),
      line(
        span("Then acknowledge it: "),
        span(`${command} health`, { code: true }),
        span(" shows the code, and "),
        span(`${command} audit acknowledge <code> <what you found>`, { code: true }),
        span(" lets approvals be sent again. The audit records it in your name."),
      ),
    ),
    note(headWords({ seq, link })),
  ];
  return { text: title, blocks };
}

/** The text itself is gone. The audit still names it by its digest. */
function redaction(kept: KeptEntry): Message {
  const { at, digest, outcome } = kept.entry;
  const title = "A text in the audit was erased";
  const blocks: Block[] = [
    rich(
      line(span(`${title}, `, { bold: true }), moment(at), span(`: ${oneLine(outcome, REASON_CHARS)}.`)),
      ...reasonOf(kept),
      line(span("The audit still names it by its digest: "), span(digest ?? "", { code: true })),
      line(span("If none of you ordered that, find out who has the audit's key.")),
    ),
    note(headWords(kept)),
  ];
  return { text: title, blocks };
}

function head(kept: KeptEntry): Message {
  const words = headWords(kept);
  return {
    text: `The audit's head: ${words}`,
    blocks: [
      rich(
        line(span("The audit's head: ", { bold: true }), span(words, { code: true })),
        line(
          span("Kept here, it can prove later that nothing before it was changed or removed: "),
          span(`npm run audit -- verify --head "${words}"`, { code: true }),
        ),
      ),
    ],
  };
}

// Tells the person who asked for a run or watches it that a request was decided, or that its deadline has passed.

function answered(
  kind: "answered" | "expired",
  facts: NotificationFacts,
  { link = null, deployment = UNNAMED }: DrawnWith,
): Message {
  const { entry } = facts.entry;
  const by = kind === "answered" ? entry.by : null;
  const title =
    kind === "expired" ? "⌛ Not decided in time" : entry.verdict === "deny" ? "⛔ Denied" : "✅ Approved";
  const then =
    kind === "expired"
      ? "It can no longer be decided here, and nothing more is sent. The service may still be waiting: have it decided there before anyone starts the task again."
      : by === null
        ? "The deadline passed, so the policy denied it."
        : "The service confirmed it.";
  const action = oneLine(actionOf(facts), ACTION_CHARS);
  return {
    text: escaped(`${title}: ${action}`),
    blocks: [
      rich(
        line(
          span(title, { bold: true }),
          ...(by === null ? [] : [span(" by "), person(by.user)]),
          span(", "),
          moment(entry.at),
          ...placeOf(facts, deployment),
        ),
        quote(untrustedSpan(action, ACTION_CHARS)),
        ...(by === null ? [] : reasonOf(facts.entry)),
        line(
          span(then),
          ...(link === null ? [] : [span(" "), { type: "link" as const, url: link, text: "Open the card" }]),
        ),
      ),
    ],
  };
}
