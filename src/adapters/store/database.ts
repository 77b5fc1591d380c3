// The database as the rest of the store uses it: the row types, transactions and failures. schema.ts explains each table and column.

import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Kysely, Transaction } from "kysely";
import type { ApprovalId, ChannelId, Nonce, RunId, RunKey, TeamId, UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import { failed, isCollision, isUndone } from "./faults.ts";

export type Database = Kysely<Tables>;

export type Tables = {
  runs: RunRow;
  owners: { owner: string; until: number };
  shards: { id: number; holder: string | null };
  buttons: { nonce: Nonce; run: RunKey; approval: ApprovalId; version: number; seal: string };
  forms: { nonce: Nonce; run: RunKey; opened_at: number; doc_version: number; doc: string; seal: string };
  long_texts: { owner: string; digest: string; run: RunKey; text: string };
  intentions: { intention: string; run: RunKey };
  audit: AuditRow;
  audit_lock: { taken: number };
  audit_texts: { digest: string; text: string };
  notifications: NotificationRow;
  documents: { name: string; doc: string };
  seen_requests: { mark: string; at: number };
  schema_version: { version: number };
};

export type RunRow = {
  key: RunKey;
  service_run_id: RunId | null;
  team: TeamId;
  channel: ChannelId;
  requester: UserId;
  revision: number;
  finished: 0 | 1;
  pending: number;
  holder: string | null;
  shard: number;
  created_at: number;
  changed_at: number;
  doc_version: number;
  audit_seq: number | null;
  audit_link: string | null;
  doc: string;
  seal: string;
};

export type AuditRow = {
  seq: number;
  at: number;
  what: string;
  run: RunKey | null;
  run_id: RunId | null;
  approval: ApprovalId | null;
  by_user: UserId | null;
  asked: string | null;
  entry: string;
  link: string;
  key: string;
  signature: string;
};

export type NotificationRow = {
  id: Nonce;
  kind: string;
  entry: number;
  to_id: string;
  made_at: number;
  to_do: 0 | 1;
  disputed: 0 | 1;
  post: string;
};

export type Trx = Transaction<Tables>;

/** The work of a transaction returns this to roll back its writes. */
export class Undo<Answer> {
  readonly answer: Answer;
  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** The maximum number of tries of one transaction while writers on other connections collide with it. */
const TRIES = 8;
/** The longest pause before the second try (ms). It doubles with each try, up to `LONGEST_PAUSE_MS`. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/**
 * Runs `work` in one transaction. Rejects with PortError. If the engine aborts the transaction because of another writer, `work` runs
 * again from its start, so it must not keep anything from a failed try.
 */
export async function write<Answer>(db: Database, work: Work<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(db, work);
    } catch (error) {
      if (tries >= TRIES || !isCollision(error)) throw error;
      // The pause is random so that two writers that collided do not collide again.
      await pause(Math.random() * Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS));
    }
  }
}

type Work<Answer> = (trx: Trx) => Promise<Answer | Undo<Answer>>;

const commitListeners = new WeakMap<Database, (seconds: number) => void>();

/** Calls `listener` after each commit with its duration (seconds). A database has one listener. */
export function onCommit(db: Database, listener: (seconds: number) => void): void {
  commitListeners.set(db, listener);
}

async function attempt<Answer>(db: Database, work: Work<Answer>): Promise<Answer> {
  const trx = await read(() => db.startTransaction().execute());
  let committing = false;
  try {
    const found = await work(trx);
    if (found instanceof Undo) {
      await trx.rollback().execute();
      return found.answer;
    }
    committing = true;
    const startedAt = performance.now();
    await trx.commit().execute();
    commitListeners.get(db)?.((performance.now() - startedAt) / 1_000);
    return found;
  } catch (error) {
    // Some failures have already ended the transaction. The first error is the one that explains the failure.
    if (!trx.isRolledBack)
      await trx
        .rollback()
        .execute()
        .catch(() => undefined);
    throw failed(error, committing && !isUndone(error) ? "maybe" : "no");
  }
}

/** Runs a read. Rejects with PortError. */
export async function read<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw failed(error, "no");
  }
}

/** Rows in one statement. SQLite binds up to 32,766 values, PostgreSQL 65,535, and a row that is written in batches has at most twelve. */
const ROWS_AT_ONCE = 1_000;

export function* inBatches<Row>(rows: readonly Row[], size = ROWS_AT_ONCE): Generator<readonly Row[]> {
  for (let first = 0; first < rows.length; first += size) yield rows.slice(first, first + size);
}

// Proves that the database accepts writes. Readiness depends on it.

/**
 * SQLite's log grows to this size (bytes, 1,000 pages of 4 KiB) before SQLite reuses it from its beginning. With less space, a small write
 * may still succeed although the next decision would not.
 */
const MIN_FREE_BYTES = 1_000 * 4_096;

const NAME = "write-probe";

/** Commits a write. `file` is the database file, or null if there is none. Rejects with PortError if nothing can be recorded. */
export async function probeWrite(db: Database, file: string | null): Promise<void> {
  // The text must differ from the last one, because SQLite writes nothing if nothing changes.
  const doc = JSON.stringify(`${Date.now()} ${Math.random()}`);
  await write(db, async (trx) => {
    await trx
      .insertInto("documents")
      .values({ name: NAME, doc })
      .onConflict((row) => row.column("name").doUpdateSet({ doc }))
      .execute();
  });
  if (file !== null) await read(() => refuseFullDisk(file));
}

async function refuseFullDisk(file: string): Promise<void> {
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize >= MIN_FREE_BYTES) return;
  throw new PortError("the database failed: its disk is full, or almost full", {
    applied: "no",
    retry: "later",
    code: "store_full",
  });
}
