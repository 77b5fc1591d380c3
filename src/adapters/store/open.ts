// Opens the store that a database URL names.

import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { RunKey } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { Store } from "../../ports/store.ts";
import { newest } from "./append-audit.ts";
import { type AuditKey, auditKeyBeside, auditKeyFile, auditKeyOf, readAuditKey } from "./audit-key.ts";
import { createAuditLog } from "./audit-log.ts";
import { checkAudit, walkAudit } from "./check-audit.ts";
import { usedBy } from "./examine-database.ts";
import { createForms, createSeenRequests } from "./forms.ts";
import { createLeases, newestTime, startAlone } from "./leases.ts";
import { createLongTexts } from "./long-texts.ts";
import { createFindRuns } from "./find-runs.ts";
import { createKeepRuns } from "./runs.ts";
import { migrate } from "./schema.ts";
import { brokenRows, createFindings, sealsOf } from "./seals.ts";
import { openSqlite, SQLITE } from "./sqlite.ts";
import { type Database, isBusy, read, unusable, write } from "./database.ts";

export type StoreOptions = {
  /** `sqlite:PATH` or `sqlite::memory:`. */
  readonly url: string;
  /** The name of this process in the database; made unique here. */
  readonly owner: string;
  /** The monotonic clock that `claim` and `renew` are called with. */
  readonly now?: () => number;
  /** Called with the newest monotonic time in the store, before the first call of `now`. */
  readonly onNewestTime?: (at: number) => void;
  /** The first lease (ms), until `claim` or `renew` gives another. */
  readonly leaseMs?: number;
  /** Called for each run that cannot be read and is therefore left out of `claim` or `list`. */
  readonly onCorrupt?: (key: RunKey, error: PortError) => void;
  /** The audit's key: a seed of 32 bytes in base64. Without it, the key beside the database file, created on first use. */
  readonly auditKey?: string | null;
  /** Called when a key was created. */
  readonly onAuditKey?: (news: AuditKeyNews) => void;
};

export type AuditKeyNews = { readonly type: "made"; readonly file: string };

const FIRST_LEASE_MS = 60_000;

/** Rejects with one line for people when the database cannot be used. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const path = sqlitePath(options.url);
  const owner = `${options.owner} ${randomUUID()}`;
  const now = options.now ?? Date.now;
  const onCorrupt = options.onCorrupt ?? (() => undefined);
  const { db, key } = await prepared(path, async (opened) => {
    await migrate(opened, SQLITE);
    options.onNewestTime?.(await newestTime(opened));
    const head = await newest(opened);
    const key = auditKey(path, options, head);
    refuseOtherKey(key, head);
    await startAlone(opened, owner, now() + (options.leaseMs ?? FIRST_LEASE_MS));
    return key;
  });
  const seals = sealsOf(key);
  const findings = createFindings();
  const texts = createLongTexts();
  const reading = { seals, texts, now, findings };
  return {
    ...createKeepRuns({ db, owner, engine: SQLITE, now, key, seals, texts }),
    ...createFindRuns({ db, reading, onCorrupt }),
    ...createLeases({ db, owner, engine: SQLITE, reading, onCorrupt }),
    ...createForms(db, key, reading),
    hearTampering: findings.hear,
    checkSeals: () => read(() => brokenRows(db, key)),
    walkAudit: () => walkAudit(db, key),
    checkAudit: () => checkAudit(db, key.publicKey),
    ...createAuditLog(db, key, findings),
    ...createSeenRequests(db),
    auditPublicKey: () => key.publicKey,
    // In a transaction, because every transaction checks that the file has not been replaced.
    ping: () => write(db, async (trx) => void (await trx.selectFrom("schema_version").selectAll().execute())),
    close: () => db.destroy(),
  };
}

/** Called while we hold the lock of the database, so that no two processes create a key. */
function auditKey(path: string, { auditKey: given = null, onAuditKey }: StoreOptions, head: Head): AuditKey {
  if (given !== null) return auditKeyOf(given);
  if (head !== null && path !== ":memory:" && readAuditKey(path) === null)
    throw new Error(
      `its audit is signed with the key ${head.key}, and ${auditKeyFile(path)} is gone: put it back`,
    );
  const { key, made } = auditKeyBeside(path);
  if (made !== null) onAuditKey?.({ type: "made", file: made });
  return key;
}

type Head = Awaited<ReturnType<typeof newest>>;

/**
 * An audit continues under the key that signed it last. The bot does not start with any other: it could be an attacker's.
 */
function refuseOtherKey(key: AuditKey, head: Head): void {
  if (head === null || head.key === key.id) return;
  throw new Error(
    `its audit is signed with the key ${head.key}, and the key here is ${key.id}. Put the right one in place (AUDIT_KEY, or the file beside the database); to exchange it: npm run audit -- rotate-key`,
  );
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

async function prepared<Found>(
  path: string,
  prepare: (db: Database) => Promise<Found>,
): Promise<{ db: Database; key: Found }> {
  let db: Database | null = null;
  try {
    db = openSqlite(path);
    return { db, key: await prepare(db) };
  } catch (error) {
    await db?.destroy();
    throw unusable(path, error, isBusy(error) ? await usedBy(resolve(path)) : undefined);
  }
}
