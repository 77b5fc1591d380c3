// Measures how many audit entries per second two replicas append to one chain in PostgreSQL. Each entry has its own transaction, which is
// flushed to disk, as for a decision.

import { openStore } from "#src/adapters/store/open.ts";
import { anAuditEntry, aRun } from "../test/make/run.ts";
import { startPostgres } from "../test/make/postgres.ts";

export type Appends = { readonly perSecond: number; readonly entries: number };

/** Writers of each replica: more than its nine connections for transactions, so that some always wait. */
const WRITERS = 12;
const WARM_MS = 500;

/** Rejects if the chain is damaged afterwards. */
export async function auditAppends(ms: number): Promise<Appends> {
  const server = await startPostgres({ settings: ["fsync=on"] });
  try {
    const url = await server.database();
    const auditKey = Buffer.alloc(32, "key").toString("base64");
    const stores = [
      await openStore({ url, owner: "one", auditKey }),
      await openStore({ url, owner: "two", auditKey }),
    ];
    const run = aRun();
    const until = performance.now() + WARM_MS + ms;
    let entries = 0;
    const write = async (store: (typeof stores)[number]): Promise<void> => {
      while (performance.now() < until) {
        await store.audit([
          anAuditEntry(run, { what: "decided", verdict: "approve", reason: "The numbers are right." }),
        ]);
        if (performance.now() > until - ms) entries += 1;
      }
    };
    await Promise.all(stores.flatMap((store) => Array.from({ length: WRITERS }, () => write(store))));
    const fault = await stores[0]?.walkAudit();
    if (fault !== null) throw new Error(`the chain is damaged: ${JSON.stringify(fault)}`);
    await Promise.all(stores.map((store) => store.close()));
    return { perSecond: entries / (ms / 1_000), entries };
  } finally {
    await server.stop();
  }
}
