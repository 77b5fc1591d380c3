// Draws the notifications that follow from the audit, with the receipt's button.

import type { Block } from "@slack/types";
import type { KeptEntry } from "../../../audit/entry.ts";
import { headWords } from "../../../domain/audit/hash-chain.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { Notification, NotificationFacts } from "../../../ports.ts";
import { RECEIPT_NOT_ME } from "../names.ts";
import { type MessageId, withId } from "./message-id.ts";
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

const ACTION_CHARS = 300;
const REASON_CHARS = 500;
const FINDING_CHARS = 1_500;

export function notificationMessage(notification: Notification, facts: NotificationFacts): Message {
  return withId(idOf(notification, facts), drawn(notification, facts));
}

function idOf({ kind }: Notification, { entry: { entry } }: NotificationFacts): MessageId {
  if (kind !== "receipt") return `notification:${kind}`;
  return `receipt:${entry.verdict === "deny" ? "deny" : "approve"}`;
}

function drawn({ id, kind }: Notification, facts: NotificationFacts): Message {
  switch (kind) {
    case "receipt":
      return receipt(id, facts);
    case "dispute":
      return dispute(facts);
    case "redaction":
      return redaction(facts.entry);
    case "head":
      return head(facts.entry);
    case "tampering":
      return tampering(facts.entry);
  }
}

function receipt(id: string, facts: NotificationFacts): Message {
  const { entry } = facts.entry;
  const title = `Your ${entry.verdict === "deny" ? "denial" : "approval"} is recorded`;
  const button = {
    type: "button",
    action_id: RECEIPT_NOT_ME,
    value: id,
    style: "danger",
    text: { type: "plain_text", text: "This was not me", emoji: false },
  };
  const blocks: Block[] = [
    rich(
      line(span(`${title}, `, { bold: true }), moment(entry.at), ...placeOf(facts)),
      quote(untrustedSpan(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
      ...reasonOf(facts.entry),
      line(span("Its card shows whether the service took it.")),
      line(span("If somebody else did it in your name, press the button: the admins are told at once.")),
    ),
    { type: "actions", block_id: `receipt-${id}`, elements: [button] } as Block,
    note(smallPrint(facts.entry)),
  ];
  return { text: escaped(`${title}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

function dispute(facts: NotificationFacts): Message {
  const about = facts.about ?? facts.entry;
  const { entry } = about;
  const by = entry.by === null ? span("Somebody") : person(entry.by.user);
  const verb = entry.verdict === "deny" ? "denied" : "approved";
  const title = '🚨 "This was not me"';
  const blocks: Block[] = [
    header(title),
    rich(
      line(
        by,
        span(` says that a decision in their name was not theirs. It ${verb}, `),
        moment(entry.at),
        ...placeOf(facts),
        span(":"),
      ),
      quote(untrustedSpan(oneLine(actionOf(facts), ACTION_CHARS), ACTION_CHARS)),
      ...reasonOf(about),
      line(
        span("Countersign takes no decision back by itself, and it may be with the service already. ", {
          bold: true,
        }),
        span("An approval whose card still offers Deny is stopped by denying it there. "),
        span("Stop or undo at the service what followed from it. End this person's Slack sessions. "),
        span(`npm run audit -- show ${oneLine(entry.runId ?? entry.run ?? "", 120)}`, { code: true }),
        span(" shows everything about this run, and "),
        span("npm run audit -- export", { code: true }),
        span(" shows what else was decided in their name."),
      ),
    ),
    note(`${headWords(facts.entry)} marks entry ${about.seq}`),
  ];
  return { text: escaped(`${title}: ${oneLine(actionOf(facts), ACTION_CHARS)}`), blocks };
}

/** Says where something was changed, in our own words and numbers. It quotes nothing from the changed rows. */
function tampering({ seq, link, entry }: KeptEntry): Message {
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
        span("Find out who writes the database. "),
        span("npm run audit -- verify", { code: true }),
        span(
          " tells what is not as it was written; compare it with a backup and with heads that stand outside the database: on cards, in receipts and in the audit channel.",
        ),
      ),
      line(
        span("Then acknowledge it: "),
        span("/agent health", { code: true }),
        span(" shows the code, and "),
        span("/agent audit acknowledge <code> <what you found>", { code: true }),
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
  const title = "A text of the audit was erased";
  const blocks: Block[] = [
    rich(
      line(span(`${title}, `, { bold: true }), moment(at), span(`, ${oneLine(outcome, REASON_CHARS)}.`)),
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
          span("Kept here, it proves later that nothing before it was changed or cut off: "),
          span(`npm run audit -- verify --head "${words}"`, { code: true }),
        ),
      ),
    ],
  };
}

const actionOf = ({ action }: NotificationFacts): string => action ?? "(the service did not say what)";

function placeOf({ channel, entry, about }: NotificationFacts) {
  const { runId } = (about ?? entry).entry;
  return [
    ...(channel === null ? [] : [span(" in "), { type: "channel" as const, channel_id: channel }]),
    ...(runId === null ? [] : [span(" · "), untrustedSpan(runId, 120, { code: true })]),
  ];
}

function reasonOf({ entry }: KeptEntry) {
  if (entry.reason === null || entry.reason === "") return [];
  return [line(span("Reason: "), untrustedSpan(oneLine(entry.reason, REASON_CHARS), REASON_CHARS))];
}

function smallPrint({ seq, link, entry }: KeptEntry): string {
  const request = entry.digest === null ? [] : [`request ${entry.digest.slice(0, 12)}`];
  const rule = entry.policy === null ? [] : [`rule ${oneLine(entry.policy.rule, 80)}`];
  return [headWords({ seq, link }), ...request, ...rule].join(" · ");
}
