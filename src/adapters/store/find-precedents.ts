// Finds earlier decisions on the same request, by an index over the audit. It takes as long for a million entries as for a few.

import { sql } from "kysely";
import { askedColumn } from "../../domain/audit/verify-chain.ts";
import type { AuditLog } from "../../ports/store.ts";
import { LAST_SEQ } from "./append-audit.ts";
import type { Database } from "./database.ts";

export function decidedBefore(
  db: Database,
  { verdict, digest, since }: Parameters<AuditLog["decidedBefore"]>[0],
  limit: number,
) {
  return db
    .selectFrom("audit")
    .select("seq")
    .where("asked", "=", askedColumn(verdict, digest))
    .where("seq", "<=", LAST_SEQ)
    .where("at", ">=", since)
    .where((eb) => {
      const disputes = eb.selectFrom("audit as dispute").select("dispute.seq");
      const same = disputes
        .whereRef("dispute.run", "=", "audit.run")
        .whereRef("dispute.approval", "=", "audit.approval");
      // Written so that no engine goes through all disputes: those of one approval are few, and have an index.
      return eb.not(eb.exists(same.where(sql`dispute.what || ''`, "=", "disputed")));
    })
    .orderBy("seq", "desc")
    .limit(limit);
}
