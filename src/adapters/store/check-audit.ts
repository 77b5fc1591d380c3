// Checks the audit in a time that does not grow with its length: the newest entries in full, the numbers, and the heads that runs
// remember.

import { createHash } from "node:crypto";
import { sql } from "kysely";
import { type ChainedEntry, createKeyOrder, keyChangeIn, NO_LINK } from "../../domain/audit/hash-chain.ts";
import { type AuditFault, FAULT_WORDS, parsedEntry, rowFault } from "../../domain/audit/verify-chain.ts";
import type { Finding } from "../../ports/store.ts";
import { chainedEntry, LAST_SEQ } from "./append-audit.ts";
import { auditSignatures } from "./audit-key.ts";
import { digestOf } from "./digest.ts";
import type { Database } from "./tables.ts";
import { read } from "./transaction.ts";

/** Entries that are checked in full. */
const NEWEST = 1_000;
/** Most findings of one kind; further ones would say nothing new. */
const MOST = 20;
const ID_CHARS = 16;

export async function checkAudit(db: Database, publicKey: string): Promise<readonly Finding[]> {
  return read(async () => [
    ...(await strays(db)),
    ...(await missingNumbers(db)),
    ...(await newestFaults(db, publicKey)),
    ...(await lostHeads(db)),
  ]);
}

export function auditFinding(fault: AuditFault, row: Pick<ChainedEntry, "seq" | "link" | "text">): Finding {
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

/** Rows with a number that no entry can have. A reader that starts at 1 would never see them. */
export async function countStrays(db: Database): Promise<number> {
  const counted = sql<{ rows: number }>`
    select (select count(*) from audit where seq < 1)
         + (select count(*) from audit where seq > ${LAST_SEQ}) as rows`;
  return (await counted.execute(db)).rows[0]?.rows ?? 0;
}

async function strays(db: Database): Promise<Finding[]> {
  const rows = await countStrays(db);
  return rows === 0 ? [] : [{ id: `stray ${rows}`, words: `audit: ${FAULT_WORDS.stray}`, run: null }];
}

/** Entries are numbered from 1 without a gap, so their count must equal the last number. */
async function missingNumbers(db: Database): Promise<Finding[]> {
  const counted = sql<{ rows: number; last: number | null }>`
    select count(*) as rows, max(seq) as last from audit where seq between 1 and ${LAST_SEQ}`;
  const { rows = 0, last = null } = (await counted.execute(db)).rows[0] ?? {};
  if (rows === (last ?? 0)) return [];
  return [
    {
      id: `gap ${last ?? 0} ${rows}`,
      words: `audit: ${rows} entries, numbered up to ${last ?? 0}`,
      run: null,
    },
  ];
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
  const keys = createKeyOrder();
  const found: Finding[] = [];
  for (const [at, row] of rows.entries()) {
    const previous = rows[at - 1];
    // The check starts at the first of these entries; only entry 1 starts the chain.
    if (previous === undefined && row.seq !== 1) continue;
    const fault =
      previous !== undefined && previous.seq !== row.seq - 1
        ? "gap"
        : (rowFault(row, previous?.link ?? NO_LINK, tools) ??
          (keys.next(row, parsedEntry(row.text) ?? {}) ? null : "key-order"));
    if (fault !== null && found.length < MOST) found.push(auditFinding(fault, row));
  }
  return found;
}

/** Public keys that "key-changed" entries name. The digest of a key identifies it, so a forged key is useless. */
export async function announcedKeys(db: Database): Promise<readonly string[]> {
  const changes = await db.selectFrom("audit").select("entry").where("what", "=", "key-changed").execute();
  return changes.flatMap(({ entry }) => {
    const change = keyChangeIn(parsedEntry(entry) ?? {});
    return change === null ? [] : [change.from.publicKey, change.to.publicKey].filter(isPublicKey);
  });
}

const PUBLIC_KEY_BYTES = 32;
const isPublicKey = (text: string): boolean => Buffer.from(text, "base64").length === PUBLIC_KEY_BYTES;

/** The audit must contain every head that a run remembers. This finds an audit that was emptied or cut off. */
async function lostHeads(db: Database): Promise<Finding[]> {
  const lost = await db
    .selectFrom("runs")
    .leftJoin("audit", "audit.seq", "runs.audit_seq")
    .select(["runs.key", "runs.audit_seq", "runs.audit_link"])
    .where("runs.audit_seq", "is not", null)
    .where((eb) => eb.or([eb("audit.link", "is", null), eb("audit.link", "!=", eb.ref("runs.audit_link"))]))
    .limit(MOST)
    .execute();
  return lost.map(({ key, audit_seq, audit_link }) => ({
    id: `head ${audit_seq} ${(audit_link ?? "").slice(0, ID_CHARS)}`,
    words: `audit entry ${audit_seq}: the run ${key} remembers it, and it is not there as it was. The audit was cut off or rewritten.`,
    run: key,
  }));
}
