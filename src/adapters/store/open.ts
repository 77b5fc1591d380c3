// Opens the store that a database URL names.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { RunKey } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { Store } from "../../ports/store.ts";
import { newest, takeAuditLock } from "./append-audit.ts";
import { type AuditKey, auditKeyBeside, auditKeyFile, auditKeyOf, readAuditKey } from "./audit-key.ts";
import { createAuditLog } from "./audit-log.ts";
import { checkAudit, walkAudit } from "./check-audit.ts";
import { createSettledEntries } from "./settled-entries.ts";
import { unusableDatabase } from "./database-copy.ts";
import { createForms, createSeenRequests } from "./forms.ts";
import { askTime, type DatabaseTime } from "./extend-lease.ts";
import { beginStartLease, createLeases } from "./leases.ts";
import { newestTime } from "./newest-time.ts";
import { createLongTexts } from "./long-texts.ts";
import { createFindRuns } from "./find-runs.ts";
import { createKeepRuns } from "./runs.ts";
import { nameOf, openForLease, openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import { listenTo, NO_SIGNALS, type Signals } from "./postgres-signals.ts";
import { type Engine, migrate, schemaState } from "./schema.ts";
import { brokenRows, createFindings, sealsOf } from "./seals.ts";
import { openSqlite, SQLITE } from "./sqlite.ts";
import { startAlone } from "./start-alone.ts";
import { Unusable, unusable } from "./faults.ts";
import { type Database, onCommit, probeWrite, read, type Trx, write } from "./database.ts";

export type StoreOptions = {
  /** `sqlite:PATH`, `sqlite::memory:` or `postgres://…`. */
  readonly url: string;
  /** The name of this process in the database. `openStore` makes it unique. */
  readonly owner: string;
  /** The monotonic clock of the times that callers pass to `renew`. */
  readonly now?: () => number;
  /** Called with the newest monotonic time in the store, before the first call of `now`. */
  readonly onNewestTime?: (at: number) => void;
  /** Called with the database's time right after `onNewestTime`, and whenever the lease is extended or the time is asked for. */
  readonly onTime?: (time: DatabaseTime) => void;
  /** The time by which leases are measured, derived from `now`. The default is the engine's own. */
  readonly timeOf?: Engine["timeOf"];
  /** The length of the first lease (ms), until `renew` sets another. */
  readonly leaseMs?: number;
  /** Called for each run that cannot be read and is therefore left out of `claim` or `list`. */
  readonly onCorrupt?: (key: RunKey, error: PortError) => void;
  /**
   * The audit's key: a seed of 32 bytes in base64. The default is the key beside the database file, created on first use. PostgreSQL
   * requires this option.
   */
  readonly auditKey?: string | null;
  /** Called with the duration of each commit (seconds). */
  readonly onCommit?: (seconds: number) => void;
  /** Called after the tables of an empty database were created. */
  readonly onNewTables?: () => void;
  /** Called after a key was created. */
  readonly onAuditKey?: (news: AuditKeyNews) => void;
};

export type AuditKeyNews = { readonly type: "made"; readonly file: string };

const FIRST_LEASE_MS = 60_000;

const NO_KEY =
  "the key that signs its audit must not be stored in it, and all replicas need the same key: set AUDIT_KEY to what `openssl rand -base64 32` prints";

/** Rejects with one line for the operator if the database cannot be used. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const place = placeOf(options.url);
  if (place.type === "postgres" && (options.auditKey ?? null) === null)
    throw unusable(nameOf(place.url), new Error(NO_KEY));
  const owner = `${options.owner} ${randomUUID()}`;
  const now = options.now ?? Date.now;
  const leaseMs = options.leaseMs ?? FIRST_LEASE_MS;
  const engine = ENGINES[place.type];
  const { timeOf = engine.timeOf } = options;
  const { db, key, leaseDb } = await openPrepared(place, async (opened) => {
    if (await migrateSchema(place, opened)) options.onNewTables?.();
    options.onNewestTime?.(await newestTime(opened, engine.timeOf));
    await askTime({ leaseDb: opened, timeOf: engine.timeOf, onTime: options.onTime });
    const head = await newest(opened);
    const key = auditKey(place, options, head);
    refuseOtherKey(key, head);
    if (place.type === "sqlite") await startAlone(opened, owner, now() + leaseMs);
    else await startBeside(opened, key, (trx) => beginStartLease(trx, owner, timeOf(now()), leaseMs));
    return { key, leaseDb: place.type === "sqlite" ? opened : await openForLease(place.url) };
  });
  if (options.onCommit !== undefined) onCommit(db, options.onCommit);
  const onCorrupt = options.onCorrupt ?? (() => undefined);
  const signals = place.type === "postgres" ? listenTo(place.url) : NO_SIGNALS;
  const file = place.type === "sqlite" && place.path !== ":memory:" ? resolve(place.path) : null;
  const { onTime } = options;
  return storeOn(db, { file, owner, now, key, onCorrupt, timeOf, signals, leaseDb, onTime });
}

/** Takes the lease of a start and checks the key once more, because it may have changed before there was a lease. */
async function startBeside(
  db: Database,
  key: AuditKey,
  takeLease: (trx: Trx) => Promise<unknown>,
): Promise<void> {
  await write(db, async (trx) => {
    await takeAuditLock(trx);
    refuseOtherKey(key, await newest(trx));
    await takeLease(trx);
  });
}

type Parts = Required<Pick<StoreOptions, "now" | "onCorrupt" | "timeOf">> & {
  /** The database file. Null if there is none. */
  file: string | null;
  owner: string;
  key: AuditKey;
  signals: Signals;
  /** The database for extending the lease. */
  leaseDb?: Database;
  onTime?: StoreOptions["onTime"] | undefined;
};

/** Returns the store of one owner. The database must be open and have the newest schema. */
export function storeOn(db: Database, parts: Parts): Store {
  const { file, owner, now, key, onCorrupt } = parts;
  const seals = sealsOf(key);
  const findings = createFindings();
  const texts = createLongTexts();
  const settled = createSettledEntries(db, key);
  const reading = { seals, texts, now, findings };
  const { timeOf, signals, onTime, leaseDb = db } = parts;
  return {
    ...createKeepRuns({ db, owner, timeOf, signals, now, key, seals, texts, noteWritten: settled.note }),
    settledAfter: settled.settledAfter,
    ...createFindRuns({ db, reading, onCorrupt }),
    ...createLeases({
      db,
      leaseDb,
      owner,
      key,
      timeOf,
      signals,
      reading,
      onCorrupt,
      isShared: signals !== NO_SIGNALS,
      onTime,
    }),
    ...createForms(db, key, reading),
    onTampering: findings.listen,
    checkSeals: () => read(() => brokenRows(db, key)),
    walkAudit: () => walkAudit(db, key),
    checkAudit: () => checkAudit(db, key.publicKey),
    ...createAuditLog(db, key, findings),
    ...createSeenRequests(db),
    auditPublicKey: () => key.publicKey,
    ping: () => probeWrite(db, file),
    close: async () => {
      await signals.close();
      await Promise.all([leaseDb.destroy(), db.destroy()]);
    },
  };
}

/** A start on an empty file would lose every watched run without a word, and begin a second audit with the same key. */
function refuseLostDatabase(path: string): void {
  const key = auditKeyFile(path);
  if (!existsSync(key)) return;
  const words = `it is missing or empty, but its audit key ${key} is there. Put the database or a backup back, or correct DATABASE_URL. To begin with an empty database, move the key file to another folder`;
  throw new Unusable(`cannot use the database ${path}: ${words}`);
}

/** Must be called while we hold the lock of the file, so that no two processes create a key. */
function auditKey(place: Place, { auditKey: seed = null, onAuditKey }: StoreOptions, head: Head): AuditKey {
  if (seed !== null) return auditKeyOf(seed);
  // openStore has already refused PostgreSQL without a key.
  const path = place.type === "sqlite" ? place.path : ":memory:";
  if (head !== null && path !== ":memory:" && readAuditKey(path) === null)
    throw new Error(
      `its audit is signed with the key ${head.key}, and ${auditKeyFile(path)} is gone: put it back`,
    );
  const { key, made } = auditKeyBeside(path);
  if (made !== null) onAuditKey?.({ type: "made", file: made });
  return key;
}

type Head = Awaited<ReturnType<typeof newest>>;

/** Throws unless this key signed the audit last. The bot does not start with any other key, because it could be an attacker's. */
function refuseOtherKey(key: AuditKey, head: Head): void {
  if (head === null || head.key === key.id) return;
  throw new Error(
    `its audit is signed with the key ${head.key}, and the key here is ${key.id}. Put the right key in place (AUDIT_KEY, or the file beside the database). To replace the key: npm run audit -- rotate-key`,
  );
}

type Place =
  | { readonly type: "sqlite"; readonly path: string }
  | { readonly type: "postgres"; readonly url: string };

const ENGINES = { sqlite: SQLITE, postgres: POSTGRES } as const;

function placeOf(url: string): Place {
  if (/^postgres(ql)?:/.test(url)) return { type: "postgres", url };
  const path = /^sqlite:(?!\/\/)(.+)$/.exec(url)?.[1];
  if (path !== undefined) return { type: "sqlite", path };
  throw new Error(
    "cannot use the database: its URL must be sqlite:PATH, such as sqlite:./data/countersign.db, or postgres://USER:PASSWORD@HOST/NAME",
  );
}

/** Closes the database again if `prepare` rejects. */
async function openPrepared<Found>(
  place: Place,
  prepare: (db: Database) => Promise<Found>,
): Promise<{ db: Database } & Found> {
  let db: Database | null = null;
  try {
    db =
      place.type === "sqlite"
        ? openSqlite(place.path, () => refuseLostDatabase(place.path))
        : await openPostgres(place.url);
    return { db, ...(await prepare(db)) };
  } catch (error) {
    await db?.destroy();
    throw await unusableDatabase(place.type === "postgres" ? place.url : place.path, error);
  }
}

/**
 * Uses a connection with longer limits, because a migration may take longer than the running bot allows a statement. Resolves to whether the
 * database was empty.
 */
async function migrateSchema(place: Place, db: Database): Promise<boolean> {
  if (place.type === "sqlite") return migrate(db, SQLITE);
  if ((await schemaState(db, POSTGRES)) === "current") return false;
  const patient = await openPostgres(place.url, PATIENT);
  try {
    return await migrate(patient, POSTGRES);
  } finally {
    await patient.destroy();
  }
}
