// What the use cases need of the outside world, in domain words. No Slack, SQL or HTTP word stands here.

import type { Request, Verdict } from "./domain/approval.ts";
import type { AuditMark } from "./domain/audit/hash-chain.ts";
import type { NonceBinding, Person } from "./domain/authorization.ts";
import type { Outcome } from "./domain/effect.ts";
import type {
  ApprovalId,
  ChannelId,
  GroupId,
  MessageTs,
  Nonce,
  RunId,
  RunKey,
  TeamId,
  UserId,
} from "./domain/ids.ts";
import type { Json } from "./domain/json.ts";
import type { UploadedFile } from "./domain/posted-message.ts";
import type { NoticeContent, Run, Slot } from "./domain/run.ts";
import type { Snapshot } from "./domain/snapshot.ts";
import type { AuditEntry } from "./audit/entry.ts";
import type { AuditLog } from "./notifications/notification.ts";

export type { AuditEntry } from "./audit/entry.ts";

/**
 * The world failed. `applied` says what is known of the call: "no", surely not; "maybe", its answer was lost.
 * `retry` is "never" where the same call would be refused again.
 */
export class PortError extends Error {
  override readonly name = "PortError";
  readonly applied: "no" | "maybe";
  readonly retry: "later" | "never";
  readonly retryAfterMs: number | null;
  /** A stable word for logs and metrics (`timeout`, `http_503`, `not_in_channel`). The message is for people. */
  readonly code: string;
  /** The message quotes the agent service, which may quote a request: the log gets the code in its place. */
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
    },
  ) {
    super(message, { cause: facts.cause });
    this.applied = facts.applied;
    this.retry = facts.retry;
    this.code = facts.code;
    this.retryAfterMs = facts.retryAfterMs ?? null;
    this.quotes = facts.quotes ?? false;
  }
}

export type FetchedRun =
  | { readonly type: "snapshot"; readonly snapshot: Snapshot }
  | { readonly type: "missing"; readonly askedAt: number };

/** The agent-run service. Every call is one HTTP request, at most 10 s long, never repeated by itself. */
export type AgentService = {
  /** Not idempotent. Rejects with PortError: "maybe" when a run may have been created. `key` goes along as `Idempotency-Key`. */
  create(input: string, key: string): Promise<Snapshot>;
  /** Idempotent. «missing» is a 404. Rejects with PortError. `timeoutMs` shortens the usual limit. */
  fetchRun(id: RunId, timeoutMs?: number): Promise<FetchedRun>;
  /** One POST; what it may be followed by is the caller's business. Never rejects. */
  sendDecision(
    run: RunId,
    approval: ApprovalId,
    decision: { verdict: Verdict; reason: string },
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
  /** In plain words what is wrong; null where nothing is. */
  readonly fault: string | null;
  /** What the service said: status, version, service, message, endpoints. Untrusted text. */
  readonly says: { readonly [field: string]: Json };
};

/** Slack, as the runs need it. Every call is one attempt; rejects with PortError. */
export type Chat = {
  /** Resolves when Slack will take one more call of this kind; the most urgent first. */
  waitForTurn(effect: PacedEffect): Promise<void>;
  /** Not idempotent. Draws `slot` from the run as it now is. */
  post(run: Run, slot: Slot): Promise<MessageTs>;
  /** Idempotent. "gone" when the message was deleted, "unchangeable" when nobody may change it any more. */
  update(run: Run, slot: Slot, ts: MessageTs): Promise<"updated" | "gone" | "unchangeable">;
  /** Idempotent. All copies of the slot's message that are there, oldest first. */
  find(run: Run, slot: Slot): Promise<readonly MessageTs[]>;
  /** Idempotent. Is this message still in its channel? A reply that is not shown in the channel is not seen by this. */
  isThere(channel: ChannelId, ts: MessageTs): Promise<boolean>;
  /** Idempotent. */
  remove(run: Run, ts: MessageTs): Promise<void>;
  /** An upload that is never shared is seen by nobody, so this may be repeated. Resolves to Slack's file id. */
  upload(run: Run, slot: Slot): Promise<UploadedFile>;
  /** Not idempotent: puts the file into the run's thread. "gone" when the upload has lapsed. */
  share(run: Run, file: string, slot: Slot): Promise<"shared" | "gone">;
  /** Idempotent. Is the file in the run's thread? */
  hasFile(run: Run, file: string): Promise<boolean>;
  /** Privately to one person, and where nothing else works in a direct message; or in another channel. */
  notify(run: Run, to: UserId | ChannelId, says: NoticeContent): Promise<void>;
};

export type PacedEffect = {
  readonly channel: ChannelId | UserId;
  /** `sweep`: reads that nobody waits for. */
  readonly kind: "post" | "update" | "read" | "sweep" | "other";
  /** 0 is the most urgent. */
  readonly urgency: 0 | 1 | 2 | 3;
};

/** A run as its row has it, with what a writer must prove. */
export type StoredRun = { readonly run: Run; readonly revision: number };

/** What a commit writes beside the run, in the same transaction. */
export type SideWrites = {
  readonly audit?: readonly AuditEntry[];
  /** `save` stores what this makes of the run once it is known where its audit entries stand. */
  readonly afterAudit?: (run: Run, marks: readonly AuditMark[]) => Run;
  /** Unique: the slash command or form that asked for this run. A second run under the same one is not stored. */
  readonly intention?: string;
};

/** Something in the database that this program did not write. */
export type Finding = {
  /** Names the place and what stands there: the same place changed once more is another finding. */
  readonly id: string;
  /** For people: what is not as it was written. Ours, without texts from the database. */
  readonly words: string;
  readonly run: RunKey | null;
};

/** A modal that was opened: what its nonce stands for, and what its person saw. */
export type FormTicket = NonceBinding & {
  readonly run: RunKey;
  readonly verdict: Verdict;
  readonly saw: Request;
  readonly at: number;
};

/**
 * What we remember. Every method is one transaction and rejects with PortError when the database fails.
 * A store is opened for one owner (this process), who holds runs under a lease.
 */
export type Store = AuditLog & {
  /** "known" when a run of this intention, or watching this run id, is stored already. */
  insert(run: Run, sideWrites: SideWrites): Promise<"stored" | { readonly known: RunKey }>;
  /** A run that was changed outside Countersign is condemned (domain/mark-tampered.ts), here and wherever else a run is read. */
  load(key: RunKey): Promise<StoredRun | null>;
  /** "lost", and nothing is written, when the revision is stale or, with `mustHold`, when the lease is another's. */
  save(
    stored: StoredRun,
    next: Run,
    sideWrites?: SideWrites & { readonly mustHold?: boolean; readonly finished?: boolean },
  ): Promise<"saved" | "lost">;
  byRunId(id: RunId): Promise<RunKey | null>;
  /** The run and approval that a button belongs to, whatever its card version. One that was changed is none. */
  byButton(
    nonce: Nonce,
  ): Promise<{ readonly run: RunKey; readonly approval: ApprovalId; readonly version: number } | null>;
  saveForm(ticket: FormTicket, audit?: readonly AuditEntry[]): Promise<void>;
  /** One that was changed is none. */
  /** "changed": somebody changed it outside Countersign. */
  form(nonce: Nonce): Promise<FormTicket | "changed" | null>;
  /** One listener, which hears at once what was found before. What it hears of is not believed: see each method. */
  hearTampering(listener: (finding: Finding) => void): void;
  /** Newest first. */
  list(filter: {
    channels: readonly ChannelId[];
    only: "unfinished" | "pending" | "all";
    /** Only this person's runs, or only those of others; left out: everybody's. */
    asked?: { readonly by: UserId } | { readonly notBy: UserId };
    limit: number;
  }): Promise<readonly Run[]>;
  channelsInUse(): Promise<readonly ChannelId[]>;
  audit(entries: readonly AuditEntry[]): Promise<void>;
  /** A fast look at the audit: its newest entries, and the heads that the runs remember. */
  checkAudit(): Promise<readonly Finding[]>;
  /** All runs, forms and buttons that were changed outside Countersign. Reads every one of them. */
  checkSeals(): Promise<readonly Finding[]>;
  /** All of it, which takes seconds where it is long, and holds nothing else up. Null: it is whole. */
  walkAudit(): Promise<Finding | null>;
  /** Of the key that signs the audit now; base64. */
  auditPublicKey(): string;
  /** Takes unfinished runs that nobody holds, or whose lease has lapsed. */
  claim(now: number, leaseMs: number, limit: number): Promise<readonly StoredRun[]>;
  renew(now: number, leaseMs: number): Promise<void>;
  /** Hands back everything this owner holds. */
  release(): Promise<void>;
  /** Removes finished runs whose last change is older than `before` (ms); the audit stays. */
  forget(before: number): Promise<number>;
  /** A small document of its own that is loaded and saved whole, such as the outage notices. */
  document(name: string): Promise<Json>;
  putDocument(name: string, value: Json): Promise<void>;
  /** Remembers the mark until `keepMs` later; true the first time only. */
  markSeen(mark: string, at: number, keepMs: number): Promise<boolean>;
  /** The mark counts as new again. May be called twice. */
  unmark(mark: string): Promise<void>;
  ping(): Promise<void>;
  close(): Promise<void>;
};

// The port to what Slack says of people. Always by id.

/** Membership may be this old (ms) for reading, where it lets somebody read. */
export const MEMBERSHIP_AGE_MS = 60_000;
/** A «no» is asked again: somebody may have joined a moment ago (ms). Not for each question: whoever keeps asking uses up nobody's look-ups. */
export const JOINED_AGE_MS = 2_000;

/** The channels of a person for reading; that they are not in `channel` is never told from an old answer. */
export async function channelsOf(
  people: Pick<People, "channelsOf">,
  user: UserId,
  channel: ChannelId,
): Promise<ReadonlySet<ChannelId>> {
  const known = await people.channelsOf(user, MEMBERSHIP_AGE_MS);
  return known.has(channel) ? known : people.channelsOf(user, JOINED_AGE_MS);
}

export type People = {
  /** Facts read now; one answer up to `maxAgeMs` old may be shared. Rejects with PortError when Slack does not say. */
  lookUp(team: TeamId, user: UserId, channel: ChannelId, maxAgeMs: number): Promise<Person>;
  /** The channels, among those we are in, that this person is a member of. Rejects with PortError. */
  channelsOf(user: UserId, maxAgeMs: number): Promise<ReadonlySet<ChannelId>>;
  /** All members of a user group or a channel. Rejects with PortError. */
  membersOf(set: GroupId | ChannelId, maxAgeMs: number): Promise<readonly UserId[]>;
  /** Can every full member open the channel? Rejects with PortError. */
  isPublic(channel: ChannelId, maxAgeMs: number): Promise<boolean>;
  /** For each of these: is the person in it? Rejects with PortError when Slack does not say of one. */
  memberOf(
    user: UserId,
    sets: readonly (GroupId | ChannelId)[],
    maxAgeMs: number,
  ): Promise<ReadonlyMap<GroupId | ChannelId, boolean>>;
};

/** As much of a logger as the use cases need. Fields hold ids, never texts of people or secrets. */
export type EventLog = {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/** What the use cases count; `adapters/http/metrics.ts` keeps the counts. */
export type Counters = {
  poll(outcome: string, seconds: number): void;
  pollsInFlight(count: number): void;
  runsWatched(count: number): void;
  effect(what: string, outcome: string): void;
  decision(verdict: string, outcome: string): void;
  refusal(because: string): void;
  outage(on: boolean): void;
  /** How many approvals the service lists that cannot be read. */
  unreadable(approvals: number): void;
  /** Findings of tampering that nobody has acknowledged. */
  tampered(findings: number): void;
};

/** What to make of a run, and what to write beside it. May be called several times, so it must not act. */
export type Apply = (run: Run) => Run | { readonly run: Run; readonly sideWrites: SideWrites };

/**
 * Applies `apply` to the newest run and saves the result. Resolves to the run as it then is; null when there is none or when
 * another process holds its lease. Rejects with PortError when the store fails; then nothing was written.
 */
export type Change = (key: RunKey, apply: Apply, options?: { mustHold?: boolean }) => Promise<Run | null>;
