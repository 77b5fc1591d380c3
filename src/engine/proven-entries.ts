// Reads the audit's entries of some kinds, each with its proof. A row that this program did not write, or that a newer release wrote in a form
// of its own, must not keep the others from being read.

import type { AuditEntry, KeptEntry } from "../audit/entry.ts";
import { PortError } from "../ports.ts";
import { ROW_UNREADABLE } from "../ports/store.ts";
import type { AuditEvidence, AuditLog, Finding } from "../ports/audit-store.ts";

export type ProvenReads = Pick<AuditLog, "numbersAfter" | "provenEntry"> & Pick<AuditEvidence, "auditProof">;

export type Reading =
  | { readonly type: "proven"; readonly kept: KeptEntry }
  /** This program wrote it, but this release does not know its form. */
  | { readonly type: "unreadable" }
  /** It differs from what this program wrote. */
  | { readonly type: "forged"; readonly finding: Finding };

/** A reading and what its row calls itself, which is no evidence if the row is forged. */
export type ReadRow = Reading & { readonly seq: number; readonly what: AuditEntry["what"] };

const BATCH = 1_000;
/** After so many forged rows, no more rows are read at once, because each of them is proven again at every reading. */
const MAX_FORGED = 100;

/**
 * Reads the rows after entry `cursor`, oldest first. The new cursor is the last row that is not forged: someone may forge a row with any
 * number and remove it again, and the entries before that number must then still be read. `isCut`: there were too many forged rows, so
 * later ones are missing. Rejects with PortError if the store fails.
 */
export async function readAfter(
  store: ProvenReads,
  cursor: number,
  kinds: readonly AuditEntry["what"][],
): Promise<{ readonly rows: readonly ReadRow[]; readonly cursor: number; readonly isCut: boolean }> {
  const rows: ReadRow[] = [];
  let forged = 0;
  const isCut = (): boolean => forged >= MAX_FORGED;
  for (let after = cursor; ;) {
    const numbers = await store.numbersAfter(after, kinds, BATCH);
    for (const { seq, what } of numbers) {
      const reading = isCut() ? null : await readProven(store, seq);
      if (reading === null) continue;
      rows.push({ seq, what, ...reading });
      if (reading.type === "forged") forged += 1;
    }
    const last = numbers.at(-1);
    if (last === undefined || numbers.length < BATCH || isCut()) break;
    after = last.seq;
  }
  return { rows, cursor: rows.findLast(({ type }) => type !== "forged")?.seq ?? cursor, isCut: isCut() };
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
