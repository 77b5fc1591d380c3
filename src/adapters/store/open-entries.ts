// Finds what is still open in the audit: disputes that are not closed, and freezes that are not lifted.

import { LAST_SEQ } from "../../domain/audit/hash-chain.ts";
import { parsedEntry } from "../../domain/audit/verify-chain.ts";
import type { AuditRow, Database } from "./database.ts";

type Reader = Pick<Database, "selectFrom">;

/** The kind of entry that begins something, and the kind that ends it. */
type Kinds = readonly [begins: string, ends: string];
export const DISPUTES: Kinds = ["disputed", "dispute-closed"];
export const FREEZES: Kinds = ["frozen", "freeze-lifted"];

export const openEntries = async (db: Reader, kinds: Kinds) =>
  stillOpen(await beginningsAndEnds(db, kinds).execute(), kinds);

/** Finds the entries of these kinds, or those after the entry `after`, in their order. */
export function beginningsAndEnds(db: Reader, kinds: Kinds, after = 0) {
  const rows = db
    .selectFrom("audit")
    .select(["seq", "run", "run_id", "what", "entry"])
    .where("what", "in", kinds);
  return rows.where("seq", ">", after).where("seq", "<=", LAST_SEQ).orderBy("seq");
}

/**
 * Returns the entries that begin something which no later one ends. Two freezes of one channel can be in force at once.
 * `rows`: in their order.
 */
export function stillOpen<Row extends Pick<AuditRow, "seq" | "what" | "entry">>(
  rows: readonly Row[],
  [begins]: Kinds,
): readonly Row[] {
  const open = new Map<number, Row>();
  for (const row of rows) {
    const refers = parsedEntry(row.entry)?.["refers"];
    if (row.what === begins) open.set(row.seq, row);
    else if (typeof refers === "number") open.delete(refers);
  }
  return [...open.values()];
}
