// The audit in the store, the evidence that it gives, and what was found changed outside Countersign. As with all of the store, a method is
// one transaction, and rejects with PortError if the database fails.

import type { AuditEntry, KeptEntry } from "../audit/entry.ts";
import type { Verdict } from "../domain/approval.ts";
import type { AuditPlace, ChainedEntry } from "../domain/audit/hash-chain.ts";
import type { RunKey } from "../domain/ids.ts";

/** The audit, which is only appended to. */
export type AuditLog = {
  audit(entries: readonly AuditEntry[]): Promise<void>;
  /**
   * Appends the entry, unless the newest of its kind whose `until` has come (by the entry's `at`) has the same `until` or a later one. So only
   * one of several processes appends it.
   */
  auditOnce(entry: AuditEntry & { readonly until: number }): Promise<"added" | "known">;
  /** Resolves to the entries of these kinds after this number, oldest first. */
  auditAfter(seq: number, what: readonly AuditEntry["what"][], limit: number): Promise<readonly KeptEntry[]>;
  /** Resolves to the places, kinds and times of those entries, even of entries that cannot be read. They prove nothing; `provenEntry` does. */
  numbersAfter(
    seq: number,
    what: readonly AuditEntry["what"][],
    limit: number,
  ): Promise<readonly (Pick<AuditEntry, "what" | "at"> & AuditPlace)[]>;
  auditEntry(seq: number): Promise<KeptEntry | null>;
  /**
   * Resolves to the entry if it is proven that this program wrote it unchanged at this number. Takes a few look-ups by index. Rejects with
   * ROW_UNREADABLE if the entry is proven but has a form that this release does not know.
   */
  provenEntry(seq: number): Promise<Proven>;
  /**
   * Resolves to the "settled" entries about this proven decision or vote, oldest first. Reads the text of each later entry, so no changed
   * column hides one. Takes as long as there are entries that this process has not read yet, about 15 s for 100,000 of them.
   */
  settledAfter(decided: AuditPlace): Promise<SettledAfter>;
  /**
   * Resolves to the numbers of the decisions with this verdict on this digest of what was asked, since `since` (ms), newest first, without
   * disputed ones. The index behind it is no evidence, so read each entry with `provenEntry`.
   */
  decidedBefore(
    asked: { readonly verdict: Verdict; readonly digest: string; readonly since: number },
    limit: number,
  ): Promise<readonly number[]>;
  /** Resolves to all entries of a run, oldest first, even if the run is forgotten. `id` is our key or the service's id. */
  auditOfRun(id: string): Promise<readonly KeptEntry[]>;
  /** Resolves to the number and the link of the newest entry, even if it cannot be read. Null if there is none. */
  auditHead(): Promise<AuditPlace | null>;
  /** Resolves to the full text kept under this digest, or null. */
  auditText(digest: string): Promise<string | null>;
};

export type Proven =
  | { readonly ok: true; readonly kept: KeptEntry }
  /** `finding`: as `checkAudit` reports it. It is about this row or, for an entry of an earlier key, about a later row that proves that key. */
  | { readonly ok: false; readonly finding: Finding };

/** `isIntact`: whether the entry is proven. An entry that is not may lie, or stand behind a missing one. */
export type SettledEntry = { readonly seq: number; readonly outcome: string; readonly isIntact: boolean };
/** `damage`: the findings about the entries that were read for the first time. They are the same ones as of `checkAudit`. */
export type SettledAfter = { readonly entries: readonly SettledEntry[]; readonly damage: readonly Finding[] };

/** What a person needs who checks the audit outside this program. */
export type AuditEvidence = {
  /** Resolves to null if there is no such entry. */
  auditProof(seq: number): Promise<AuditProof | null>;
  /** Resolves to the entries after this number as stored, oldest first. */
  auditRows(after: number, limit: number): Promise<readonly ChainedEntry[]>;
  /** Resolves to the link of this entry, of the last archived entry, or of "entry 0". Null if we do not have it. */
  auditLink(seq: number): Promise<string | null>;
  /** Returns the public key that belongs to the current signing key, in base64. */
  auditPublicKey(): string;
  /** Checks every entry. Takes seconds if there are many, without blocking other work. Resolves to null if the audit is intact. */
  walkAudit(): Promise<Finding | null>;
};

export type AuditProof = {
  readonly text: string;
  readonly key: string;
  readonly signature: string;
};

/** Something in the database that this program did not write. */
export type Finding = {
  /** Identifies the place and its content. If the same place is changed again, that is a new finding. */
  readonly id: string;
  /** What was changed, for people. Our own words, without texts from the database. */
  readonly words: string;
  readonly run: RunKey | null;
};

/** Checks for rows that were changed outside Countersign. */
export type TamperChecks = {
  /** Sets the one listener, and reports earlier findings to it at once. Methods that read such a row never believe it. */
  onTampering(listener: (finding: Finding) => void): void;
  /** Checks the newest entries of the audit, and the heads that the runs remember. This is fast. */
  checkAudit(): Promise<readonly Finding[]>;
  /** Resolves to all runs, forms and buttons that were changed outside Countersign. Reads every one of them. */
  checkSeals(): Promise<readonly Finding[]>;
};
