// Moves the oldest entries of the audit into a file. First the file is written, synced, read back and verified. Then one transaction
// appends a signed entry about the archive and removes the entries. No other process may use the database meanwhile.

import { sql } from "kysely";
import { auditEntry } from "../../audit/entry.ts";
import { SINK_CURSORS, sinkDocument } from "../../audit/sink-cursors.ts";
import { type AuditPlace, type ChainedEntry, linkText, signedText } from "../../domain/audit/hash-chain.ts";
import { parsedEntry } from "../../domain/audit/verify-chain.ts";
import { appendAudit, newest, takeAuditLock } from "./append-audit.ts";
import {
  archiveLimit,
  type ArchiveLimit,
  type ArchiveOptions,
  auditBase,
  sinkCursors,
  sinkWords,
} from "./archive-bounds.ts";
import { digestsIn, openArchive, writeArchive } from "./archive-file.ts";
import { type AuditFile, openAuditFile, readAudit } from "./audit-file.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import { personAtShell, refuseReplacedKey, refuseReplicas } from "./audit-upkeep.ts";
import { type Database, inBatches, type Trx, write } from "./database.ts";
import { explaining, Refused } from "./faults.ts";
import { openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import { type Engine, refuseAsEmpty, refuseOtherSchema } from "./schema.ts";
import { isServer, refuseMissing, unusableDatabase } from "./database-copy.ts";
import { openSqlite, rewriteFile, SQLITE } from "./sqlite.ts";

export type Archived = {
  readonly from: number;
  readonly to: number;
  /** The number of the entry that records it. */
  readonly entry: number;
  readonly digest: string;
  /** Why the database file could not be shrunk afterwards. Null if it was, and on a server. */
  readonly unshrunk: string | null;
};

/** Locks a database file until `close`. No replica may be using a server. */
export type ArchivableAudit = AuditFile & {
  /** Resolves to what could be archived. Changes nothing. */
  limit(options: ArchiveOptions): Promise<ArchiveLimit & { readonly base: AuditPlace }>;
  /** The caller must verify the audit first. Rejects with one line for the operator, which says so if nothing was removed. */
  archive(to: number, path: string, at: number): Promise<Archived>;
};

const MAY_NEED_THEM = "may still need entries that would be removed";

/** Rejects with one line for the operator. */
export async function openForArchive(database: string, key: AuditKey): Promise<ArchivableAudit> {
  const server = isServer(database);
  refuseMissing(database);
  try {
    const db = server ? await openPostgres(database, PATIENT) : openSqlite(database, refuseAsEmpty);
    if (server) await write(db, (trx) => refuseReplicas(trx, MAY_NEED_THEM));
    const engine = server ? POSTGRES : SQLITE;
    const audit = server
      ? await openAuditFile(database, refuseOtherSchema)
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
    throw await unusableDatabase(database, error);
  }
}

type Source = {
  readonly db: Database;
  readonly engine: Engine;
  readonly audit: AuditFile;
  readonly key: AuditKey;
};
type Order = { readonly to: number; readonly path: string; readonly at: number };

async function archive({ db, engine, audit, key }: Source, { to, path, at }: Order): Promise<Archived> {
  refuseReplacedKey(await newest(db), key, "archived");
  const { mark: after } = await auditBase(db);
  const { digest, head } = await writeAndProve(path, { audit, key, after, to });
  const entry = await write(db, (trx) => remove(trx, engine, key, { head, digest, at, after })).catch(
    explaining({
      no: `Nothing was removed. Delete ${path} and run the command again.`,
      maybe: `It is not known whether entries were removed. Keep ${path}, and run verify. If it says that entries 1 to ${to} are archived, they are only in that file. Otherwise nothing was removed: delete the file and run the command again.`,
    }),
  );
  // The entries are only in the file now, so a failure to shrink the database must not read like a failed archive.
  const unshrunk = engine === SQLITE ? await rewriteFile(db) : null;
  return { from: after.seq + 1, to, entry, digest, unshrunk };
}

/** Resolves once the file is on the disk and proven. Rejects with one line for the operator. */
async function writeAndProve(
  path: string,
  expected: Expected,
): Promise<{ readonly digest: string; readonly head: AuditPlace }> {
  const { audit, key, after, to } = expected;
  const content = { rows: upTo(audit.rows(), to), textOf: audit.textOf, after };
  try {
    const digest = await writeArchive(path, content, key);
    return { digest, head: await proveArchive(path, expected) };
  } catch (error) {
    if (error instanceof Refused) throw error;
    const says = error instanceof Error ? error.message : String(error);
    throw new Refused(
      `${path} could not be written (${says}), so nothing was removed. Delete the incomplete file before you try again.`,
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
  readonly after: AuditPlace;
  readonly to: number;
};

/** Reads the file back and compares it with the database, entry by entry and text by text. Rejects if they differ. */
async function proveArchive(path: string, { audit, key, after, to }: Expected): Promise<AuditPlace> {
  const file = await openArchive(path);
  try {
    const signature = auditSignatures([key.publicKey, ...(await audit.announcedKeys())]);
    const copy = file.rows();
    let previous = after;
    for await (const row of upTo(audit.rows(), to)) {
      const step = await copy.next();
      if (step.done === true) throw differs(path, row.seq);
      const read = step.value;
      const isSame = read.text === row.text && read.seq === previous.seq + 1;
      if (!isSame || read.link !== digestOf(linkText(previous.link, read))) throw differs(path, row.seq);
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
  new Refused(
    `${path} differs from the database at entry ${seq}, so nothing was removed. Delete the file and check the disk before you try again.`,
  );

type Removal = {
  readonly head: AuditPlace;
  readonly digest: string;
  readonly at: number;
  readonly after: AuditPlace;
};

/** Removes the archived entries. Resolves to the number of the entry that records this. */
async function remove(trx: Trx, engine: Engine, key: AuditKey, removal: Removal): Promise<number> {
  const { head, digest, at, after } = removal;
  await takeAuditLock(trx);
  if (engine !== SQLITE) await refuseReplicas(trx, MAY_NEED_THEM);
  const base = await auditBase(trx);
  const stored = await trx.selectFrom("audit").select("link").where("seq", "=", head.seq).executeTakeFirst();
  if ((await newest(trx))?.key !== key.id || base.mark.seq !== after.seq || stored?.link !== head.link)
    throw new Refused(
      "The audit or its key changed meanwhile, so nothing was removed. Run the command again, with a new file.",
    );
  const by = personAtShell();
  const given = await giveUpSinks(trx, head.seq);
  const outcome = `entries ${after.seq + 1} to ${head.seq}, archived at the shell by ${by}${given}`;
  const record = auditEntry(null, { at, what: "archived", outcome, archive: { ...head, file: digest } });
  const [entry] = await appendAudit(trx, [record], key);
  for (const statement of engine.removing.begin) await sql.raw(statement).execute(trx);
  await trx.deleteFrom("audit").where("seq", "<=", head.seq).execute();
  await removeTexts(trx);
  for (const statement of engine.removing.end) await sql.raw(statement).execute(trx);
  return entry?.seq ?? 0;
}

/**
 * Forgets the sinks that have not taken all entries up to `to`. Resolves to the words for the signed entry. If such a sink is set again, it
 * gets everything in the database, from the first entry on.
 */
async function giveUpSinks(trx: Trx, to: number): Promise<string> {
  const cursors = await sinkCursors(trx);
  const behind = cursors.filter(({ seq }) => seq < to);
  if (behind.length === 0) return "";
  const doc = JSON.stringify(sinkDocument(cursors.slice(behind.length)));
  await trx.updateTable("documents").set({ doc }).where("name", "=", SINK_CURSORS).execute();
  const words = behind.map(
    (cursor) =>
      `; ${sinkWords(cursor)} was given up, and has taken none of them from entry ${cursor.seq + 1} on`,
  );
  return words.join("");
}

/** The number of entries in memory at once. Millions may remain. */
const AT_ONCE = 1_000;

/** Removes the texts that no remaining entry names, not even by the digest alone. */
async function removeTexts(trx: Trx): Promise<void> {
  const named = new Set<string>();
  for await (const entry of remaining(trx))
    for (const { digest = null, context = null } of [parsedEntry(entry) ?? {}])
      for (const name of [digest, context]) if (typeof name === "string") named.add(name);
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
