// The audit of a database file, read without the bot: nothing is locked, changed or brought up to date.

import type { ChainedEntry, KnownHead } from "../../domain/audit/hash-chain.ts";
import { parsed, RunId, RunKey } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import type { KeptEntry } from "../../audit/entry.ts";
import type { Finding } from "../../ports/store.ts";
import type { AuditKey } from "./audit-key.ts";
import { chainedEntry, keptEntry, LAST_SEQ, newest } from "./append-audit.ts";
import { announcedKeys, countStrays } from "./check-audit.ts";
import { unusable } from "./store-failure.ts";
import { createFindRuns } from "./find-runs.ts";
import { createLongTexts } from "./long-texts.ts";
import type { Reading } from "./run-row.ts";
import { refuseOtherSchema } from "./schema.ts";
import { brokenRows } from "./seals.ts";
import { copyDatabase } from "./database-copy.ts";
import { openCopy } from "./sqlite.ts";
import type { Database } from "./tables.ts";

export type AuditFile = {
  /** In the order of their numbers. */
  rows(): AsyncIterable<ChainedEntry>;
  readonly textOf: (digest: string) => Promise<string | null>;
  /** What the runs remember of the audit: each must be in it. */
  heads(): Promise<readonly KnownHead[]>;
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
    const copy = await copyDatabase(database);
    try {
      const db = openCopy(copy.file);
      const close = async (): Promise<void> => {
        await db.destroy();
        copy.remove();
      };
      return await readAudit(db, close);
    } catch (error) {
      copy.remove();
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

async function headsIn(db: Database): Promise<readonly KnownHead[]> {
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

// One run, read from a copy of the database: the bot may be using the file itself.

const READING: Omit<Reading, "texts"> = { seals: null, now: Date.now, findings: { report: () => undefined } };

/** By the service's id or by ours; null when there is no such run. Throws when the file can't be read. */
export async function readRun(database: string, id: string): Promise<Run | null> {
  const copy = await copyDatabase(database);
  const db = openCopy(copy.file);
  try {
    const runs = createFindRuns({
      db,
      reading: { ...READING, texts: createLongTexts() },
      onCorrupt: () => undefined,
    });
    const asService = parsed(RunId, id);
    const key = (asService === null ? null : await runs.byRunId(asService)) ?? parsed(RunKey, id);
    return key === null ? null : ((await runs.load(key))?.run ?? null);
  } finally {
    await db.destroy();
    copy.remove();
  }
}
