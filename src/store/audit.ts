import type { AuditEntry } from "../flow/ports.ts";
import { inBatches, type Trx } from "./transaction.ts";

export async function appendAudit(trx: Trx, entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map((entry) => {
    const { at, what, run, approval, by } = entry;
    return { at, what, run, approval, by_user: by?.user ?? null, entry: JSON.stringify(entry) };
  });
  for (const batch of inBatches(rows)) await trx.insertInto("audit").values(batch).execute();
}
