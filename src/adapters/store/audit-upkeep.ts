// Changes to the audit that operators make at the shell: replacing the key, and erasing a text.

import { hostname, userInfo } from "node:os";
import { sql } from "kysely";
import { auditEntry } from "../../audit/entry.ts";
import type { KeyChange } from "../../domain/audit/hash-chain.ts";
import { parsedEntry } from "../../domain/audit/verify-chain.ts";
import { appendAudit, newest, takeAuditLock } from "./append-audit.ts";
import { type AuditFile, openAuditFile, readAudit } from "./audit-file.ts";
import { adoptNextKey, type AuditKey, isReplacingKey, keysBeside, readAuditKey } from "./audit-key.ts";
import { refuseAsEmpty, refuseOtherSchema } from "./schema.ts";
import { isSealed, type Seals, sealsOf } from "./seals.ts";
import { openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import { isServer, refuseMissing, unusableDatabase } from "./database-copy.ts";
import { openSqlite, rewriteFile, SQLITE } from "./sqlite.ts";
import { liveOwners } from "./leases.ts";
import { explaining, Refused } from "./faults.ts";
import { type Database, read, type Trx, write } from "./database.ts";
import { type Look, lookForHolders, NOTHING_READ, storedHolders } from "./text-holders.ts";

/** Names the person who acts, as their system knows them. A container may run as a user without a name. */
export function personAtShell(): string {
  try {
    return `${userInfo().username} on ${hostname()}`;
  } catch {
    return `user ${process.getuid?.() ?? "(unknown)"} on ${hostname()}`;
  }
}

// Replaces the key. The old key signs an entry about the change, the new key signs from the next entry on, and every row with an intact seal
// gets a seal of the new key. All of this happens in one transaction.

export type Rotated = "rotated" | "already";

export type Keys = { readonly from: AuditKey; readonly to: AuditKey };

/** Resolves to "already" if the audit was already handed over to this key. Rejects with one line for the operator. */
export const rotateKey = (database: string, keys: Keys, at: number): Promise<Rotated> =>
  whileStopped(database, (db) => replaceKey(db, isServer(database), keys, at));

/**
 * Replaces the key beside the database file by a new one. Reads and makes keys only while no other process can, because two rotations would
 * overwrite each other's new key. Rejects with one line for the operator.
 */
export const rotateKeyBeside = (database: string, at: number): Promise<Keys> =>
  whileStopped(database, async (db) => {
    const key = readAuditKey(database);
    // Checks the key before `keysBeside` writes any file. After an interrupted rotation, the files exist and the audit may have the new key.
    if (key !== null && !isReplacingKey(database)) refuseToReplace(await newest(db), key);
    const keys = keysBeside(database);
    await replaceKey(db, false, keys, at);
    adoptNextKey(database);
    return keys;
  });

/** Holds the lock of a database file until `act` is done. Rejects if this program does not know the schema. */
async function whileStopped<Answer>(
  database: string,
  act: (db: Database) => Promise<Answer>,
): Promise<Answer> {
  refuseMissing(database);
  const onServer = isServer(database);
  try {
    const db = onServer ? await openPostgres(database, PATIENT) : openSqlite(database, refuseAsEmpty);
    try {
      await refuseOtherSchema(db, onServer ? POSTGRES : SQLITE);
      return await act(db);
    } finally {
      await db.destroy();
    }
  } catch (error) {
    throw await unusableDatabase(database, error);
  }
}

function replaceKey(db: Database, onServer: boolean, keys: Keys, at: number): Promise<Rotated> {
  return write(db, async (trx) => {
    await takeAuditLock(trx);
    if (onServer) await refuseReplicas(trx, "would sign with the old key");
    return handOver(trx, keys, at);
  }).catch(
    explaining({
      no: "The key was not changed. Run the command again.",
      maybe:
        "It is not known whether the key was changed. Keep both keys and run the command again: it changes the key, or says that it is changed.",
    }),
  );
}

/**
 * Rejects if a replica is running, which then `would` do this. A starting replica takes a lease before it checks the audit's key, so none
 * continues with the old key.
 */
export async function refuseReplicas(trx: Trx, would: string): Promise<void> {
  const live = await liveOwners(trx);
  if (live.length > 0)
    throw new Refused(
      `${live.length} ${live.length === 1 ? "process uses" : "processes use"} it, and ${would}: stop all of them first`,
    );
}

async function handOver(trx: Trx, { from, to }: Keys, at: number): Promise<Rotated> {
  const head = await newest(trx);
  if (head?.key === to.id) return "already";
  refuseToReplace(head, from);
  const keys: KeyChange = { from: named(from), to: named(to) };
  const outcome = `${from.id} → ${to.id}, exchanged at the shell by ${personAtShell()}`;
  await appendAudit(trx, [auditEntry(null, { at, what: "key-changed", outcome, keys })], from);
  await appendAudit(trx, [auditEntry(null, { at, what: "key-accepted", outcome: to.id })], to);
  await replaceSeals(trx, sealsOf(from), sealsOf(to));
  return "rotated";
}

type Head = { readonly key: string } | null;

function refuseToReplace(head: Head, { id }: AuditKey): void {
  if (head === null) throw new Refused("its audit is empty, so just put the new key in place");
  if (head.key !== id)
    throw new Refused(`its audit is signed with the key ${head.key}, and the key here is ${id}`);
}

/** Throws unless this key signs the audit now. `done`: what is then not done. */
export function refuseReplacedKey(head: Head, { id }: AuditKey, done: "erased" | "archived"): void {
  if (head?.key === id) return;
  throw new Refused(
    `The audit is signed with the key ${head?.key ?? "(none)"}, and the key here is ${id}. Nothing was ${done}. Put the right key in place.`,
  );
}

const named = ({ id, publicKey }: AuditKey) => ({ id, publicKey });

/** A row without an intact seal stays unchanged, so it is still found under the new key. */
async function replaceSeals(trx: Trx, before: Seals, after: Seals): Promise<void> {
  for (const { key } of await trx.selectFrom("runs").select("key").execute()) {
    const row = await trx.selectFrom("runs").selectAll().where("key", "=", key).executeTakeFirstOrThrow();
    if (!isSealed(row.seal, before.run(row))) continue;
    await trx
      .updateTable("runs")
      .set({ seal: after.run(row) })
      .where("key", "=", key)
      .execute();
  }
  for (const row of await trx.selectFrom("forms").selectAll().execute()) {
    if (!isSealed(row.seal, before.form(row))) continue;
    await trx
      .updateTable("forms")
      .set({ seal: after.form(row) })
      .where("nonce", "=", row.nonce)
      .execute();
  }
  for (const row of await trx.selectFrom("buttons").selectAll().execute()) {
    if (!isSealed(row.seal, before.button(row))) continue;
    await trx
      .updateTable("buttons")
      .set({ seal: after.button(row) })
      .where("nonce", "=", row.nonce)
      .execute();
  }
}

// Erases one text of the audit. It writes a signed entry about the erasure, then deletes the text and the finished runs that contain it. No
// bot can use a file meanwhile, because we hold its lock from the first read to the last write. On a server the bots continue: their entries
// come before or after the erasure, and a text that they need again is stored again.

export type Wanted = {
  readonly digest: string;
  readonly reason: string | null;
  /** The person who erases, by their name on this system. */
  readonly by: string;
  readonly at: number;
};

export type Redacted = {
  /** The number of the entry that records it. */
  readonly entry: number;
  /** Finished runs that contained the text or a part of it, and were deleted with it. */
  readonly runs: number;
  /** An earlier command erased it, so this one only rewrote the file. */
  readonly again: boolean;
};

/** Locks a database file until `close`. */
export type LockedAudit = AuditFile & {
  /** Rejects with one line for the operator. */
  redact(wanted: Wanted): Promise<Redacted>;
};

/** Rejects with one line for the operator. */
export async function lockAudit(database: string, key: AuditKey): Promise<LockedAudit> {
  if (isServer(database)) return serverAudit(database, key);
  refuseMissing(database);
  try {
    const db = openSqlite(database, refuseAsEmpty);
    const audit = await readAudit({ db, engine: SQLITE, close: () => db.destroy() });
    return { ...audit, redact: (wanted) => redact(db, key, wanted) };
  } catch (error) {
    throw await unusableDatabase(database, error);
  }
}

async function serverAudit(url: string, key: AuditKey): Promise<LockedAudit> {
  const audit = await openAuditFile(url, refuseOtherSchema);
  const db = await openPostgres(url, PATIENT);
  return {
    ...audit,
    async redact(wanted) {
      // All replicas wait while the lock is held, so only what they write from here on is read under it.
      const look = await read(() => lookForHolders(db, wanted.digest, NOTHING_READ));
      return write(db, (trx) => erase(trx, key, wanted, look)).catch(NOT_ERASED);
    },
    async close() {
      await audit.close();
      await db.destroy();
    },
  };
}

const NOT_ERASED = explaining({
  no: "Nothing was erased. Run the command again.",
  maybe:
    "It is not known whether the text was erased. Run the command again: it erases the text, or says that it is erased.",
});

async function redact(db: Database, key: AuditKey, wanted: Wanted): Promise<Redacted> {
  const redacted = await write(db, (trx) => erase(trx, key, wanted, NOTHING_READ)).catch(NOT_ERASED);
  // Free pages and the log still contain deleted text, so both are rewritten.
  const why = await rewriteFile(db);
  if (why !== null)
    throw new Refused(
      `The text is erased, and audit entry ${redacted.entry} records this. But its bytes are still in the database file, which could not be rewritten (${why}). If a disk is full, make room for a copy of the file, also in the temporary folder. Then run the command again.`,
    );
  const { rows } = await sql<{ busy: number }>`pragma wal_checkpoint(truncate)`.execute(db);
  if (rows[0]?.busy !== 0)
    throw new Refused(
      "The text is erased, but another program is reading the database, so the old bytes are still in the write-ahead log. End that program, then run the command again.",
    );
  return redacted;
}

async function erase(trx: Trx, key: AuditKey, wanted: Wanted, before: Look): Promise<Redacted> {
  const { digest, reason, by, at } = wanted;
  await takeAuditLock(trx);
  refuseReplacedKey(await newest(trx), key, "erased");
  const kept = trx.selectFrom("audit_texts").select("digest").where("digest", "=", digest);
  if ((await kept.executeTakeFirst()) === undefined) {
    const entry = await erasedBy(trx, digest);
    if (entry !== null) return { entry, runs: 0, again: true };
    throw new Refused(
      "No text is stored under this digest, and no entry says that it was erased. Nothing was changed.",
    );
  }
  const runs = await storedHolders(trx, await lookForHolders(trx, digest, before));
  const open = runs.filter(({ finished }) => finished === 0).map((run) => run.key);
  if (open.length > 0)
    throw new Refused(
      `An unfinished run still holds this text or a part of it (${open.join(", ")}), so nothing was erased. Erase it when the run is over, or after /agent unwatch.`,
    );
  for (const run of runs) await trx.deleteFrom("runs").where("key", "=", run.key).execute();
  const outcome = `asked for at the shell by ${by}`;
  const entry = auditEntry(null, { at, what: "redacted", digest, reason, outcome });
  const [mark] = await appendAudit(trx, [entry], key);
  await trx.deleteFrom("audit_texts").where("digest", "=", digest).execute();
  return { entry: mark?.seq ?? 0, runs: runs.length, again: false };
}

/** Resolves to the number of the newest entry that says that this text was erased. */
async function erasedBy(trx: Trx, digest: string): Promise<number | null> {
  const rows = trx.selectFrom("audit").select(["seq", "entry"]).where("what", "=", "redacted");
  const erased = (await rows.execute()).filter(({ entry }) => parsedEntry(entry)?.["digest"] === digest);
  return erased.length === 0 ? null : Math.max(...erased.map(({ seq }) => seq));
}
