// What the use cases need from the outside world, in domain words, without words of Slack, SQL or HTTP.

import type { KeptEntry } from "./audit/entry.ts";
import type { LookBack } from "./audit/look-back.ts";
import type { Verdict } from "./domain/approval.ts";
import type { Person } from "./domain/authorization.ts";
import type { Outcome } from "./domain/effect.ts";
import type {
  ApprovalId,
  ChannelId,
  GroupId,
  MessageTs,
  Nonce,
  RunId,
  TeamId,
  UserId,
} from "./domain/ids.ts";
import type { Json } from "./domain/json.ts";
import type { PostedMessage, UploadedFile } from "./domain/posted-message.ts";
import type { NoticeContent, Run, Slot } from "./domain/run.ts";
import type { Snapshot } from "./domain/snapshot.ts";

/**
 * The outside world failed. `applied`: "no", the call surely had no effect; "maybe", its answer was lost.
 * `retry` is "never" where the same call would be refused again.
 */
export class PortError extends Error {
  override readonly name = "PortError";
  readonly applied: "no" | "maybe";
  readonly retry: "later" | "never";
  readonly retryAfterMs: number | null;
  /** A stable word for logs and metrics (`timeout`, `http_503`, `not_in_channel`). The message is for people. */
  readonly code: string;
  /** The message for people who may not see our network: without host names and addresses. */
  readonly publicMessage: string;
  /** The message quotes the agent service, which may quote a request, so the log gets only the code. */
  readonly quotes: boolean;
  constructor(
    message: string,
    facts: {
      applied: "no" | "maybe";
      retry: "later" | "never";
      code: string;
      retryAfterMs?: number | null;
      cause?: unknown;
      quotes?: boolean;
      publicMessage?: string;
    },
  ) {
    super(message, { cause: facts.cause });
    this.applied = facts.applied;
    this.retry = facts.retry;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.quotes = facts.quotes ?? false;
    this.publicMessage = facts.publicMessage ?? message;
  }
}

export type FetchedRun =
  | { readonly type: "snapshot"; readonly snapshot: Snapshot }
  | { readonly type: "missing"; readonly askedAt: number };

/** The agent-run service. Every call is one HTTP request of at most 10 s, which is never repeated automatically. */
export type AgentService = {
  /** Not idempotent. Rejects with PortError: "maybe" when a run may have been created. `key` is sent as `Idempotency-Key`. */
  create(input: string, key: string): Promise<Snapshot>;
  /** Idempotent. "missing" is a 404. Rejects with PortError. `timeoutMs` shortens the usual limit. */
  fetchRun(id: RunId, timeoutMs?: number): Promise<FetchedRun>;
  /** One POST; the caller decides what may follow. Never rejects. */
  sendDecision(
    run: RunId,
    approval: ApprovalId,
    decision: { verdict: Verdict; reason: string; asked?: Json },
  ): Promise<DecisionAnswer>;
  /** `GET /v1/health` without the key. Never rejects. */
  health(): Promise<HealthReport>;
};

export type DecisionAnswer = Extract<
  Outcome,
  { type: "confirmed" | "elsewhere" | "later" | "refused" | "unsure" }
>;

/** The token gateway's `/healthz`. Never rejects. */
export type Gateway = { health(): Promise<HealthReport> };

export type HealthReport = {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** What is wrong, in plain words; null where nothing is. */
  readonly fault: string | null;
  /** The same without host names and addresses of ours. */
  readonly publicFault: string | null;
  /** The service's answer: status, version, service, message, endpoints. Untrusted text. */
  readonly says: { readonly [field: string]: Json };
};

/** Slack, as the runs need it. Every call is one attempt; rejects with PortError. */
export type Chat = {
  /**
   * Resolves when Slack will accept one more call of this kind; the most urgent first. `isWanted` is asked then: a call that is not
   * wanted any more takes no other call's turn.
   */
  waitForTurn(effect: PacedEffect, isWanted?: () => boolean): Promise<void>;
  /**
   * Tells the requester privately, if a message waits long for its turn, that their run's thread is on its way. Called before
   * `waitForTurn`. Never rejects: nothing depends on it.
   */
  tellIfQueued(run: Run, effect: PacedEffect): Promise<void>;
  /** The update of this message, if it still waits for its turn, has become this urgent. It never becomes less urgent. */
  hasten(effect: PacedEffect): void;
  /** So many processes share what the workspace may call. May be called again with the same number. */
  shareLimits(among: number): void;
  /** Not idempotent. Draws `slot` from the run's current state. */
  post(run: Run, slot: Slot): Promise<MessageTs>;
  /** Idempotent. "gone" when the message was deleted, "unchangeable" when Slack no longer allows changes. */
  update(run: Run, slot: Slot, ts: MessageTs): Promise<"updated" | "gone" | "unchangeable">;
  /** Idempotent. All copies of the slot's message, oldest first. */
  find(run: Run, slot: Slot): Promise<readonly MessageTs[]>;
  /** Idempotent. Is this message still in its channel? Does not find a reply that is not also sent to the channel. */
  isThere(channel: ChannelId, ts: MessageTs): Promise<boolean>;
  /** Idempotent. */
  remove(run: Run, slot: Slot, ts: MessageTs): Promise<void>;
  /** May be repeated, because an upload that is never shared is invisible. Resolves to Slack's file id. */
  upload(run: Run, slot: Slot): Promise<UploadedFile>;
  /** Not idempotent: puts the file into the run's thread. "gone" when the upload has lapsed. */
  share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone">;
  /** Idempotent. Is the file in the run's thread? */
  hasFile(run: Run, file: string): Promise<boolean>;
  /** Sends a private notice to one person (in a direct message where nothing else works), or posts to another channel. */
  notify(run: Run, to: UserId | ChannelId, says: NoticeContent): Promise<void>;
};

export type PacedEffect = {
  readonly channel: ChannelId | UserId;
  /** Of an update: the message that it changes. Left out: not known, or there is none. */
  readonly message?: MessageTs;
  /** `sweep`: background reads. */
  readonly kind: "post" | "update" | "read" | "sweep" | "other";
  /** 0 is the most urgent. */
  readonly urgency: 0 | 1 | 2 | 3;
};

export type People = {
  /** So many processes share what the workspace may ask. May be called again with the same number. */
  readonly shareLimits: (among: number) => void;
  /** Fresh facts; an answer up to `maxAgeMs` old may be shared. Rejects with PortError when Slack does not answer. */
  lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person>;
  /** What Slack calls the person now. They choose it, so it is no evidence. Null: unknown, or Slack does not answer. Never rejects. */
  nameOf(user: UserId): Promise<string | null>;
  /** The person's channels, among those that the app is in. Rejects with PortError. */
  channelsOf(user: UserId, maxAgeMs: number): Promise<ReadonlySet<ChannelId>>;
  /** All members of a user group or a channel. Rejects with PortError. */
  membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]>;
  /** Can every full member open the channel? Rejects with PortError. */
  isPublic(channel: ChannelId, maxAgeMs: number): Promise<boolean>;
  /** For each of these: is the person a member? Rejects with PortError when Slack does not answer for one. */
  memberOf(
    user: UserId,
    sets: readonly (GroupId | ChannelId)[],
    maxAgeMs: number,
  ): Promise<ReadonlyMap<GroupId | ChannelId, boolean>>;
};

/** The logger that the use cases need. Fields hold ids, never texts of people or secrets. */
export type EventLog = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** What the use cases count, for `adapters/http/metrics.ts`. */
export type Counters = {
  poll(outcome: string, seconds: number): void;
  pollsInFlight(count: number): void;
  runsWatched(count: number): void;
  effect(what: string, outcome: string): void;
  decision(verdict: string, outcome: string): void;
  refusal(because: string): void;
  outage(on: boolean): void;
  /** The number of listed approvals that cannot be read. */
  unreadable(approvals: number): void;
  /** Findings of tampering that are not acknowledged. */
  tampered(findings: number): void;
  /** From when a request was first seen until it had a message with buttons. */
  cardShown(seconds: number): void;
  /** From when a decision could be sent until the service confirmed it. */
  decisionConfirmed(seconds: number): void;
  /** A call of the store failed. */
  storeFault(code: string): void;
  /** Receipts and alerts in the outbox of this process. */
  notificationsWaiting(count: number): void;
  slackCall(method: string, outcome: "ok" | "refused" | "rate_limited" | "failed"): void;
  /** The sink of the audit did not take entries. */
  auditSinkFailed(): void;
  /** How many entries the sink of the audit has not taken yet. */
  auditSinkLag(entries: number): void;
};

/** Takes the audit's entries elsewhere. */
export type AuditSink = {
  /** Names the place. Another name is another sink, which gets the audit from its beginning. */
  readonly name: string;
  /** Each line ends in a newline. Resolves once all are taken. Rejects with PortError; some may be taken then. */
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

// Messages that follow from the audit and belong to no run's thread: a receipt for the person who decided, alerts for the admins, and the
// daily head in the audit channel.

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
