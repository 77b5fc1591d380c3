// Reads the audit of a database without the bot. It locks, changes and migrates nothing.

import { setImmediate } from "node:timers/promises";
import type { KeptEntry } from "../../audit/entry.ts";
import {
  type AuditPlace,
  type ChainedEntry,
  type KnownHead,
  LAST_SEQ,
} from "../../domain/audit/hash-chain.ts";
import { parsed, RunId, RunKey } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import type { Finding } from "../../ports/audit-store.ts";
import { chainedEntry, keptEntry, newest } from "./append-audit.ts";
import { auditBase } from "./archive-bounds.ts";
import type { AuditKey } from "./audit-key.ts";
import { announcedKeys, countStrays } from "./check-audit.ts";
import { createLongTexts } from "./long-texts.ts";
import type { Reading } from "./run-row.ts";
import { createFindRuns } from "./find-runs.ts";
import { refuseEmpty, refuseOtherSchema } from "./schema.ts";
import { brokenRows } from "./seals.ts";
import { openSnapshot, shown, type Snapshot } from "./database-copy.ts";
import { unusable } from "./faults.ts";
import { type Database } from "./database.ts";

export type AuditFile = {
  /** Returns the entries in the order of their numbers. */
  rows(): AsyncIterable<ChainedEntry>;
  readonly textOf: (digest: string) => Promise<string | null>;
  /** Resolves to the heads that the runs remember. The audit must contain each of them. */
  heads(): Promise<readonly KnownHead[]>;
  /** Resolves to the public keys that took over according to the audit itself. */
  announcedKeys(): Promise<readonly string[]>;
  /** Resolves to the last archived entry, after which the rows begin. */
  base(): Promise<AuditPlace>;
  /** Resolves to the JSON of the "archived" entries, oldest first. Nothing of it is checked. */
  archivings(): Promise<readonly string[]>;
  /** Counts the rows with a number that no entry can have. */
  strays(): Promise<number>;
  /** Resolves to the id of the key that signed the newest entry, or to null if there is no entry. */
  headKey(): Promise<string | null>;
  /** Resolves to the "tampering-found" and "tampering-acknowledged" entries, oldest first. */
  tampering(): Promise<readonly KeptEntry[]>;
  /** Resolves to the rows outside the audit that were changed without this key. */
  brokenRows(key: AuditKey): Promise<readonly Finding[]>;
  readonly close: () => Promise<void>;
};

const AT_ONCE = 1_000;

type Refuse = typeof refuseEmpty;

/**
 * `database` is the path of a file, or the URL of PostgreSQL. Its schema may be older, so that a copy can be verified before anything
 * migrates it. Rejects with one line for the operator.
 */
export async function openAuditFile(database: string, refuse: Refuse = refuseEmpty): Promise<AuditFile> {
  const snapshot = await openSnapshot(database);
  try {
    return await readAudit(snapshot, refuse);
  } catch (error) {
    throw unusable(shown(database), error);
  }
}

/** For readers that also write. Closes the database and rejects if its schema is not the newest. */
export async function readAudit(snapshot: Snapshot, refuse: Refuse = refuseOtherSchema): Promise<AuditFile> {
  try {
    await refuse(snapshot.db, snapshot.engine);
  } catch (error) {
    await snapshot.close();
    throw error;
  }
  return auditIn(snapshot);
}

/** The schema may be older, because every schema has these tables. */
export function auditIn({ db, close }: Snapshot): AuditFile {
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
    base: async () => (await auditBase(db)).mark,
    archivings: async () => (await rowsOf(db, ["archived"])).map(({ entry }) => entry),
    tampering: () => entriesOf(db, ["tampering-found", "tampering-acknowledged"]),
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

async function entriesOf(db: Database, kinds: readonly string[]): Promise<readonly KeptEntry[]> {
  return (await rowsOf(db, kinds)).map(keptEntry);
}

function rowsOf(db: Database, kinds: readonly string[]) {
  const query = db.selectFrom("audit").select(["seq", "link", "entry"]).where("seq", "<=", LAST_SEQ);
  return query.where("what", "in", kinds).orderBy("seq").execute();
}

async function* chain(db: Database): AsyncGenerator<ChainedEntry> {
  // Rows with other numbers are counted as `strays`.
  const rest = db.selectFrom("audit").selectAll().where("seq", "<=", LAST_SEQ);
  for (let after = 0; ;) {
    const query = rest.where("seq", ">", after).orderBy("seq").limit(AT_ONCE);
    const rows = await query.execute();
    yield* rows.map(chainedEntry);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    // SQLite answers at once, so without this a signal would wait for the whole audit.
    await setImmediate();
  }
}

/** Returns the entry of a row, for display. */
export function entryOf({ seq, link, text }: ChainedEntry): KeptEntry {
  return keptEntry({ seq, link, entry: text });
}

/** Returns null if the row is no entry, and the audit is printed although it was `tampered` with. */
export function entryIfReadable(row: ChainedEntry, tampered: boolean): KeptEntry | null {
  try {
    return entryOf(row);
  } catch (error) {
    if (tampered) return null;
    throw error;
  }
}

// Reads one run.

const READING: Omit<Reading, "texts"> = { seals: null, now: Date.now, findings: { report: () => undefined } };

/** Finds a run by the service's id or by ours. Resolves to null if there is none. Rejects if the database cannot be read. */
export async function readRun(database: string, id: string): Promise<Run | null> {
  const { db, engine, close } = await openSnapshot(database);
  try {
    await refuseEmpty(db, engine);
    const runs = createFindRuns({
      db,
      reading: { ...READING, texts: createLongTexts() },
      onCorrupt: () => undefined,
    });
    const asService = parsed(RunId, id);
    const key = (asService === null ? null : await runs.byRunId(asService)) ?? parsed(RunKey, id);
    return key === null ? null : ((await runs.load(key))?.run ?? null);
  } finally {
    await close();
  }
}
