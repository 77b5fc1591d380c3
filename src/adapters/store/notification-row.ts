// Notifications as rows, and back. Their rows are not sealed: what they tell is read from the audit.

import { ChannelId, Nonce, UserId } from "../../domain/ids.ts";
import type { PostedMessage } from "../../domain/posted-message.ts";
import type { Notification } from "../../notifications/notification.ts";
import { type Doc, either, id, number, record, word } from "./document-shape.ts";
import type { Findings } from "./findings.ts";
import { postedMessage } from "./run-document.ts";
import { parsedJson } from "./run-row.ts";
import { brokenNotification } from "./seals.ts";
import type { NotificationRow } from "./tables.ts";

const addressed: Doc<Omit<Notification, "post">> = record<Omit<Notification, "post">>({
  id: id(Nonce),
  kind: word({ receipt: true, dispute: true, head: true, tampering: true, redaction: true }),
  entry: number,
  to: either(id(UserId), id(ChannelId)),
  madeAt: number,
});

export function toNotificationRow({ id, kind, entry, to, madeAt, post }: Notification): NotificationRow {
  return { id, kind, entry, to_id: to, made_at: madeAt, to_do: 1, disputed: 0, post: JSON.stringify(post) };
}

/** Null: nobody can tell what it is or to whom it goes. That is reported, and the others go on. */
export function fromNotificationRow(
  row: NotificationRow,
  { report }: Pick<Findings, "report">,
): Notification | null {
  const { id, kind, entry, to_id: to, made_at: madeAt } = row;
  const facts = addressed.safeParse({ id, kind, entry, to, madeAt });
  const post = postOf(row);
  if (!facts.success || post === null) report(brokenNotification(row));
  return facts.success ? { ...facts.data, post: post ?? LOST } : null;
}

/** How far it came is not known: it is looked for, and sent when it is not there. */
const LOST: PostedMessage = { type: "unsure", lookAt: 0, tries: 0 };

function postOf({ id, post }: NotificationRow): PostedMessage | null {
  try {
    return postedMessage.parse(parsedJson(`notification ${id}`, post));
  } catch {
    return null;
  }
}
