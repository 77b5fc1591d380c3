// The audit of a database file, read without the bot: nothing is locked, changed or brought up to date.

import type { ChainedEntry, Witness } from "../core/audit-chain.ts";
import { chainedEntry, keptEntry, LAST_SEQ, newest } from "./audit.ts";
import { announcedKeys, countStrays } from "./check-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { brokenRows } from "./check-seals.ts";
import type { Finding } from "../flow/ports.ts";
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
  /** What the runs remember of the audit: each must be in it. */
  heads(): Promise<readonly Witness[]>;
  /** Public keys that the audit itself says take over. */
  announcedKeys(): Promise<readonly string[]>;
  /** How many rows bear a number that no entry can have. */
  strays(): Promise<number>;
  /** Of the newest entry; null where there is none. */
  headKey(): Promise<string | null>;
  /** «tampering-found» and «tampering-acknowledged», oldest first. */
  tampering(): Promise<readonly KeptEntry[]>;
  /** Rows beside the audit that were changed by somebody who has not this key. */
  brokenRows(key: AuditKey): Promise<readonly Finding[]>;
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
      return await readAudit(db, close);
    } catch (error) {
      snapshot.remove();
      throw error;
    }
  } catch (error) {
    throw unusable(database, error);
  }
}

/** Closes and rejects where the schema is not the one that this program knows. */
export async function readAudit(db: Database, close: () => Promise<void>): Promise<AuditFile> {
  try {
    await refuseOtherSchema(db);
  } catch (error) {
    await close();
    throw error;
  }
  return {
    rows: () => chain(db),
    textOf: async (digest) => {
      const query = db.selectFrom("audit_texts").select("text").where("digest", "=", digest);
      return (await query.executeTakeFirst())?.text ?? null;
    },
    heads: () => headsIn(db),
    announcedKeys: () => announcedKeys(db),
    strays: () => countStrays(db),
    headKey: async () => (await newest(db))?.key ?? null,
    tampering: () => tamperingIn(db),
    brokenRows: (key) => brokenRows(db, key),
    close,
  };
}

async function headsIn(db: Database): Promise<readonly Witness[]> {
  const rows = await db.selectFrom("runs").select(["audit_seq", "audit_link"]).execute();
  return rows.flatMap(({ audit_seq: seq, audit_link: link }) =>
    seq === null || link === null ? [] : [{ seq, link }],
  );
}

async function tamperingIn(db: Database): Promise<readonly KeptEntry[]> {
  const query = db.selectFrom("audit").select(["seq", "link", "entry"]).where("seq", "<=", LAST_SEQ);
  const kinds = ["tampering-found", "tampering-acknowledged"];
  return (await query.where("what", "in", kinds).orderBy("seq").execute()).map(keptEntry);
}

async function* chain(db: Database): AsyncGenerator<ChainedEntry> {
  // What bears other numbers is counted as `strays`.
  const rest = db.selectFrom("audit").selectAll().where("seq", "<=", LAST_SEQ);
  for (let after = 0; ;) {
    const query = rest.where("seq", ">", after).orderBy("seq").limit(AT_ONCE);
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
