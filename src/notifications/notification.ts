// Messages that follow from the audit and belong to no run's thread: a receipt to whoever decided, word to the admins when somebody
// says «This was not me», and the daily head in the audit channel.

import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import type { KeptEntry } from "../audit/entry.ts";

export type Notification = {
  /** Also the value of its button, so bound to the one person it went to. */
  readonly id: Nonce;
  readonly kind: "receipt" | "dispute" | "head" | "tampering" | "redaction";
  /** The number of the entry that it tells of. */
  readonly entry: number;
  readonly to: UserId | ChannelId;
  readonly madeAt: number;
  readonly post: PostedMessage;
};

/** What a letter is written from: the audit as it is. */
export type NotificationFacts = {
  readonly entry: KeptEntry;
  /** The entry that this one is about. */
  readonly about: KeptEntry | null;
  /** Of the request that was decided on; null where the service named none. */
  readonly action: string | null;
  /** Null: the run is forgotten. */
  readonly channel: ChannelId | null;
};

/** Slack, as far as letters need it. Every call is one attempt; rejects with PortError. */
export type NotificationSender = {
  /** Not idempotent. */
  post(notification: Notification, facts: NotificationFacts): Promise<MessageTs>;
  /** Idempotent. Copies of the letter that are there; none where nobody can look: in direct messages. */
  find(notification: Notification): Promise<readonly MessageTs[]>;
  /** Idempotent. Of a letter in a channel. */
  remove(notification: Notification, ts: MessageTs): Promise<void>;
  /** Not idempotent: a file in a direct message. */
  file(
    to: UserId,
    file: { readonly name: string; readonly text: string; readonly says: string },
  ): Promise<void>;
};

/** Who hears of the audit, from the configuration. */
export type AuditReaders = {
  readonly team: TeamId;
  /** Where heads and disputes are told; null: only in the log. */
  readonly channel: ChannelId | null;
  /** They hear of disputes, and may be given the audit of a run. */
  readonly admins: readonly UserId[];
};
