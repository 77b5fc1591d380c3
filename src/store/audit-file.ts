// The audit of a database file, read without the bot: nothing is locked, changed or brought up to date.

import type { ChainedEntry } from "../core/audit-chain.ts";
import { chainedEntry, keptEntry } from "./audit.ts";
import type { KeptEntry } from "../flow/audit-entry.ts";
import { unusable } from "./failure.ts";
import { refuseOtherSchema } from "./migrate.ts";
import { takeSnapshot } from "./snapshot.ts";
import { openCopy } from "./sqlite.ts";
import type { Database } from "./tables.ts";

export type AuditFile = {
  /** In the order of their numbers. */
  rows(): AsyncIterable<ChainedEntry>;
  readonly textOf: (digest: string) => Promise<string | null>;
  close(): Promise<void>;
};

const AT_ONCE = 1_000;

/** Rejects with one line for people. */
export async function openAuditFile(database: string): Promise<AuditFile> {
  try {
    const snapshot = await takeSnapshot(database);
    try {
      const db = openCopy(snapshot.file);
      const close = async (): Promise<void> => {
        await db.destroy();
        snapshot.remove();
      };
      return await readable(db, close);
    } catch (error) {
      snapshot.remove();
      throw error;
    }
  } catch (error) {
    throw unusable(database, error);
  }
}

async function readable(db: Database, close: () => Promise<void>): Promise<AuditFile> {
  try {
    await refuseOtherSchema(db);
  } catch (error) {
    await db.destroy();
    throw error;
  }
  return {
    rows: () => chain(db),
    textOf: async (digest) => {
      const query = db.selectFrom("audit_texts").select("text").where("digest", "=", digest);
      return (await query.executeTakeFirst())?.text ?? null;
    },
    close,
  };
}

async function* chain(db: Database): AsyncGenerator<ChainedEntry> {
  for (let after = Number.MIN_SAFE_INTEGER; ;) {
    const query = db.selectFrom("audit").selectAll().where("seq", ">", after).orderBy("seq").limit(AT_ONCE);
    const rows = await query.execute();
    yield* rows.map(chainedEntry);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

/** The entry of a row, for whoever shows it. */
export function entryOf({ seq, link, text }: ChainedEntry): KeptEntry {
  return keptEntry({ seq, link, entry: text });
}
