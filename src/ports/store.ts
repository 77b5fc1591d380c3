// The store, in one part for each kind of user. Every method is one transaction, and rejects with PortError if the database fails.

import type { AuditEntry } from "../audit/entry.ts";
import type { Request, Verdict } from "../domain/approval.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import type {
  ApprovalId,
  ChannelId,
  MessageTs,
  Nonce,
  RunId,
  RunKey,
  TeamId,
  UserId,
} from "../domain/ids.ts";
import type { Json } from "../domain/json.ts";
import type { Precedents } from "../domain/precedent.ts";
import type { Promised } from "../domain/policy/policy.ts";
import type { Run } from "../domain/run.ts";
import type { AuditEvidence, AuditLog, TamperChecks } from "./audit-store.ts";
import type { NotificationStore } from "./notification.ts";

/** The `code` of the PortError for a stored row that cannot be read. Other rows can be read all the same. */
export const ROW_UNREADABLE = "row_unreadable";
/** The `code` of the PortError once another key signs the audit. This process can record nothing more. */
export const KEY_RETIRED = "store_key_retired";

/** A run as stored, with what a writer must present to change it. */
export type StoredRun = {
  readonly run: Run;
  readonly revision: number;
  /** The seal of the row as this process wrote it, if the run was not loaded since. */
  readonly seal?: string;
};

/** What is written with the run, in the same transaction. */
export type SideWrites = {
  readonly audit?: readonly AuditEntry[];
  /** Adds the places of the audit entries to the run, once they are known. `save` stores the result. */
  readonly afterAudit?: (run: Run, places: readonly AuditPlace[]) => Run;
  /** Identifies the slash command or form that asked for this run. A second run with the same intention is not stored. */
  readonly intention?: string;
  /** `save` stores nothing if the audit has a freeze after this entry, or lacks the entry, because the change may ignore a freeze. */
  readonly noFreezeAfter?: AuditPlace;
};

/** The runs. */
export type RunStore = {
  /**
   * Resolves to `known` if a run with this intention or this run id is already stored, and to "passed-on" if the run is stored but belongs
   * to another process.
   */
  insert(run: Run, sideWrites: SideWrites): Promise<"stored" | "passed-on" | { readonly known: RunKey }>;
  /** A run that was changed outside Countersign is returned marked as tampered (domain/end-run.ts). All methods that read runs do this. */
  load(key: RunKey): Promise<StoredRun | null>;
  /**
   * Writes nothing if the result is "lost" (the revision is stale, or the row does not have this `seal`), "intention-taken" (by another run),
   * "not-held" (with `mustHold`: this process does not hold the run) or "frozen" (with `noFreezeAfter`: there is such a freeze). "passed-on":
   * saved, but the run belongs to another process. `onSaved` receives the new row.
   */
  save(
    stored: StoredRun,
    next: Run,
    sideWrites?: SideWrites & {
      readonly mustHold?: boolean;
      readonly finished?: boolean;
      readonly onSaved?: (stored: StoredRun) => void;
    },
  ): Promise<"saved" | "passed-on" | "lost" | "intention-taken" | "not-held" | "frozen">;
  byRunId(id: RunId): Promise<RunKey | null>;
  /** See `SideWrites`. */
  byIntention(intention: string): Promise<RunKey | null>;
  /** Resolves to the run and approval of a button, for any card version. Null if unknown, or if the row was changed outside Countersign. */
  byButton(
    nonce: Nonce,
  ): Promise<{ readonly run: RunKey; readonly approval: ApprovalId; readonly version: number } | null>;
  /**
   * Resolves to runs, newest first unless `oldestFirst`. "pending": runs with an approval that waits or is held, whose decision the service
   * has not confirmed, or that cannot be read. Fewer than `limit` only if there are no more: a run whose row cannot be read does not count.
   */
  list(filter: {
    channels: readonly ChannelId[];
    oldestFirst?: true;
    only: "unfinished" | "pending" | "all";
    /** Only this person's runs, or only other people's. Absent for all runs. */
    asked?: { readonly by: UserId } | { readonly notBy: UserId };
    /** Only runs whose record contains the `ts` of this message anywhere. Without it: all runs. */
    names?: MessageTs;
    limit: number;
  }): Promise<readonly Run[]>;
  /**
   * Visits all unfinished or pending runs (as in `list`), or those without an id of the service, newest first. `visitUnreadable` gets the rows
   * that cannot be read. Other work gets its turn in between. A run that changes meanwhile is visited with or without its change.
   */
  eachRun(
    only: "unfinished" | "pending" | "without-id",
    visit: (run: Run) => void,
    visitUnreadable?: (run: Pick<Run, "team" | "requester">) => void,
  ): Promise<void>;
  channelsInUse(): Promise<readonly ChannelId[]>;
  /**
   * Removes finished runs without an open dispute whose last change is older than `before` (ms), a batch in each transaction. Other work
   * gets its turn in between. Ends early once `isStopping` returns true. Keeps the audit. Resolves to their number.
   */
  forget(before: number, isStopping?: () => boolean): Promise<number>;
};

/** The shards that a process holds (domain/ids.ts), and with them all runs of their channels. */
export type Holding = {
  readonly shards: readonly number[];
  /** The number of shards beyond the fair share, which must be given back. */
  readonly surplus: number;
  /** The number of processes that use the store, including this one. One that is still starting gets no share yet. */
  readonly replicas: number;
  /** The time until the first lease of another process ends, unless it is extended (ms). Null if there is none. */
  readonly nextEndMs: number | null;
};

/** Which process holds which run. A store is opened for one owner, which is this process. */
export type LeaseStore = {
  /** Claims unfinished runs of its shards that it has not claimed yet, or that another process has saved since. */
  claim(limit: number): Promise<readonly StoredRun[]>;
  /** Extends the lease in one statement, so that a slow database delays it least. False if it has expired; then nothing changes. */
  extend(now: number, leaseMs: number): Promise<boolean>;
  /**
   * Extends the lease and takes free shards, up to a fair share. If the lease has lapsed, this process starts with no shards, and `onLapsed`
   * is called before the new lease begins. Must not be called while another call is under way.
   */
  renew(now: number, leaseMs: number, onLapsed?: () => void): Promise<Holding>;
  /** Lets other processes take these shards. No marked effect of their runs may still wait for its outcome to be stored. */
  giveBack(shards: readonly number[]): Promise<void>;
  /** Makes `claim` return the unfinished runs of these shards again, including those claimed before. */
  claimAgain(shards: readonly number[]): Promise<void>;
  /** Gives back everything that this owner holds. */
  release(): Promise<void>;
  /** Asks for the database's time, as `extend` does, so that the clock catches up if this machine was suspended. */
  askTime(): Promise<void>;
  /** Sets the one listener, called if another process may have saved a run that this one should claim. This hint may be lost. */
  onPassedOn(listener: () => void): void;
};

/** A form that was opened: what its nonce stands for, and what the person saw. */
export type FormTicket = {
  readonly nonce: Nonce;
  readonly run: RunKey;
  readonly approval: ApprovalId;
  readonly version: number;
  readonly team: TeamId;
  /** The person who opened the form. Stored forms may hold null, which matches no one. */
  readonly user: UserId | null;
  readonly verdict: Verdict;
  readonly saw: Request;
  readonly at: number;
  /** What the form says must happen before an approval is sent. Absent for a form of an earlier version. */
  readonly promised?: Promised;
  /** The form only shows the request, because the rule requires reading before an approval. It can be continued, but decides nothing. */
  readonly reading?: true;
  /** The person chooses the verdict in the form, which has no default. `verdict` is then meaningless. */
  readonly choice?: true;
  /** Earlier decisions on the same request, as shown to the person. */
  readonly precedents?: Precedents;
  /** The nonce of the form that combines this ticket with others. In any other form, the ticket decides nothing. */
  readonly bundle?: Nonce;
  /** What the form asks for instead of a decision. */
  readonly asks?: "question" | "answer" | "hand-over" | "snooze";
  /** The question that the form answers. */
  readonly question?: Nonce;
};

/** The forms that people have open. */
export type FormStore = {
  saveForm(ticket: FormTicket, audit?: readonly AuditEntry[]): Promise<void>;
  /** Saves all forms or none. */
  saveForms(tickets: readonly FormTicket[], audit: readonly AuditEntry[]): Promise<void>;
  /** Resolves to "changed" if the stored form was changed outside Countersign. */
  form(nonce: Nonce): Promise<FormTicket | "changed" | null>;
  /** Returns a MAC of these words under a key of this database. It stays valid after a restart. */
  macOf(words: readonly string[]): string;
};

/** Small documents: cursors, heartbeats, marks and the open Home tabs. Each is loaded and saved as a whole. */
export type DocumentStore = {
  document(name: string): Promise<Json>;
  putDocument(name: string, value: Json): Promise<void>;
};

/**
 * The document that marks a database as a copy made by `npm run backup`. It holds the wall time just before the copy began (ms), and stays
 * until the first start on the copy has finished the work of a restore.
 */
export const BACKUP_MARK = "backup mark";

/** In a copy that was made before the work of an earlier restore was finished: the mark of that restore. Gone when all work is done. */
export const EARLIER_MARK = "earlier backup mark";

/** The signatures of accepted requests, so that none is accepted twice. */
export type ReplayCache = {
  /** Remembers the mark for `keepMs` from `at`. Resolves to true the first time only. Rejects if the store does not answer. */
  markSeen(mark: string, at: number, keepMs: number): Promise<boolean>;
  /** Forgets the mark, so that it counts as new again. May be called twice. */
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
    /** Rejects if nothing can be written. */
    ping(): Promise<void>;
    close(): Promise<void>;
  };
