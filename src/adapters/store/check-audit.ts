// Checks the stored audit. At the start it checks the newest entries, the numbering and the heads that runs remember. Later it verifies the
// whole chain link by link, and single entries whenever something depends on them.

import { createHash } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { sql } from "kysely";
import type { KeptEntry } from "../../audit/entry.ts";
import {
  type ChainedEntry,
  createKeyOrder,
  keyChangeIn,
  linkText,
  LAST_SEQ,
} from "../../domain/audit/hash-chain.ts";
import {
  type AuditFault,
  BEGINNING,
  FAULT_WORDS,
  parsedEntry,
  rowFault,
  verifyAudit,
} from "../../domain/audit/verify-chain.ts";
import { PortError } from "../../ports.ts";
import type { Finding, Proven } from "../../ports/audit-store.ts";
import { ROW_UNREADABLE } from "../../ports/store.ts";
import { chainedEntry, keptEntry } from "./append-audit.ts";
import { auditBase, linkOf } from "./archive-bounds.ts";
import { type AuditKey, auditSignatures, digestOf, keyIdOf } from "./audit-key.ts";
import { type Database, read } from "./database.ts";

/** The number of entries that are checked in full at the start. */
const NEWEST = 1_000;
/** The maximum number of findings of one kind. More would say nothing new. */
const MAX_FINDINGS = 20;
const ID_CHARS = 16;

export async function checkAudit(db: Database, publicKey: string): Promise<readonly Finding[]> {
  return read(async () => [
    ...(await strays(db)),
    ...(await unprovenBase(db, publicKey)),
    ...(await missingNumbers(db)),
    ...(await newestFaults(db, publicKey)),
    ...(await lostHeads(db)),
  ]);
}

function auditFinding(fault: AuditFault, row: Pick<ChainedEntry, "seq" | "link" | "text">): Finding {
  const mark = createHash("sha256")
    .update(`${row.link}\n${row.text}`, "utf8")
    .digest("hex")
    .slice(0, ID_CHARS);
  return {
    id: `${fault} ${row.seq} ${mark}`,
    words: `audit entry ${row.seq}: ${FAULT_WORDS[fault]}`,
    run: null,
  };
}

/** Counts the rows with a number that no entry after `base` can have. A reader that starts there would never see them. */
export async function countStrays(db: Database, base = BEGINNING.seq): Promise<number> {
  const counted = sql<{ rows: number }>`
    select (select count(*) from audit where seq <= ${base})
         + (select count(*) from audit where seq > ${LAST_SEQ}) as rows`;
  return (await counted.execute(db)).rows[0]?.rows ?? 0;
}

/** The maximum number of strays whose content is part of the finding's id. */
const MAX_STRAYS = 1_000;

async function strays(db: Database): Promise<Finding[]> {
  const { mark } = await auditBase(db);
  const count = await countStrays(db, mark.seq);
  if (count === 0) return [];
  // JavaScript has no number for some of theirs.
  const seq = sql<string>`cast(seq as text)`.as("seq");
  const all = db.selectFrom("audit").select([seq, "link", "entry"]);
  const rows = all.where((eb) => eb.or([eb("seq", "<=", mark.seq), eb("seq", ">", LAST_SEQ)]));
  const found = await rows.orderBy("audit.seq").limit(MAX_STRAYS).execute();
  const digest = digestOf(JSON.stringify(found)).slice(0, ID_CHARS);
  return [{ id: `stray ${count} ${digest}`, words: `audit: ${FAULT_WORDS.stray}`, run: null }];
}

/** Proves the entry that says where the audit begins, because it may be older than the entries that are checked in full. */
async function unprovenBase(db: Database, publicKey: string): Promise<Finding[]> {
  const { saidBy } = await auditBase(db);
  if (saidBy === null) return [];
  const proven = await createProof(db, { id: keyIdOf(publicKey), publicKey })(saidBy);
  return proven.ok ? [] : [proven.finding];
}

/**
 * Checks that entries are numbered without a gap, from 1 or from the first entry after the archived ones. New entries do not change the id of
 * the finding, so it stays acknowledged.
 */
async function missingNumbers(db: Database): Promise<Finding[]> {
  const { mark } = await auditBase(db);
  const counted = sql<{ rows: number; last: number | null }>`
    select count(*) as rows, max(seq) as last from audit where seq > ${mark.seq} and seq <= ${LAST_SEQ}`;
  const { rows = 0, last = null } = (await counted.execute(db)).rows[0] ?? {};
  const missing = (last ?? mark.seq) - mark.seq - rows;
  if (missing === 0) return [];
  return [
    {
      id: `missing ${await firstMissing(db, mark.seq)} ${missing}`,
      words: `audit: ${rows} entries, numbered from ${mark.seq + 1} to ${last ?? 0}`,
      run: null,
    },
  ];
}

/** Resolves to the first number after `base` that no row has. */
async function firstMissing(db: Database, base: number): Promise<number> {
  const found = sql<{ last: number | null }>`
    select min(seq) as last from audit
    where seq > ${base} and seq <= ${LAST_SEQ}
      and not exists (select seq from audit as "following" where "following".seq = audit.seq + 1)`;
  const first = await db
    .selectFrom("audit")
    .select("seq")
    .where("seq", "=", base + 1)
    .executeTakeFirst();
  const last = first === undefined ? base : ((await found.execute(db)).rows[0]?.last ?? base);
  return last + 1;
}

async function newestFaults(db: Database, publicKey: string): Promise<Finding[]> {
  const newest = db
    .selectFrom("audit")
    .selectAll()
    .where("seq", ">=", 1)
    .where("seq", "<=", LAST_SEQ)
    .orderBy("seq", "desc")
    .limit(NEWEST + 1);
  const rows = (await newest.execute()).map(chainedEntry).toReversed();
  const signature = auditSignatures([publicKey, ...(await announcedKeys(db))]);
  const tools = { hash: digestOf, signature };
  const { mark } = await auditBase(db);
  const keys = createKeyOrder();
  const found: Finding[] = [];
  for (const [at, row] of rows.entries()) {
    const previous = rows[at - 1];
    // The first row that we read serves only as the previous one, unless it is the first entry of the whole chain.
    if (previous === undefined && row.seq !== mark.seq + 1) continue;
    const fault =
      previous !== undefined && previous.seq !== row.seq - 1
        ? "gap"
        : (rowFault(row, previous?.link ?? mark.link, tools) ??
          (keys.next(row, parsedEntry(row.text) ?? {}) ? null : "key-order"));
    if (fault !== null && found.length < MAX_FINDINGS) found.push(auditFinding(fault, row));
  }
  return found;
}

/** Resolves to the public keys that "key-changed" entries name. A key is identified by its digest, so a forged key is useless. */
export async function announcedKeys(db: Database): Promise<readonly string[]> {
  const changes = await db.selectFrom("audit").select("entry").where("what", "=", "key-changed").execute();
  return changes.flatMap(({ entry }) => {
    const change = keyChangeIn(parsedEntry(entry) ?? {});
    return change === null ? [] : [change.from.publicKey, change.to.publicKey].filter(isPublicKey);
  });
}

const PUBLIC_KEY_BYTES = 32;
const isPublicKey = (text: string): boolean => Buffer.from(text, "base64").length === PUBLIC_KEY_BYTES;

/** Checks that the audit contains every head that a run remembers. This finds an audit that was emptied or cut off. */
async function lostHeads(db: Database): Promise<Finding[]> {
  const lost = await db
    .selectFrom("runs")
    .leftJoin("audit", "audit.seq", "runs.audit_seq")
    .select(["runs.key", "runs.audit_seq", "runs.audit_link"])
    .where("runs.audit_seq", "is not", null)
    .where((eb) => eb.or([eb("audit.link", "is", null), eb("audit.link", "!=", eb.ref("runs.audit_link"))]))
    .limit(MAX_FINDINGS)
    .execute();
  return lost.map(({ key, audit_seq, audit_link }) => ({
    id: `head ${audit_seq} ${(audit_link ?? "").slice(0, ID_CHARS)}`,
    words: `audit entry ${audit_seq}: the run ${key} remembers it, but it is missing or different. The audit was cut off or rewritten.`,
    run: key,
  }));
}

// Verifies the whole audit link by link, in slices between which the event loop runs. The newest signature covers every link before it, so we
// check only that signature. `npm run audit -- verify` checks every signature and every text.

/** A slice takes about two milliseconds. */
const ENTRIES_IN_SLICE = 100;

/** Resolves to null if the audit is intact. */
export async function walkAudit(db: Database, key: AuditKey): Promise<Finding | null> {
  const [stray] = await read(() => strays(db));
  if (stray !== undefined) return stray;
  const known = new Set([key.id, ...(await read(() => announcedKeys(db))).map(keyIdOf)]);
  const signature = (id: string) => (known.has(id) ? ("good" as const) : ("unknown-key" as const));
  const tools = { hash: digestOf, signature, textOf: null, pinned: [key.id] };
  const { mark } = await read(() => auditBase(db));
  const verdict = await verifyAudit(slices(db), tools, [], mark);
  if (!verdict.ok) return findingAt(db, verdict.fault, verdict.seq);
  if (verdict.head?.seq === undefined || verdict.head.seq === null) return null;
  const head = await createProof(db, key)(verdict.head.seq);
  return head.ok ? null : head.finding;
}

export async function findingAt(db: Database, fault: AuditFault, seq: number): Promise<Finding> {
  const query = db.selectFrom("audit").selectAll().where("seq", "=", seq);
  const row = await read(() => query.executeTakeFirst());
  return row === undefined ? missingFinding(seq, fault) : auditFinding(fault, chainedEntry(row));
}

const missingFinding = (seq: number, fault: AuditFault): Finding =>
  auditFinding(fault, { seq, link: "", text: "" });

export async function* slices(db: Database, first = 0): AsyncGenerator<ChainedEntry> {
  const rest = db.selectFrom("audit").selectAll().where("seq", "<=", LAST_SEQ);
  for (let after = first; ;) {
    const query = rest.where("seq", ">", after).orderBy("seq").limit(ENTRIES_IN_SLICE);
    const rows = await read(() => query.execute());
    yield* rows.map(chainedEntry);
    const last = rows.at(-1);
    if (last === undefined || rows.length < ENTRIES_IN_SLICE) return;
    after = last.seq;
    await turn();
  }
}

// Proves a single audit entry with a few reads: that this program wrote it, unchanged, at this number.

/** The number of rows that we read at once between an entry of an earlier key and the first entry of our key. */
const ENTRIES_IN_READ = 500;

export function createProof(
  db: Database,
  key: Pick<AuditKey, "id" | "publicKey">,
): (seq: number) => Promise<Proven> {
  const tools = { hash: digestOf, signature: auditSignatures([key.publicKey]) };

  const rowsFrom = async (first: number, limit: number): Promise<ChainedEntry[]> => {
    const query = db.selectFrom("audit").selectAll().where("seq", ">=", first).orderBy("seq").limit(limit);
    return (await read(() => query.execute())).map(chainedEntry);
  };

  /**
   * An earlier key may have been replaced because it was stolen, so its signature alone proves nothing. But the first entry of our key covers
   * all earlier entries through the links. Later entries of our key follow whatever row stands before them, so they prove none. A broken link
   * on the way is the finding about the row that has it, because the earlier entry itself may be intact.
   */
  async function anchorFinding(from: ChainedEntry): Promise<Finding | null> {
    for (let previous = from; ;) {
      const rows = await rowsFrom(previous.seq + 1, ENTRIES_IN_READ);
      if (rows.length === 0) return auditFinding("unknown-key", from);
      for (const row of rows) {
        if (row.seq !== previous.seq + 1) return auditFinding("gap", row);
        if (row.key === key.id)
          return (
            rowFinding(row, previous.link) ?? (isFirstOfKey(row) ? null : auditFinding("unknown-key", from))
          );
        if (row.link !== digestOf(linkText(previous.link, row))) return auditFinding("altered", row);
        previous = row;
      }
    }
  }

  function rowFinding(row: ChainedEntry, previous: string): Finding | null {
    const unsigned = { hash: digestOf, signature: () => "good" as const };
    const fault = rowFault(row, previous, row.key === key.id ? tools : unsigned);
    return fault === null ? null : auditFinding(fault, row);
  }

  return async (seq) => {
    const rows = await rowsFrom(seq - 1, 2);
    const row = rows.find((candidate) => candidate.seq === seq);
    if (row === undefined) return { ok: false, finding: missingFinding(seq, "gap") };
    const previous =
      rows.find((candidate) => candidate.seq === seq - 1)?.link ?? (await read(() => linkOf(db, seq - 1)));
    if (previous === null) return { ok: false, finding: auditFinding("gap", row) };
    const finding = rowFinding(row, previous) ?? (row.key === key.id ? null : await anchorFinding(row));
    return finding === null ? { ok: true, kept: kept(row) } : { ok: false, finding };
  };
}

/** Does the same. Resolves to null if the entry is proven but has a form that this release does not know. */
export function createReadableProof(
  ...of: Parameters<typeof createProof>
): (seq: number) => Promise<Proven | null> {
  const prove = createProof(...of);
  return async (seq) => {
    try {
      return await prove(seq);
    } catch (error) {
      if (!(error instanceof PortError) || error.code !== ROW_UNREADABLE) throw error;
      return null;
    }
  };
}

/** Only the entry with which our key took over is its first. */
const isFirstOfKey = ({ text }: ChainedEntry): boolean => parsedEntry(text)?.["what"] === "key-accepted";

const kept = ({ seq, link, text }: ChainedEntry): KeptEntry => keptEntry({ seq, link, entry: text });
