// The database as the store's other files see it: the types of the rows, one transaction, and what a failure means. schema.ts
// explains what each table and column holds.

import type { Kysely, Transaction } from "kysely";
import type { ApprovalId, ChannelId, Nonce, RunId, RunKey, TeamId, UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";

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

/** The work of a transaction returns this to roll its writes back. */
export class Undo<Answer> {
  readonly answer: Answer;
  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** Runs `work` in one transaction. Rejects with PortError. */
export async function write<Answer>(
  db: Database,
  work: (trx: Trx) => Promise<Answer | Undo<Answer>>,
): Promise<Answer> {
  const trx = await read(() => db.startTransaction().execute());
  let committing = false;
  try {
    const found = await work(trx);
    if (found instanceof Undo) {
      await trx.rollback().execute();
      return found.answer;
    }
    committing = true;
    await trx.commit().execute();
    return found;
  } catch (error) {
    // Some failures have ended the transaction already. The first error is the one that says why.
    if (!trx.isRolledBack)
      await trx
        .rollback()
        .execute()
        .catch(() => undefined);
    throw failed(error, committing ? "maybe" : "no");
  }
}

/** For reads. Rejects with PortError. */
export async function read<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw failed(error, "no");
  }
}

/** Rows for one statement: SQLite binds 32,766 values at once, and no row written in batches has more than twelve. */
const ROWS_AT_ONCE = 1_000;

export function* inBatches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE)
    yield rows.slice(first, first + ROWS_AT_ONCE);
}

// Turns a failure of the database into words for people and into a PortError.

type Fault = { readonly code: string; readonly words: string };

// SQLite's primary result codes (sqlite.org/rescode.html); the extended ones carry them in their low byte.
const SQLITE_FAULTS = new Map<number, Fault>([
  [5, { code: "store_busy", words: "another process is using it" }],
  [8, { code: "store_readonly", words: "it cannot be written to" }],
  [10, { code: "store_io", words: "the disk failed" }],
  [11, { code: "store_damaged", words: "it is damaged" }],
  [13, { code: "store_full", words: "the disk is full" }],
  [14, { code: "store_unopened", words: "it cannot be opened" }],
  [26, { code: "store_foreign", words: "it is not a database" }],
]);

const FILE_FAULTS = new Map<string, Fault>([
  ["EACCES", { code: "store_denied", words: "permission denied" }],
  ["EPERM", { code: "store_denied", words: "permission denied" }],
  ["EROFS", { code: "store_readonly", words: "the file system is read-only" }],
  ["ENOSPC", { code: "store_full", words: "the disk is full" }],
  ["EISDIR", { code: "store_unopened", words: "it is a folder" }],
  ["ENOTDIR", { code: "store_unopened", words: "a part of its path is not a folder" }],
  ["EEXIST", { code: "store_unopened", words: "a part of its path is not a folder" }],
]);

/** `applied` is "maybe" only if the commit itself failed. Errors of this program pass unchanged. */
function failed(error: unknown, applied: "no" | "maybe"): Error {
  if (error instanceof PortError || error instanceof TypeError) return error;
  const { code, words } = faultOf(error);
  return new PortError(`the database failed: ${words}`, { applied, retry: "later", code, cause: error });
}

/** One line for the person who starts the program. */
export function unusable(where: string, error: unknown, words = faultOf(error).words): Error {
  return new Error(`cannot use the database ${where}: ${words}`, { cause: error });
}

export const isBusy = (error: unknown): boolean => faultOf(error).code === "store_busy";

function faultOf(error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error);
  const known =
    error instanceof Error
      ? (SQLITE_FAULTS.get(primaryCode(error)) ?? FILE_FAULTS.get(fileCode(error)))
      : undefined;
  return known ?? { code: "store_failed", words: message };
}

function primaryCode(error: Error): number {
  return "errcode" in error && typeof error.errcode === "number" ? error.errcode & 0xff : 0;
}

function fileCode(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
