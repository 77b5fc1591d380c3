// Notifications: messages that follow from the audit and do not belong to a run's thread, such as receipts for people who decided, alerts
// for the admins, and the daily head in the audit channel.

import type { AuditEntry, KeptEntry } from "../audit/entry.ts";
import type { LookBack } from "../audit/look-back.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";

export type Notification = {
  /** Also the value of its button, which is therefore bound to the recipient. */
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
  /** The number of the audit entry that it is about. */
  readonly entry: number;
  readonly to: UserId | ChannelId;
  readonly madeAt: number;
  readonly post: PostedMessage;
};

/** The notifications that were sent, and those that will be. */
export type NotificationStore = {
  /** Adds the notifications, except those with the same kind, entry and recipient as a stored one. */
  addNotifications(notifications: readonly Notification[]): Promise<void>;
  /** Resolves to the newest entry up to `head` that a notification follows from, or to 0. The audit's daily heads follow from none. */
  newestNotified(head: number): Promise<number>;
  /**
   * Resolves to the first unfinished ones that are wanted: alarms first, receipts that may share a message last, and the oldest of each
   * first. `isWanted` is asked about one after the other, in this order, until `limit` are found.
   */
  notifications(
    limit: number,
    isWanted?: (notification: Notification) => boolean,
  ): Promise<readonly Notification[]>;
  /** Resolves to the unfinished ones of kinds that this release does not know, oldest first. All other methods leave these out. */
  strangeNotifications(limit: number): Promise<readonly Pick<Notification, "id" | "entry">[]>;
  saveNotification(notification: Notification, toDo: boolean): Promise<void>;
  notification(id: Nonce): Promise<Notification | null>;
  /** Resolves to the notifications that share this message, in the order of their entries. */
  notificationsIn(to: Notification["to"], ts: MessageTs): Promise<readonly Notification[]>;
  /**
   * Appends the entry, which refers to the decision. Resolves to "known", and writes nothing, if a proven entry of the audit already says so
   * for the same person.
   */
  dispute(id: Nonce, entry: AuditEntry): Promise<"disputed" | "known">;
  /** Resolves to the time (ms) of the first proven entry that says so. Null if there is none. Finds it by an index. */
  disputedAt(report: Report): Promise<number | null>;
};

/** Who disputes which decision. `refers`: the entry of the decision. */
export type Report = Pick<AuditEntry, "run" | "approval" | "refers" | "by">;

export const isReceipt = ({ kind }: Pick<Notification, "kind">): boolean =>
  kind === "receipt" || kind === "receipt-at-once";

/**
 * The name of the document with the number of the last audit entry whose notifications were created. The name is stored, so it stays,
 * although we now say notifications.
 */
export const NOTIFICATIONS_CURSOR = "audit letters";

/** Alarms are sent before everything else: somebody may be forging decisions. */
export const ALARMS = ["dispute", "tampering"] as const satisfies readonly Notification["kind"][];

export const isAlarm = ({ kind }: Pick<Notification, "kind">): boolean =>
  ALARMS.some((alarm) => alarm === kind);

/** The render key of a message with several receipts. */
export const SEVERAL_RECEIPTS = "several receipts";

/** Whether a decision has left for the service. "never": it has not, and it never will. "maybe": it has, or we don't know. */
export type Reach = "never" | "not-yet" | "maybe";

/** What a notification is drawn from. All of it comes from the audit. */
export type NotificationFacts = {
  readonly entry: KeptEntry;
  /** The entry that `entry` refers to. */
  readonly about: KeptEntry | null;
  /** The action of the request that was decided on. Null if the service named none. */
  readonly action: string | null;
  /** The run's channel, for a link. Null if the run is deleted or cannot be read. */
  readonly channel: ChannelId | null;
  /** The card in that channel, for a link. Null if there is none. */
  readonly card: MessageTs | null;
  /** Of a disputed decision. Left out if the entry is no dispute. */
  readonly reach?: Reach;
  /** The figures of a look-back. */
  readonly lookBack?: LookBack;
};

/** The most receipts in one message. Each takes two of the fifty blocks of a message. */
export const RECEIPTS_AT_ONCE = 20;

/** `alt`: a description of what the picture shows. */
export type Picture = { readonly name: string; readonly bytes: Uint8Array; readonly alt: string };

/** Slack, as notifications need it. Every call is one attempt, and rejects with PortError. */
export type NotificationSender = {
  /** Not idempotent. */
  post(notification: Notification, facts: NotificationFacts): Promise<MessageTs>;
  /** Not idempotent. Posts one message with at most `RECEIPTS_AT_ONCE` receipts of one person. */
  postReceipts(
    to: UserId | ChannelId,
    receipts: readonly { readonly receipt: Notification; readonly facts: NotificationFacts }[],
  ): Promise<MessageTs>;
  /** Idempotent. Resolves to the copies of the notification. Finds none in direct messages, which cannot be read back. */
  find(notification: Notification): Promise<readonly MessageTs[]>;
  /** Idempotent. Removes a copy in a channel. */
  remove(notification: Notification, ts: MessageTs): Promise<void>;
  /** Not idempotent. Posts a picture in the thread of this message. */
  attach(to: UserId | ChannelId, ts: MessageTs, picture: Picture): Promise<void>;
  /** Not idempotent. Sends a file in a direct message. */
  file(
    to: UserId,
    file: { readonly name: string; readonly text: string; readonly says: string },
  ): Promise<void>;
};

/** Who gets notifications about the audit, from the configuration. */
export type AuditReaders = {
  readonly team: TeamId;
  /** The channel for heads and alerts. Null if they go only to the log. */
  readonly channel: ChannelId | null;
  /** The people who get the alerts and may read the audit of a run. */
  readonly admins: readonly UserId[];
};

/** Draws the figures of a look-back as a chart. `tz`: the time zone of its days. Resolves to a PNG. Rejects if it cannot be drawn. */
export type DrawLookBack = (lookBack: Pick<LookBack, "days">, tz: string) => Promise<Uint8Array>;
