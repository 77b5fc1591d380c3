// One real database in memory. Each replica has its own store on it, as an owner with its own leases.

import { sql } from "kysely";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { newestTime } from "#src/adapters/store/newest-time.ts";
import { storeOn } from "#src/adapters/store/open.ts";
import type { Signals } from "#src/adapters/store/postgres-signals.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { startAlone } from "#src/adapters/store/start-alone.ts";
import { ALONE } from "#src/engine/lease-keeper.ts";
import type { Store } from "#src/ports/store.ts";
import { RepeatedReads } from "./repeated-reads.ts";
import type { Timeline } from "./timeline.ts";

const KEY = auditKeyOf(Buffer.alloc(32, 7).toString("base64"));

export type SharedDatabase = {
  /** Returns the store of one of several owners. Leases are measured by the database's time. */
  sharedBy(owner: string, now: () => number): Store;
  /**
   * Resolves to the store of the only owner. Every earlier lease is void. Leases are measured by its clock, which continues after the
   * newest stored time.
   */
  ownedBy(owner: string, clock: AloneClock): Promise<Store>;
  /** Resolves to the number of rows of each table. */
  rows(): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
};

type AloneClock = { readonly now: () => number; readonly continueAfter: (stored: number) => void };

/** `distrustful`: see repeated-reads.ts. */
export async function openSharedDatabase(
  timeline: Timeline,
  options: { readonly distrustful?: boolean } = {},
): Promise<SharedDatabase> {
  const db = openSqlite(":memory:");
  await migrate(db, SQLITE);
  const listeners = new Set<() => void>();
  // Every replica gets a hint at once.
  const signals = (): Signals => ({
    notify: () => {
      for (const listener of listeners) timeline.after(1, listener);
      return Promise.resolve();
    },
    onNotified: (listener) => void listeners.add(listener),
    close: () => Promise.resolve(),
  });
  const reads = new RepeatedReads(options);
  const facts = { file: null, key: KEY, onCorrupt: unreadable };
  return {
    sharedBy: (owner, now) => {
      const timeOf = () => sql<number>`cast(${timeline.now} as bigint)`;
      return reads.over(storeOn(db, { ...facts, owner, now, timeOf, signals: signals() }), owner);
    },
    async ownedBy(owner, { now, continueAfter }) {
      continueAfter(await newestTime(db, SQLITE.timeOf));
      await startAlone(db, owner, now() + ALONE.leaseMs);
      reads.forget();
      const own = { owner, now, timeOf: SQLITE.timeOf, signals: signals() };
      return reads.over(storeOn(db, { ...facts, ...own }), owner);
    },
    async rows() {
      const tables = await db.introspection.getTables();
      const counts = tables.map(async ({ name }): Promise<readonly [string, number]> => {
        const { rows } = await sql<{ many: number }>`select count(*) as many from ${sql.table(name)}`.execute(
          db,
        );
        return [name, rows[0]?.many ?? 0];
      });
      return new Map(await Promise.all(counts));
    },
    close: () => db.destroy(),
  };
}

function unreadable(key: string, error: Error): never {
  throw new Error(`run ${key} cannot be read`, { cause: error });
}
