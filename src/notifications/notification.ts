// Messages that follow from the audit and belong to no run's thread: a receipt to whoever decided, word to the admins when somebody
// says «This was not me», and the daily head in the audit channel.

import type { AuditFault } from "../domain/audit/verify-chain.ts";
import type { ApprovalId, ChannelId, MessageTs, Nonce, RunKey, TeamId, UserId } from "../domain/ids.ts";
import type { PostedMessage } from "../domain/posted-message.ts";
import type { AuditEntry, KeptEntry } from "../audit/entry.ts";

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

/** What the store keeps of the audit besides appending to it. Every method rejects with PortError when the database fails. */
export type AuditLog = {
  /** Of these kinds, after this number, oldest first. */
  auditAfter(seq: number, what: readonly AuditEntry["what"][], limit: number): Promise<readonly KeptEntry[]>;
  auditEntry(seq: number): Promise<KeptEntry | null>;
  /** The entry, if this program wrote it at this number as it stands. A few look-ups by index. */
  provenEntry(seq: number): Promise<Proven>;
  /** «settled» entries of this approval after this number, oldest first. */
  settledAfter(seq: number, run: RunKey, approval: ApprovalId): Promise<readonly KeptEntry[]>;
  /** All entries of the run with this id of ours or of the service's, oldest first; also of one that is forgotten. */
  auditOfRun(id: string): Promise<readonly KeptEntry[]>;
  /** Null: nothing was ever written. */
  auditHead(): Promise<KeptEntry | null>;
  /** The full request kept under this digest. */
  auditText(digest: string): Promise<string | null>;
  /** Proof for whoever checks entries elsewhere. */
  auditProof(seq: number): Promise<AuditProof | null>;
  /** A letter of the same kind, about the same entry, to the same person or channel is not added again. */
  addNotifications(notifications: readonly Notification[]): Promise<void>;
  /** Those on which something is to be done or awaited, oldest first. */
  notifications(limit: number): Promise<readonly Notification[]>;
  saveNotification(notification: Notification, toDo: boolean): Promise<void>;
  notification(id: Nonce): Promise<Notification | null>;
  /** The entry and the mark on the letter in one; «known» when the letter is marked already, and then nothing is written. */
  dispute(id: Nonce, entry: AuditEntry): Promise<"disputed" | "known">;
};

export type Proven =
  { readonly ok: true; readonly kept: KeptEntry } | { readonly ok: false; readonly fault: AuditFault };

export type AuditProof = {
  readonly text: string;
  readonly key: string;
  readonly signature: string;
};

/** Who hears of the audit, from the configuration. */
export type AuditReaders = {
  readonly team: TeamId;
  /** Where heads and disputes are told; null: only in the log. */
  readonly channel: ChannelId | null;
  /** They hear of disputes, and may be given the audit of a run. */
  readonly admins: readonly UserId[];
};
