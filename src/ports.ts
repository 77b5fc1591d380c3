// What the use cases need from the outside world, in terms of the domain rather than of Slack, SQL or HTTP.

import type { Orphan, OwnMessage } from "./domain/orphan.ts";
import type { Verdict } from "./domain/approval.ts";
import type { Person } from "./domain/authorization.ts";
import type { RefusalReason } from "./domain/command-refusal.ts";
import type { Outcome } from "./domain/effect.ts";
import type { ApprovalId, ChannelId, GroupId, MessageTs, RunId, TeamId, UserId } from "./domain/ids.ts";
import type { Json } from "./domain/json.ts";
import type { UploadedFile } from "./domain/posted-message.ts";
import type { NoticeContent } from "./domain/notice.ts";
import type { Run } from "./domain/run.ts";
import type { Slot } from "./domain/slot.ts";
import type { Snapshot } from "./domain/snapshot.ts";

/**
 * A call to the outside world failed. `applied` is "no" if the call certainly had no effect, and "maybe" if its answer was lost. `retry` is
 * "never" if the same call would be refused again.
 */
export class PortError extends Error {
  override readonly name = "PortError";
  readonly applied: "no" | "maybe";
  readonly retry: "later" | "never";
  readonly retryAfterMs: number | null;
  /** A stable word for logs and metrics (`timeout`, `http_503`, `not_in_channel`). The message is for people. */
  readonly code: string;
  /** The message without host names and addresses, for people who may not see our network. */
  readonly publicMessage: string;
  /** Whether the message quotes the agent service. The service may quote a request, so the log then gets only the code. */
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

/**
 * The agent-run service. adapters/agents/agent-service.ts implements it. Every call is one HTTP request of at most 10 s, which is never
 * repeated automatically.
 */
export type AgentService = {
  /** Not idempotent. Rejects with PortError, with `applied` "maybe" if a run may have been created. `key` is sent as `Idempotency-Key`. */
  create(input: string, key: string): Promise<Snapshot>;
  /** Idempotent. Resolves to "missing" on a 404. Rejects with PortError. `timeoutMs` shortens the usual limit. */
  fetchRun(id: RunId, timeoutMs?: number): Promise<FetchedRun>;
  /** Sends one POST. The caller decides what may follow. Never rejects. */
  sendDecision(
    run: RunId,
    approval: ApprovalId,
    decision: { verdict: Verdict; reason: string; asked?: Json; volatile?: readonly string[] },
  ): Promise<DecisionAnswer>;
  /** Calls `GET /v1/health` without the key. Never rejects. */
  health(): Promise<HealthReport>;
};

export type DecisionAnswer = Extract<
  Outcome,
  { type: "confirmed" | "elsewhere" | "later" | "refused" | "unsure" }
>;

/** The token gateway. `health` calls its `/healthz` and never rejects. */
export type Gateway = { health(): Promise<HealthReport> };

export type HealthReport = {
  readonly ok: boolean;
  readonly latencyMs: number;
  /** What is wrong, for people. Null if nothing is. */
  readonly fault: string | null;
  /** The fault without host names and addresses of ours. */
  readonly publicFault: string | null;
  /** Fields of the service's answer: status, version, service, message, endpoints. Untrusted text. */
  readonly says: { readonly [field: string]: Json };
};

/** Slack, as the runs need it. Every call is one attempt, and rejects with PortError unless noted. */
export type Chat = {
  /**
   * Resolves when Slack will accept one more call of this kind, the most urgent first. `isWanted` is checked at that moment, so a call that
   * is no longer wanted does not take the turn of another call.
   */
  waitForTurn(effect: PacedEffect, isWanted?: () => boolean): Promise<void>;
  /**
   * Informs the requester privately that their run's thread is on its way, if a message waits long for its turn. Called before
   * `waitForTurn`. Never rejects, because nothing depends on it.
   */
  notifyIfQueued(run: Run, effect: PacedEffect): Promise<void>;
  /** Raises the urgency of a message's update that still waits for its turn. Never lowers it. */
  raiseUrgency(effect: PacedEffect): void;
  /** Sets the number of processes that share the workspace's rate limits. May be called again with the same number. */
  shareLimits(among: number): void;
  /** Not idempotent. Draws `slot` from the run's current state. */
  post(run: Run, slot: Slot): Promise<MessageTs>;
  /** Idempotent. Resolves to "gone" if the message was deleted, and to "unchangeable" if Slack no longer allows changes. */
  update(run: Run, slot: Slot, ts: MessageTs): Promise<"updated" | "gone" | "unchangeable">;
  /** Idempotent. Resolves to all copies of the slot's message, oldest first. */
  find(run: Run, slot: Slot): Promise<readonly MessageTs[]>;
  /** Idempotent. Resolves to whether the message is still in its channel. Misses a reply that is not also sent to the channel. */
  isThere(channel: ChannelId, ts: MessageTs): Promise<boolean>;
  /** Idempotent. */
  remove(run: Run, slot: Slot, ts: MessageTs): Promise<void>;
  /** May be repeated, because an upload that is never shared is invisible. */
  upload(run: Run, slot: Slot): Promise<UploadedFile>;
  /** Not idempotent. Puts the file into the run's thread. Resolves to "gone" if the upload has expired. */
  share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone">;
  /** Idempotent. Resolves to whether the file is in the run's thread. */
  hasFile(run: Run, file: string): Promise<boolean>;
  /** Sends a private notice to one person (by direct message if nothing else works), or posts to another channel. */
  notify(run: Run, to: UserId | ChannelId, says: NoticeContent): Promise<void>;
};

/**
 * The run messages of this installation in Slack, whether the store knows them or not. Every call is one attempt, and rejects with
 * PortError. Before each call, the caller waits for its turn (`Chat.waitForTurn`).
 */
export type OwnMessages = {
  /** Resolves to a page of the channels that the app is in. */
  channels(cursor: string): Promise<{ readonly channels: readonly ChannelId[]; readonly next: string }>;
  /** Resolves to a page of messages since `at` (wall time), newest first. "" is the first cursor, and as `next` means the last page. */
  since(
    channel: ChannelId,
    at: number,
    cursor: string,
  ): Promise<{ readonly messages: readonly OwnMessage[]; readonly next: string }>;
  /** Resolves to null if the message does not exist, is not ours, or belongs to another installation. */
  at(channel: ChannelId, ts: MessageTs): Promise<OwnMessage | null>;
  /** Returns null if the message belongs to none of these slots. Makes no call. */
  slotOf(message: OwnMessage, run: Run, slots: readonly Slot[]): Slot | null;
  /** Idempotent. Removes the message's buttons, and says what replaces it. */
  close(message: OwnMessage, orphan: Orphan): Promise<"updated" | "gone" | "unchangeable">;
};

export type PacedEffect = {
  readonly channel: ChannelId | UserId;
  /** For an update: the message that it changes. Absent if unknown, or for other calls. */
  readonly message?: MessageTs;
  /** "sweep" is for background reads. */
  readonly kind: "post" | "update" | "read" | "sweep" | "other";
  /** 0 is the most urgent. */
  readonly urgency: 0 | 1 | 2 | 3;
};

/** Look-ups of people in Slack. `maxAgeMs`: how old a cached answer may be. */
export type People = {
  /** Sets the number of processes that share the workspace's rate limits. May be called again with the same number. */
  readonly shareLimits: (among: number) => void;
  /** Resolves to facts about the person. Rejects with PortError if Slack does not answer. */
  lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person>;
  /** Resolves to the person's current name, or null if Slack does not say. People choose their names, so it is no evidence. Never rejects. */
  nameOf(user: UserId): Promise<string | null>;
  /** Resolves to the person's channels, among those that the app is in. Rejects with PortError. */
  channelsOf(user: UserId, maxAgeMs: number): Promise<ReadonlySet<ChannelId>>;
  /** Resolves to all members of a user group or a channel. Rejects with PortError. */
  membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]>;
  /** Resolves to whether every full member can open the channel. Rejects with PortError. */
  isPublic(channel: ChannelId, maxAgeMs: number): Promise<boolean>;
  /**
   * Resolves to whether the person is a member, for each of the sets. A channel is missing in the answer if Slack does not say: the app
   * cannot see it, or it has too many members. Rejects with PortError if Slack does not answer.
   */
  memberOf(
    user: UserId,
    sets: readonly (GroupId | ChannelId)[],
    maxAgeMs: number,
  ): Promise<ReadonlyMap<GroupId | ChannelId, boolean>>;
};

/** The logger that the use cases need. Fields contain ids, never secrets or texts that people wrote. */
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
  refusal(because: RefusalReason): void;
  outage(on: boolean): void;
  /** The number of listed approvals that cannot be read. */
  unreadable(approvals: number): void;
  /** The number of findings of tampering that are not acknowledged. */
  tampered(findings: number): void;
  /** The time from when a request was first seen until it had a message with buttons. */
  cardShown(seconds: number): void;
  /**
   * The time until the service confirmed a decision: since it was recorded, or since the first attempt to send it after its hold. If this
   * process took the run over in between, the time since the person decided.
   */
  decisionConfirmed(seconds: number): void;
  /** A call to the store failed. */
  storeFault(code: string): void;
  /** The lease of this process lapsed while it held runs. */
  leaseLapsed(): void;
  /** The number of receipts and alerts in the outbox of this process, without receipts that are held to share a message. */
  notificationsWaiting(count: number): void;
  /** The number of alarms among them. */
  alarmsWaiting(count: number): void;
  slackCall(method: string, outcome: "ok" | "refused" | "rate_limited" | "failed"): void;
  /** The audit sink did not accept entries. */
  auditSinkFailed(): void;
  /** The number of entries that the audit sink has not accepted yet. */
  auditSinkLag(entries: number): void;
};

/** A place outside the database to which the audit's entries are copied. */
export type AuditSink = {
  /** Identifies the place. A different name is a new sink, which gets the audit from its beginning. */
  readonly name: string;
  /** Each line ends in a newline. Resolves once all lines are accepted. Rejects with PortError, after which some may be accepted. */
  write(lines: readonly string[]): Promise<void>;
  close(): Promise<void>;
};
