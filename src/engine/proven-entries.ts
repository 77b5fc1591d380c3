// Reads the audit's entries of some kinds, each with its proof. A row that this program did not write, or that a newer release wrote in a form
// of its own, must not keep the others from being read.

import type { AuditEntry, KeptEntry } from "../audit/entry.ts";
import type { AuditPlace } from "../domain/audit/hash-chain.ts";
import { BEGINNING } from "../domain/audit/verify-chain.ts";
import { PortError } from "../ports.ts";
import { ROW_UNREADABLE } from "../ports/store.ts";
import type { AuditEvidence, AuditLog, Finding } from "../ports/audit-store.ts";
import { BATCH, rowsAfter } from "./audit-positions.ts";

export type ProvenReads = Pick<AuditLog, "numbersAfter" | "provenEntry"> & Pick<AuditEvidence, "auditProof">;

export type Reading =
  | { readonly type: "proven"; readonly kept: KeptEntry }
  /** This program wrote it, but this release does not know its form. */
  | { readonly type: "unreadable" }
  /** It differs from what this program wrote. */
  | { readonly type: "forged"; readonly finding: Finding };

/** A reading and what its row calls itself, which is no evidence if the row is forged. */
export type ReadRow = Reading & AuditPlace & { readonly what: AuditEntry["what"] };

/** A reading ends after this many forged rows, because each of them is proven again at every reading. */
const MAX_FORGED = 100;

export type ReadRows = {
  readonly rows: readonly ReadRow[];
  /**
   * The last row that is not forged, or where the reading began: someone may forge a row with any number and remove it again, and the entries
   * before that number must then still be read.
   */
  readonly reached: AuditPlace;
  /** There were too many forged rows, so later ones are missing. */
  readonly isCut: boolean;
  /** The row at the given place is gone, so these are the rows from the beginning. */
  readonly isAnew: boolean;
};

/** Reads the rows after `place`, which a reading of these kinds has reached, oldest first. Rejects with PortError if the store fails. */
export async function readAfter(
  store: ProvenReads,
  place: AuditPlace,
  kinds: readonly AuditEntry["what"][],
): Promise<ReadRows> {
  const rows: ReadRow[] = [];
  let forged = 0;
  const isCut = (): boolean => forged >= MAX_FORGED;
  const { rows: first, isAnew } = await rowsAfter(store, place, kinds);
  for (let page = first; page.length > 0;) {
    for (const { seq, link, what } of page) {
      const reading = isCut() ? null : await readProven(store, seq);
      if (reading === null) continue;
      rows.push({ seq, link, what, ...reading });
      if (reading.type === "forged") forged += 1;
    }
    const last = page.at(-1);
    page = last === undefined || isCut() ? [] : await store.numbersAfter(last.seq, kinds, BATCH);
  }
  const last = rows.findLast(({ type }) => type !== "forged");
  return { rows, reached: last ?? (isAnew ? BEGINNING : place), isCut: isCut(), isAnew };
}

/** Resolves to null if there is no such row. It may just have been archived; checks of the whole audit find one that is missing. */
export async function readProven(
  store: Omit<ProvenReads, "numbersAfter">,
  seq: number,
): Promise<Reading | null> {
  try {
    const proven = await store.provenEntry(seq);
    if (proven.ok) return { type: "proven", kept: proven.kept };
    if ((await store.auditProof(seq)) === null) return null;
    return { type: "forged", finding: proven.finding };
  } catch (error) {
    // Only an entry that is proven is parsed.
    if (error instanceof PortError && error.code === ROW_UNREADABLE) return { type: "unreadable" };
    throw error;
  }
}
