// Extends the lease of a process, and asks for the database's time.

import { type Expression, sql } from "kysely";
import { type Database, read } from "./database.ts";
import { timeNow } from "./newest-time.ts";
import type { Engine } from "./schema.ts";

/** What the database's clock showed at some moment while we waited `tookMs` for the answer (ms). */
export type DatabaseTime = { readonly at: number; readonly tookMs: number };

export type ExtensionDeps = {
  /** Its connection is never in use by a transaction. */
  readonly leaseDb: Database;
  readonly owner: string;
  readonly timeOf: Engine["timeOf"];
  /** See `StoreOptions`. */
  readonly onTime?: ((time: DatabaseTime) => void) | undefined;
};

export function createExtensions({ leaseDb, owner, timeOf, onTime }: ExtensionDeps) {
  return {
    /** Resolves to false if the lease has expired. */
    extend: async (now: number, leaseMs: number): Promise<boolean> => {
      const askedAt = performance.now();
      const until = await read(() => extended(leaseDb, owner, timeOf(now), leaseMs));
      if (until !== null) onTime?.({ at: until - leaseMs, tookMs: performance.now() - askedAt });
      return until !== null;
    },
    askTime: () => askTime({ leaseDb, timeOf, onTime }),
  };
}

export async function askTime({ leaseDb, timeOf, onTime }: Omit<ExtensionDeps, "owner">): Promise<void> {
  const askedAt = performance.now();
  const at = await read(() => timeNow(leaseDb, timeOf));
  onTime?.({ at, tookMs: performance.now() - askedAt });
}

/** Runs outside a transaction, so it waits for one answer only and blocks no other writers. Resolves to the lease's new end, or to null. */
async function extended(
  db: Database,
  owner: string,
  now: Expression<number>,
  leaseMs: number,
): Promise<number | null> {
  const row = await db
    .updateTable("owners")
    .set({ until: endOf(now, leaseMs) })
    .where("owner", "=", owner)
    .where("until", ">", now)
    .returning("until")
    .executeTakeFirst();
  return row?.until ?? null;
}

export const endOf = (now: Expression<number>, leaseMs: number) => sql<number>`${now} + ${sql.lit(leaseMs)}`;
