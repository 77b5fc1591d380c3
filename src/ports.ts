// What the use cases need from the outside world, in domain words, without words of Slack, SQL or HTTP.

import type { Orphan, OwnMessage } from "./domain/after-restore.ts";
import type { Verdict } from "./domain/approval.ts";
import type { Person } from "./domain/authorization.ts";
import type { Outcome } from "./domain/effect.ts";
import type { ApprovalId, ChannelId, GroupId, MessageTs, RunId, TeamId, UserId } from "./domain/ids.ts";
import type { Json } from "./domain/json.ts";
import type { UploadedFile } from "./domain/posted-message.ts";
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

/**
 * The messages of runs that this installation has in Slack, whatever the store knows of them. Every call is one
 * attempt; rejects with PortError. The caller waits for its turn (`Chat.waitForTurn`) before each.
 */
export type OwnMessages = {
  /** Those that the app is in. */
  channels(cursor: string): Promise<{ readonly channels: readonly ChannelId[]; readonly next: string }>;
  /** Newest first, since a moment (wall time), a page at a time: "" is the first cursor and stands for no further page. */
  since(
    channel: ChannelId,
    at: number,
    cursor: string,
  ): Promise<{ readonly messages: readonly OwnMessage[]; readonly next: string }>;
  /** Null: it is not there, not ours, or of another installation. */
  at(channel: ChannelId, ts: MessageTs): Promise<OwnMessage | null>;
  /** Null: the message belongs to none of these slots. No call. */
  slotOf(message: OwnMessage, run: Run, slots: readonly Slot[]): Slot | null;
  /** Idempotent. Takes its buttons, and says what stands in its place. */
  close(message: OwnMessage, orphan: Orphan): Promise<"updated" | "gone" | "unchangeable">;
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
  /**
   * For each of these: is the person a member? Of a channel that is missing in the answer, Slack does not say: the app cannot see it, or it
   * has too many members. Rejects with PortError when Slack does not answer.
   */
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
