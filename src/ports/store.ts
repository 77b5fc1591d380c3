// What is remembered, by who needs it. Every method is one transaction and rejects with PortError when the database fails.

import type { AuditEntry, KeptEntry } from "../audit/entry.ts";
import type { Request, Verdict } from "../domain/approval.ts";
import type { AuditMark, ChainedEntry } from "../domain/audit/hash-chain.ts";
import type { AuditFault } from "../domain/audit/verify-chain.ts";
import type { NonceBinding } from "../domain/authorization.ts";
import type { ApprovalId, ChannelId, MessageTs, Nonce, RunId, RunKey, UserId } from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import type { Precedents } from "../domain/precedent.ts";
import type { Run } from "../domain/run.ts";
import type { Notification } from "./notification.ts";

/** A run as its row has it, with what a writer must prove. */
export type StoredRun = {
  readonly run: Run;
  readonly revision: number;
  /** Of the row as this process wrote it, for a run that was not loaded since. */
  readonly seal?: string;
};

/** What a commit writes beside the run, in the same transaction. */
export type SideWrites = {
  readonly audit?: readonly AuditEntry[];
  /** `save` stores what this makes of the run once it is known where its audit entries stand. */
  readonly afterAudit?: (run: Run, marks: readonly AuditMark[]) => Run;
  /** Unique: the slash command or form that asked for this run. A second run under the same one is not stored. */
  readonly intention?: string;
  /** `save` stores nothing if the audit has a freeze after this entry, because the change was made without knowing of it. */
  readonly noFreezeAfter?: number;
};

/** The runs. */
export type RunStore = {
  /** "known" when a run of this intention, or watching this run id, is stored already. "passed-on": stored, for another process. */
  insert(run: Run, sideWrites: SideWrites): Promise<"stored" | "passed-on" | { readonly known: RunKey }>;
  /** A run that was changed outside Countersign comes marked as tampered (domain/end-run.ts), here and wherever runs are read. */
  load(key: RunKey): Promise<StoredRun | null>;
  /**
   * "lost", and nothing is written, when the revision is stale or the row is not the one of the `seal`; "not-held", with `mustHold`,
   * when this process does not hold the run; "frozen", with `noFreezeAfter`, when there is such a freeze. "passed-on": saved, for the process that looks after the run. `onSaved` hears what the row
   * is now.
   */
  save(
    stored: StoredRun,
    next: Run,
    sideWrites?: SideWrites & {
      readonly mustHold?: boolean;
      readonly finished?: boolean;
      readonly onSaved?: (stored: StoredRun) => void;
    },
  ): Promise<"saved" | "passed-on" | "lost" | "not-held" | "frozen">;
  byRunId(id: RunId): Promise<RunKey | null>;
  /** The run and approval that a button belongs to, whatever its card version. Null also for a row that was changed outside. */
  byButton(
    nonce: Nonce,
  ): Promise<{ readonly run: RunKey; readonly approval: ApprovalId; readonly version: number } | null>;
  /**
   * Newest first, unless the oldest are asked for. "pending": an approval waits or is held, or something cannot be read. "without-id": the
   * service has not told us their id.
   */
  list(filter: {
    channels: readonly ChannelId[];
    oldestFirst?: true;
    only: "unfinished" | "pending" | "without-id" | "all";
    /** Only this person's runs, or only those of others. Left out: everyone's. */
    asked?: { readonly by: UserId } | { readonly notBy: UserId };
    /** Only runs whose record names this message anywhere. Left out: all. */
    names?: MessageTs;
    limit: number;
  }): Promise<readonly Run[]>;
  channelsInUse(): Promise<readonly ChannelId[]>;
  /** Removes finished runs whose last change is older than `before` (ms); the audit stays. */
  forget(before: number): Promise<number>;
};

/** What a process looks after: shards (domain/ids.ts), and with each all runs of its channels. */
export type Holding = {
  readonly shards: readonly number[];
  /** How many of `shards` are beyond its fair share, to be given back. */
  readonly surplus: number;
  /** How many processes share the runs, this one among them. */
  readonly replicas: number;
  /** In how many ms the first lease of another process ends unless it is extended. Null: there is none. */
  readonly nextEndMs: number | null;
};

/** Which process looks after which run. A store is opened for one owner: this process. */
export type LeaseStore = {
  /** Takes unfinished runs of its shards that it has not claimed, or that another process has saved since. */
  claim(limit: number): Promise<readonly StoredRun[]>;
  /** One statement, so that a slow database delays it least. False: the lease has expired, and nothing is changed. */
  extend(now: number, leaseMs: number): Promise<boolean>;
  /**
   * Extends the lease and takes free shards, up to a fair share. After a lease has lapsed, this process starts with none: `onLapsed` is
   * called before the new lease begins. Not while another call of it is under way.
   */
  renew(now: number, leaseMs: number, onLapsed?: () => void): Promise<Holding>;
  /** Others may take these shards now. No effect of their runs may be marked here whose outcome is not stored. */
  giveBack(shards: readonly number[]): Promise<void>;
  /** This owner claims the unfinished runs of these shards again, also those that it has claimed before. */
  claimAgain(shards: readonly number[]): Promise<void>;
  /** Hands back everything this owner holds. */
  release(): Promise<void>;
  /** One listener: another process may have saved a run that this one is to claim. A hint, which may be lost. */
  onPassedOn(listener: () => void): void;
};

/** A form that was opened: what its nonce stands for, and what its person saw. */
export type FormTicket = NonceBinding & {
  readonly run: RunKey;
  readonly verdict: Verdict;
  readonly saw: Request;
  readonly at: number;
  /** It only shows the request, which the rule wants read before an approval. It can be continued, and decides nothing. */
  readonly reading?: true;
  /** The person chooses the verdict in the form, which has no default; `verdict` says nothing then. */
  readonly choice?: true;
  /** Earlier decisions on the same request, as the person was shown them. */
  readonly precedents?: Precedents;
  /** It is one of several in a form, which carries this nonce. It decides nothing in any other form. */
  readonly bundle?: Nonce;
  /** It is no form to decide: what it asks for instead. */
  readonly asks?: "question" | "answer" | "hand-over" | "snooze";
  /** What is answered in it. */
  readonly question?: Nonce;
};

/** The forms that people have open. */
export type FormStore = {
  saveForm(ticket: FormTicket, audit?: readonly AuditEntry[]): Promise<void>;
  /** All of them or none. */
  saveForms(tickets: readonly FormTicket[], audit: readonly AuditEntry[]): Promise<void>;
  /** "changed": someone changed the stored form outside Countersign. */
  form(nonce: Nonce): Promise<FormTicket | "changed" | null>;
  /** A MAC of these words under a key of this database: nobody else can make it, and it outlives a restart. */
  macOf(words: readonly string[]): string;
};

/** The audit: written by appending, never changed. */
export type AuditLog = {
  audit(entries: readonly AuditEntry[]): Promise<void>;
  /** Appends the entry unless the newest of its kind is about the same time or a later one (`until`). One writer of several does. */
  auditOnce(entry: AuditEntry & { readonly until: number }): Promise<"added" | "known">;
  /** Of these kinds, after this number, oldest first. */
  auditAfter(seq: number, what: readonly AuditEntry["what"][], limit: number): Promise<readonly KeptEntry[]>;
  auditEntry(seq: number): Promise<KeptEntry | null>;
  /** The entry, if this program wrote it at this number as it stands. A few look-ups by index. */
  provenEntry(seq: number): Promise<Proven>;
  /** "settled" entries of this approval after this number, oldest first. */
  settledAfter(seq: number, run: RunKey, approval: ApprovalId): Promise<readonly KeptEntry[]>;
  /**
   * The numbers of the decisions with this verdict on this digest of what was asked, since `since` (ms), newest first, without disputed
   * ones. By an index, which is no evidence: read each with `provenEntry`.
   */
  decidedBefore(
    asked: { readonly verdict: Verdict; readonly digest: string; readonly since: number },
    limit: number,
  ): Promise<readonly number[]>;
  /** All entries of the run with this id of ours or of the service's, oldest first; also of one that is forgotten. */
  auditOfRun(id: string): Promise<readonly KeptEntry[]>;
  /** Null: nothing was ever written. */
  auditHead(): Promise<KeptEntry | null>;
  /** The full request kept under this digest. */
  auditText(digest: string): Promise<string | null>;
};

export type Proven =
  | { readonly ok: true; readonly kept: KeptEntry }
  | { readonly ok: false; readonly fault: AuditFault };

/** What someone who checks the audit elsewhere needs. */
export type AuditEvidence = {
  /** Null: there is no such entry. */
  auditProof(seq: number): Promise<AuditProof | null>;
  /** The entries as stored, after this number, oldest first. */
  auditRows(after: number, limit: number): Promise<readonly ChainedEntry[]>;
  /** The link of this entry, also of the last archived one, and of "entry 0". Null: it is not here. */
  auditLink(seq: number): Promise<string | null>;
  /** Of the key that signs the audit now; base64. */
  auditPublicKey(): string;
  /** Checks every entry, which takes seconds where there are many, and holds nothing else up. Null: the audit is whole. */
  walkAudit(): Promise<Finding | null>;
};

export type AuditProof = {
  readonly text: string;
  readonly key: string;
  readonly signature: string;
};

/** Something in the database that this program did not write. */
export type Finding = {
  /** Names the place and what stands there: the same place changed once more is another finding. */
  readonly id: string;
  /** For people: what is not as it was written. Ours, without texts from the database. */
  readonly words: string;
  readonly run: RunKey | null;
};

/** Checks for rows that were changed outside Countersign. */
export type TamperChecks = {
  /** One listener, which at once hears what was found before. A reader never believes such a row: see each method. */
  hearTampering(listener: (finding: Finding) => void): void;
  /** A fast look at the audit: its newest entries, and the heads that the runs remember. */
  checkAudit(): Promise<readonly Finding[]>;
  /** All runs, forms and buttons that were changed outside Countersign. Reads every one of them. */
  checkSeals(): Promise<readonly Finding[]>;
};

/** The notifications that are still to be sent, and those that were. */
export type NotificationStore = {
  /** A notification of the same kind, about the same entry, to the same person or channel is not added again. */
  addNotifications(notifications: readonly Notification[]): Promise<void>;
  /** Those on which something is to be done or awaited, oldest first; receipts that may share a message come last. */
  notifications(limit: number): Promise<readonly Notification[]>;
  saveNotification(notification: Notification, toDo: boolean): Promise<void>;
  notification(id: Nonce): Promise<Notification | null>;
  /** Those that share this message with others, by the number of their entries. */
  notificationsIn(to: Notification["to"], ts: MessageTs): Promise<readonly Notification[]>;
  /** The entry and the mark on the notification in one. "known" when it is marked already, and then nothing is written. */
  dispute(id: Nonce, entry: AuditEntry): Promise<"disputed" | "known">;
};

/** Small documents, each loaded and saved whole, such as the outage notices. */
export type DocumentStore = {
  document(name: string): Promise<Json>;
  putDocument(name: string, value: Json): Promise<void>;
};

/**
 * The document of a database that was copied by `npm run backup`: the wall time before the copy began (ms). It stays until the start on
 * the copy has done what a restore asks for.
 */
export const BACKUP_MARK = "backup mark";

/** Signatures of requests that were taken, so that none is taken twice. */
export type ReplayCache = {
  /** Remembers the mark until `keepMs` later; true the first time only. */
  markSeen(mark: string, at: number, keepMs: number): Promise<boolean>;
  /** The mark counts as new again. May be called twice. */
  unmark(mark: string): Promise<void>;
};

export type Store = RunStore &
  LeaseStore &
  FormStore &
  AuditLog &
  AuditEvidence &
  TamperChecks &
  NotificationStore &
  DocumentStore &
  ReplayCache & {
    /** Rejects when nothing can be written. */
    ping(): Promise<void>;
    close(): Promise<void>;
  };
