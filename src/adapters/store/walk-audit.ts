// Verifies the whole audit, link by link, in slices between which the event loop runs. The newest signature covers every link before
// it, so we check only that one; `npm run audit -- verify` checks every signature and every text.

import { setImmediate as turn } from "node:timers/promises";
import type { ChainedEntry } from "../../domain/audit/hash-chain.ts";
import { FAULT_WORDS, verifyAudit } from "../../domain/audit/verify-chain.ts";
import type { Finding } from "../../ports/store.ts";
import { chainedEntry, LAST_SEQ } from "./append-audit.ts";
import { type AuditKey, keyIdOf } from "./audit-key.ts";
import { announcedKeys, auditFinding, countStrays } from "./check-audit.ts";
import { digestOf } from "./digest.ts";
import { createProof } from "./proven-entry.ts";
import type { Database } from "./tables.ts";
import { read } from "./transaction.ts";

/** A slice takes about two milliseconds. */
const AT_ONCE = 100;

/** Null: the audit is intact. */
export async function walkAudit(db: Database, key: AuditKey): Promise<Finding | null> {
  const strays = await read(() => countStrays(db));
  if (strays > 0) return { id: `stray ${strays}`, words: `audit: ${FAULT_WORDS.stray}`, run: null };
  const known = new Set([key.id, ...(await read(() => announcedKeys(db))).map(keyIdOf)]);
  const signature = (id: string) => (known.has(id) ? ("good" as const) : ("unknown-key" as const));
  const tools = { hash: digestOf, signature, textOf: null, pinned: [key.id] };
  const verdict = await verifyAudit(slices(db), tools);
  if (!verdict.ok) return found(db, verdict.fault, verdict.seq);
  if (verdict.head?.seq === undefined || verdict.head.seq === null) return null;
  const head = await createProof(db, key)(verdict.head.seq);
  return head.ok ? null : found(db, head.fault, verdict.head.seq);
}

async function found(db: Database, fault: Parameters<typeof auditFinding>[0], seq: number): Promise<Finding> {
  const query = db.selectFrom("audit").selectAll().where("seq", "=", seq);
  const row = await read(() => query.executeTakeFirst());
  return auditFinding(fault, row === undefined ? { seq, link: "", text: "" } : chainedEntry(row));
}

async function* slices(db: Database): AsyncGenerator<ChainedEntry> {
  const rest = db.selectFrom("audit").selectAll().where("seq", "<=", LAST_SEQ);
  for (let after = 0; ;) {
    const query = rest.where("seq", ">", after).orderBy("seq").limit(AT_ONCE);
    const rows = await read(() => query.execute());
    yield* rows.map(chainedEntry);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
    await turn();
  }
}
