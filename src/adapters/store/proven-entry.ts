// Proves a single audit entry with a few reads: that this program wrote it, unchanged, at this number.

import { type ChainedEntry, linkText, NO_LINK } from "../../domain/audit/hash-chain.ts";
import { type AuditFault, rowFault } from "../../domain/audit/verify-chain.ts";
import type { KeptEntry } from "../../audit/entry.ts";
import type { Proven } from "../../ports/store.ts";
import { chainedEntry, keptEntry } from "./append-audit.ts";
import { type AuditKey, auditSignatures } from "./audit-key.ts";
import { digestOf } from "./digest.ts";
import type { Database } from "./tables.ts";
import { read } from "./transaction.ts";

/** How many rows we read at once between an entry of an earlier key and the first entry of our key. */
const AT_ONCE = 500;

export function createProof(db: Database, key: AuditKey): (seq: number) => Promise<Proven> {
  const tools = { hash: digestOf, signature: auditSignatures([key.publicKey]) };

  const rowsFrom = async (first: number, limit: number): Promise<ChainedEntry[]> => {
    const query = db.selectFrom("audit").selectAll().where("seq", ">=", first).orderBy("seq").limit(limit);
    return (await read(() => query.execute())).map(chainedEntry);
  };

  /**
   * An earlier key may have been replaced because it was stolen, so its signature alone proves nothing. The first entry of our key
   * covers all entries before it through the links.
   */
  async function anchorFault(from: ChainedEntry): Promise<AuditFault | null> {
    for (let previous = from; ;) {
      const rows = await rowsFrom(previous.seq + 1, AT_ONCE);
      if (rows.length === 0) return "unknown-key";
      for (const row of rows) {
        if (row.seq !== previous.seq + 1) return "gap";
        if (row.key === key.id) return rowFault(row, previous.link, tools);
        if (row.link !== digestOf(linkText(previous.link, row))) return "altered";
        previous = row;
      }
    }
  }

  async function faultOf(row: ChainedEntry, previous: string): Promise<AuditFault | null> {
    if (row.key === key.id) return rowFault(row, previous, tools);
    const unsigned = { hash: digestOf, signature: () => "good" as const };
    return rowFault(row, previous, unsigned) ?? anchorFault(row);
  }

  return async (seq) => {
    const rows = await rowsFrom(seq - 1, 2);
    const row = rows.find((each) => each.seq === seq);
    if (row === undefined) return { ok: false, fault: "gap" };
    const previous = seq === 1 ? NO_LINK : rows.find((each) => each.seq === seq - 1)?.link;
    if (previous === undefined) return { ok: false, fault: "gap" };
    const fault = await faultOf(row, previous);
    return fault === null ? { ok: true, kept: kept(row) } : { ok: false, fault };
  };
}

const kept = ({ seq, link, text }: ChainedEntry): KeptEntry => keptEntry({ seq, link, entry: text });
