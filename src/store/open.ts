// From a database URL to the store that the use cases know.

import { randomUUID } from "node:crypto";
import type { RunKey } from "../core/ids.ts";
import type { PortError, Store } from "../flow/ports.ts";
import { unusable } from "./failure.ts";
import { createFindRuns } from "./find-runs.ts";
import { createKeepRuns } from "./keep-runs.ts";
import { createLeases, startAlone } from "./leases.ts";
import { migrate } from "./migrate.ts";
import { createPapers } from "./papers.ts";
import { createSeenRequests } from "./seen-requests.ts";
import { openSqlite, SQLITE } from "./sqlite.ts";
import type { Database } from "./tables.ts";
import { read } from "./transaction.ts";

export type StoreOptions = {
  /** `sqlite:PATH` or `sqlite::memory:`. */
  readonly url: string;
  /** Names this process to whoever reads the database; made unique here. */
  readonly owner: string;
  /** The clock that `claim` and `renew` are called with. */
  readonly now?: () => number;
  /** The first lease (ms), until `claim` or `renew` gives another. */
  readonly leaseMs?: number;
  /** Hears of each run that cannot be read and is therefore left out of `claim` or `list`. */
  readonly onCorrupt?: (key: RunKey, error: PortError) => void;
};

const FIRST_LEASE_MS = 60_000;

/** Rejects with one line for people when the database cannot be used. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const path = sqlitePath(options.url);
  const owner = `${options.owner} ${randomUUID()}`;
  const now = options.now ?? Date.now;
  const onCorrupt = options.onCorrupt ?? (() => undefined);
  const db = await prepared(path, async (opened) => {
    await migrate(opened, SQLITE);
    await startAlone(opened, owner, now() + (options.leaseMs ?? FIRST_LEASE_MS));
  });
  return {
    ...createKeepRuns({ db, owner, now }),
    ...createFindRuns({ db, onCorrupt }),
    ...createLeases({ db, owner, onCorrupt }),
    ...createPapers(db),
    ...createSeenRequests(db),
    ping: async () => void (await read(() => db.selectFrom("schema_version").selectAll().execute())),
    close: () => db.destroy(),
  };
}

function sqlitePath(url: string): string {
  if (/^postgres(ql)?:/.test(url)) {
    throw new Error("cannot use the database: PostgreSQL is not built yet; use sqlite:PATH");
  }
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  if (path === undefined) {
    throw new Error(
      "cannot use the database: its URL must be sqlite:PATH, such as sqlite:./data/countersign.db",
    );
  }
  return path;
}

async function prepared(path: string, prepare: (db: Database) => Promise<void>): Promise<Database> {
  let db: Database | null = null;
  try {
    db = openSqlite(path);
    await prepare(db);
    return db;
  } catch (error) {
    await db?.destroy();
    throw unusable(path, error);
  }
}
