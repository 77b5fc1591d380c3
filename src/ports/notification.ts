// Messages that follow from the audit and belong to no run's thread: a receipt for the person who decided, alerts for the admins, and the
// daily head in the audit channel.

import type { KeptEntry } from "../audit/entry.ts";
import type { LookBack } from "../audit/look-back.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";

export type Notification = {
  /** Also the value of its button, and so bound to its one recipient. */
  readonly id: Nonce;
  readonly kind:
    | "receipt"
    | "receipt-at-once"
    | "dispute"
    | "head"
    | "tampering"
    | "redaction"
    | "freeze"
    | "answered"
    | "expired"
    | "look-back";
  /** The number of the entry that it is about. */
  readonly entry: number;
  readonly to: UserId | ChannelId;
  readonly madeAt: number;
  readonly post: PostedMessage;
};

export const isReceipt = ({ kind }: Pick<Notification, "kind">): boolean =>
  kind === "receipt" || kind === "receipt-at-once";

/** What the message of several receipts shows. */
export const SEVERAL_RECEIPTS = "several receipts";

/** What a notification is drawn from: the audit. */
export type NotificationFacts = {
  readonly entry: KeptEntry;
  /** The entry that this one is about. */
  readonly about: KeptEntry | null;
  /** The action of the request that was decided on; null where the service named none. */
  readonly action: string | null;
  /** Null: the run is deleted. */
  readonly channel: ChannelId | null;
  /** Its card there, for a link. Null: there is none. */
  readonly card: MessageTs | null;
  /** Of a look back: its figures. */
  readonly lookBack?: LookBack;
};

/** Each takes two of the fifty blocks of a message. */
export const RECEIPTS_AT_ONCE = 20;

/** `alt`: what it shows, in words. */
export type Picture = { readonly name: string; readonly bytes: Uint8Array; readonly alt: string };

/** Slack, as far as notifications need it. Every call is one attempt; rejects with PortError. */
export type NotificationSender = {
  /** Not idempotent. */
  post(notification: Notification, facts: NotificationFacts): Promise<MessageTs>;
  /** Not idempotent. One message for at most `RECEIPTS_AT_ONCE` receipts of one person. */
  postReceipts(
    to: UserId | ChannelId,
    receipts: readonly { readonly receipt: Notification; readonly facts: NotificationFacts }[],
  ): Promise<MessageTs>;
  /** Idempotent. The copies of the notification; none in direct messages, which cannot be read back. */
  find(notification: Notification): Promise<readonly MessageTs[]>;
  /** Idempotent. Removes a copy in a channel. */
  remove(notification: Notification, ts: MessageTs): Promise<void>;
  /** Not idempotent: a picture in the thread of this message. */
  attach(to: UserId | ChannelId, ts: MessageTs, picture: Picture): Promise<void>;
  /** Not idempotent: a file in a direct message. */
  file(
    to: UserId,
    file: { readonly name: string; readonly text: string; readonly says: string },
  ): Promise<void>;
};

/** Who gets notifications about the audit, from the configuration. */
export type AuditReaders = {
  readonly team: TeamId;
  /** The channel for heads and alerts; null: only the log. */
  readonly channel: ChannelId | null;
  /** They get the alerts, and may read the audit of a run. */
  readonly admins: readonly UserId[];
};

/** Pictures of figures, for people who would rather look at them. `tz`: in which its days have their names. Resolves to a PNG. Rejects if it cannot be drawn. */
export type DrawLookBack = (lookBack: Pick<LookBack, "days">, tz: string) => Promise<Uint8Array>;
