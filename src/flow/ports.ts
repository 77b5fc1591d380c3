// What the use cases need of the outside world, in domain words. No Slack, SQL or HTTP word stands here.

import type { Request, Verdict } from "../core/approval.ts";
import type { AuditMark } from "../core/audit-chain.ts";
import type { Ticket } from "../core/decide.ts";
import type { Outcome } from "../core/effect.ts";
import type { ApprovalId, ChannelId, MessageTs, Nonce, RunId, RunKey, UserId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { UploadedFile } from "../core/post.ts";
import type { Run, Said, Slot } from "../core/run.ts";
import type { Snapshot } from "../core/snapshot.ts";
import type { AuditEntry } from "./audit-entry.ts";
import type { AuditShelf } from "./letter.ts";

export type { AuditEntry } from "./audit-entry.ts";

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

export type Look =
  | { readonly is: "snapshot"; readonly snapshot: Snapshot }
  | { readonly is: "missing"; readonly askedAt: number };

/** The agent-run service. Every call is one HTTP request, at most 10 s long, never repeated by itself. */
export type AgentService = {
  /** Not idempotent. Rejects with PortError: "maybe" when a run may have been created. `key` goes along as `Idempotency-Key`. */
  create(input: string, key: string): Promise<Snapshot>;
  /** Idempotent. «missing» is a 404. Rejects with PortError. `timeoutMs` shortens the usual limit. */
  look(id: RunId, timeoutMs?: number): Promise<Look>;
  /** One POST; what it may be followed by is the caller's business. Never rejects. */
  resolve(
    run: RunId,
    approval: ApprovalId,
    decision: { verdict: Verdict; reason: string },
  ): Promise<DecisionAnswer>;
  /** `GET /v1/health` without the key. Never rejects. */
  health(): Promise<HealthReport>;
};

export type DecisionAnswer = Extract<
  Outcome,
  { is: "confirmed" | "elsewhere" | "later" | "refused" | "unsure" }
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
  turn(effect: PacedEffect): Promise<void>;
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
  tell(run: Run, to: UserId | ChannelId, says: Said): Promise<void>;
};

export type PacedEffect = {
  readonly channel: ChannelId | UserId;
  /** `sweep`: reads that nobody waits for. */
  readonly kind: "post" | "update" | "read" | "sweep" | "other";
  /** 0 is the most urgent. */
  readonly urgency: 0 | 1 | 2 | 3;
};

/** A run as its row has it, with what a writer must prove. */
export type Stored = { readonly run: Run; readonly revision: number };

/** What a commit writes beside the run, in the same transaction. */
export type Alongside = {
  readonly audit?: readonly AuditEntry[];
  /** `save` stores what this makes of the run once it is known where its audit entries stand. */
  readonly noted?: (run: Run, marks: readonly AuditMark[]) => Run;
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
export type ModalTicket = Ticket & {
  readonly run: RunKey;
  readonly verdict: Verdict;
  readonly saw: Request;
  readonly at: number;
};

/**
 * What we remember. Every method is one transaction and rejects with PortError when the database fails.
 * A store is opened for one owner (this process), who holds runs under a lease.
 */
export type Store = AuditShelf & {
  /** "known" when a run of this intention, or watching this run id, is stored already. */
  insert(run: Run, alongside: Alongside): Promise<"stored" | { readonly known: RunKey }>;
  /** A run that was changed outside Countersign is condemned (core/condemn.ts), here and wherever else a run is read. */
  load(key: RunKey): Promise<Stored | null>;
  /** "lost", and nothing is written, when the revision is stale or, with `mustHold`, when the lease is another's. */
  save(
    stored: Stored,
    next: Run,
    alongside?: Alongside & { readonly mustHold?: boolean; readonly finished?: boolean },
  ): Promise<"saved" | "lost">;
  byRunId(id: RunId): Promise<RunKey | null>;
  /** The run and approval that a button belongs to, whatever its card version. One that was changed is none. */
  byButton(
    nonce: Nonce,
  ): Promise<{ readonly run: RunKey; readonly approval: ApprovalId; readonly version: number } | null>;
  openModal(ticket: ModalTicket, audit?: readonly AuditEntry[]): Promise<void>;
  /** One that was changed is none. */
  modal(nonce: Nonce): Promise<ModalTicket | null>;
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
  claim(now: number, leaseMs: number, limit: number): Promise<readonly Stored[]>;
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
