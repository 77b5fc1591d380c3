// Messages that follow from the audit and belong to no run's thread: a receipt for the person who decided, alerts for the admins, and the
// daily head in the audit channel.

import type { AuditFault } from "../domain/audit/verify-chain.ts";
import type { ApprovalId, ChannelId, MessageTs, Nonce, RunKey, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import type { AuditEntry, KeptEntry } from "../audit/entry.ts";

export type Notification = {
  /** Also the value of its button, and so bound to its one recipient. */
  readonly id: Nonce;
  readonly kind: "receipt" | "dispute" | "head" | "tampering" | "redaction";
  /** The number of the entry that it is about. */
  readonly entry: number;
  readonly to: UserId | ChannelId;
  readonly madeAt: number;
  readonly post: PostedMessage;
};

/** What a notification is drawn from: the audit. */
export type NotificationFacts = {
  readonly entry: KeptEntry;
  /** The entry that this one is about. */
  readonly about: KeptEntry | null;
  /** The action of the request that was decided on; null where the service named none. */
  readonly action: string | null;
  /** Null: the run is deleted. */
  readonly channel: ChannelId | null;
};

/** Slack, as far as notifications need it. Every call is one attempt; rejects with PortError. */
export type NotificationSender = {
  /** Not idempotent. */
  post(notification: Notification, facts: NotificationFacts): Promise<MessageTs>;
  /** Idempotent. The copies of the notification; none in direct messages, which cannot be read back. */
  find(notification: Notification): Promise<readonly MessageTs[]>;
  /** Idempotent. Removes a copy in a channel. */
  remove(notification: Notification, ts: MessageTs): Promise<void>;
  /** Not idempotent: a file in a direct message. */
  file(
    to: UserId,
    file: { readonly name: string; readonly text: string; readonly says: string },
  ): Promise<void>;
};

/** Reading the audit, and the notifications. Every method rejects with PortError when the database fails. */
export type AuditLog = {
  /** Entries of these kinds after this number, oldest first. */
  auditAfter(seq: number, what: readonly AuditEntry["what"][], limit: number): Promise<readonly KeptEntry[]>;
  auditEntry(seq: number): Promise<KeptEntry | null>;
  /** The entry, if this program wrote it at this number and it is unchanged. A few look-ups by index. */
  provenEntry(seq: number): Promise<Proven>;
  /** "settled" entries of this approval after this number, oldest first. */
  settledAfter(seq: number, run: RunKey, approval: ApprovalId): Promise<readonly KeptEntry[]>;
  /** All entries of the run with this key or service id, oldest first; also of a deleted run. */
  auditOfRun(id: string): Promise<readonly KeptEntry[]>;
  /** Null: the audit is empty. */
  auditHead(): Promise<KeptEntry | null>;
  /** The text stored under this digest. */
  auditText(digest: string): Promise<string | null>;
  /** Proof of an entry for a verifier elsewhere. */
  auditProof(seq: number): Promise<AuditProof | null>;
  /** Does not add a second notification of the same kind, about the same entry, to the same person or channel. */
  addNotifications(notifications: readonly Notification[]): Promise<void>;
  /** Notifications with something to do or to wait for, oldest first. */
  notifications(limit: number): Promise<readonly Notification[]>;
  saveNotification(notification: Notification, toDo: boolean): Promise<void>;
  notification(id: Nonce): Promise<Notification | null>;
  /** Writes the entry and marks the notification in one transaction. "known": it is marked already, and nothing is written. */
  dispute(id: Nonce, entry: AuditEntry): Promise<"disputed" | "known">;
};

export type Proven =
  { readonly ok: true; readonly kept: KeptEntry } | { readonly ok: false; readonly fault: AuditFault };

export type AuditProof = {
  readonly text: string;
  readonly key: string;
  readonly signature: string;
};

/** Who gets notifications about the audit, from the configuration. */
export type AuditReaders = {
  readonly team: TeamId;
  /** The channel for heads and alerts; null: only the log. */
  readonly channel: ChannelId | null;
  /** They get the alerts, and may read the audit of a run. */
  readonly admins: readonly UserId[];
};
