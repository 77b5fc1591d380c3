// Moves the oldest entries of the audit into a file. First the file is written, synced, read back and verified; then, in one
// transaction, a signed entry says so and the entries are removed. No other process may use the database meanwhile.

import { existsSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { sql } from "kysely";
import { auditEntry } from "../../audit/entry.ts";
import { type AuditMark, type ChainedEntry, linkText, signedText } from "../../domain/audit/hash-chain.ts";
import { parsedEntry } from "../../domain/audit/verify-chain.ts";
import { appendAudit, newest, takeAuditLock } from "./append-audit.ts";
import {
  archiveLimit,
  type ArchiveLimit,
  type ArchiveWish,
  auditBase,
  SINK_CURSOR,
  sinkGivenUp,
} from "./archive-bounds.ts";
import { digestsIn, openArchive, writeArchive } from "./archive-file.ts";
import { type AuditFile, openAuditFile, readAudit } from "./audit-file.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import { refuseReplicas } from "./audit-upkeep.ts";
import { type Database, inBatches, type Trx, write } from "./database.ts";
import { usedBy } from "./examine-database.ts";
import { isBusy, unusable } from "./faults.ts";
import { openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import type { Engine } from "./schema.ts";
import { isServer, shown } from "./database-copy.ts";
import { openSqlite, SQLITE } from "./sqlite.ts";

export type Archived = {
  readonly from: number;
  readonly to: number;
  /** The number of the entry that records it. */
  readonly entry: number;
  readonly digest: string;
};

/** A file is locked until `close`; a server must have no replica. */
export type ArchivableAudit = AuditFile & {
  /** What could be archived; nothing is changed. */
  limit(wish: ArchiveWish): Promise<ArchiveLimit & { readonly base: AuditMark }>;
  /** The audit must be verified before. Rejects with one line for people; then nothing is removed. */
  archive(to: number, path: string, at: number): Promise<Archived>;
};

/** Rejects with one line for people. */
export async function openForArchive(database: string, key: AuditKey): Promise<ArchivableAudit> {
  const server = isServer(database);
  if (!server && !existsSync(database)) throw unusable(database, new Error("there is no such file"));
  try {
    const db = server ? await openPostgres(database, PATIENT) : openSqlite(database);
    if (server) await write(db, refuseReplicas);
    const engine = server ? POSTGRES : SQLITE;
    const audit = server
      ? await openAuditFile(database)
      : await readAudit({ db, engine, close: () => db.destroy() });
    return {
      ...audit,
      limit: async (wish) => ({ ...(await archiveLimit(db, wish)), base: (await auditBase(db)).mark }),
      archive: (to, path, at) => archive({ db, engine, audit, key }, { to, path, at }),
      async close() {
        await audit.close();
        if (server) await db.destroy();
      },
    };
  } catch (error) {
    throw unusable(shown(database), error, !server && isBusy(error) ? await usedBy(database) : undefined);
  }
}

type Source = {
  readonly db: Database;
  readonly engine: Engine;
  readonly audit: AuditFile;
  readonly key: AuditKey;
};
type Wanted = { readonly to: number; readonly path: string; readonly at: number };

async function archive({ db, engine, audit, key }: Source, { to, path, at }: Wanted): Promise<Archived> {
  const { mark: after } = await auditBase(db);
  const { digest, head } = await written(path, { audit, key, after, to });
  const entry = await write(db, (trx) => remove(trx, engine, key, { head, digest, at, after }));
  if (engine === SQLITE) await sql`vacuum`.execute(db);
  return { from: after.seq + 1, to, entry, digest };
}

/** Resolves once the file is on the disk, read back and proven. */
async function written(
  path: string,
  expected: Expected,
): Promise<{ readonly digest: string; readonly head: AuditMark }> {
  const { audit, key, after, to } = expected;
  const content = { rows: upTo(audit.rows(), to), textOf: audit.textOf, after };
  try {
    const digest = await writeArchive(path, content, key);
    return { digest, head: await provenArchive(path, expected) };
  } catch (error) {
    if (error instanceof TypeError) throw error;
    const says = error instanceof Error ? error.message : String(error);
    throw new TypeError(
      `${path} could not be written (${says}), so nothing was removed. Delete what is there of it before you try again.`,
      { cause: error },
    );
  }
}

async function* upTo(rows: AsyncIterable<ChainedEntry>, last: number): AsyncGenerator<ChainedEntry> {
  for await (const row of rows) {
    if (row.seq > last) return;
    yield row;
  }
}

type Expected = {
  readonly audit: AuditFile;
  readonly key: AuditKey;
  readonly after: AuditMark;
  readonly to: number;
};

/** Reads the file back, and compares it with the database, entry by entry and text by text. */
async function provenArchive(path: string, { audit, key, after, to }: Expected): Promise<AuditMark> {
  const file = await openArchive(path);
  try {
    const signature = auditSignatures([key.publicKey, ...(await audit.announcedKeys())]);
    const copy = file.rows();
    let previous = after;
    for await (const row of upTo(audit.rows(), to)) {
      const step = await copy.next();
      if (step.done === true) throw differs(path, row.seq);
      const read = step.value;
      const same = read.text === row.text && read.seq === previous.seq + 1;
      if (!same || read.link !== digestOf(linkText(previous.link, read))) throw differs(path, row.seq);
      if (signature(read.key, signedText(read), read.signature) !== "good") throw differs(path, row.seq);
      for (const digest of digestsIn(row.text))
        if (file.textOf(digest) !== (await audit.textOf(digest))) throw differs(path, row.seq);
      previous = read;
    }
    if (previous.seq !== to || (await copy.next()).done !== true) throw differs(path, to);
    return { seq: previous.seq, link: previous.link };
  } finally {
    file.close();
  }
}

const differs = (path: string, seq: number): Error =>
  new TypeError(`${path} was not written as it should be, at entry ${seq}. Nothing was removed.`);

type Removal = {
  readonly head: AuditMark;
  readonly digest: string;
  readonly at: number;
  readonly after: AuditMark;
};

/** Resolves to the number of the entry that says it. */
async function remove(trx: Trx, engine: Engine, key: AuditKey, removal: Removal): Promise<number> {
  const { head, digest, at, after } = removal;
  await takeAuditLock(trx);
  if (engine !== SQLITE) await refuseReplicas(trx);
  const base = await auditBase(trx);
  const stored = await trx.selectFrom("audit").select("link").where("seq", "=", head.seq).executeTakeFirst();
  if ((await newest(trx))?.key !== key.id || base.mark.seq !== after.seq || stored?.link !== head.link)
    throw new TypeError(
      "The audit has changed meanwhile, or is signed with another key. Nothing was removed.",
    );
  const by = `${userInfo().username} on ${hostname()}`;
  const givenUp = await sinkGivenUp(trx, head.seq);
  // If the sink comes back, it gets all that is here, from the first entry on.
  if (givenUp !== null) await trx.deleteFrom("documents").where("name", "=", SINK_CURSOR).execute();
  const sink = givenUp === null ? "" : `; ${givenUp}`;
  const outcome = `entries ${after.seq + 1} to ${head.seq}, archived at the shell by ${by}${sink}`;
  const said = auditEntry(null, { at, what: "archived", outcome, archive: { ...head, file: digest } });
  const [entry] = await appendAudit(trx, [said], key);
  for (const statement of engine.removing.begin) await sql.raw(statement).execute(trx);
  await trx.deleteFrom("audit").where("seq", "<=", head.seq).execute();
  await removeTexts(trx);
  for (const statement of engine.removing.end) await sql.raw(statement).execute(trx);
  return entry?.seq ?? 0;
}

/** Entries in memory at once: those that remain may be millions. */
const AT_ONCE = 1_000;

/** The texts that no remaining entry names, not even by the digest alone. */
async function removeTexts(trx: Trx): Promise<void> {
  const named = new Set<string>();
  for await (const entry of remaining(trx))
    for (const { digest = null, context = null } of [parsedEntry(entry) ?? {}])
      for (const each of [digest, context]) if (typeof each === "string") named.add(each);
  const stored = await trx.selectFrom("audit_texts").select("digest").execute();
  const gone = stored.filter(({ digest }) => !named.has(digest));
  for (const batch of inBatches(gone)) {
    const digests = batch.map(({ digest }) => digest);
    await trx.deleteFrom("audit_texts").where("digest", "in", digests).execute();
  }
}

async function* remaining(trx: Trx): AsyncGenerator<string> {
  for (let after = 0; ;) {
    const query = trx.selectFrom("audit").select(["seq", "entry"]).where("seq", ">", after);
    const rows = await query.orderBy("seq").limit(AT_ONCE).execute();
    yield* rows.map(({ entry }) => entry);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
