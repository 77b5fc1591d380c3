// Appends rows to the audit, and reads an entry back. Each row is chained to the one before and signed, in the transaction of the
// change that it records.

import { sql } from "kysely";
import type { AuditEntry, KeptEntry, Moments, VoteFacts } from "../../audit/entry.ts";
import {
  type AuditPlace,
  type ChainedEntry,
  type KeyChange,
  LAST_SEQ,
  linkText,
  type NamedKey,
  NO_LINK,
  signedText,
} from "../../domain/audit/hash-chain.ts";
import { columnsOf, rowFault } from "../../domain/audit/verify-chain.ts";
import { ChannelId, type RunId, RunKey, TeamId, UserId } from "../../domain/ids.ts";
import { canonicalJson, type Json } from "../../domain/json.ts";
import { approvalId, ruleRef, verdict } from "./approval-document.ts";
import { PortError } from "../../ports.ts";
import { KEY_RETIRED } from "../../ports/store.ts";
import { linkOf } from "./archive-bounds.ts";
import { type AuditKey, auditSignatures, digestOf } from "./audit-key.ts";
import {
  type Doc,
  id,
  list,
  number,
  optional,
  orNull,
  record,
  serviceId,
  text,
  word,
  yes,
} from "./document-shape.ts";
import { parsedAs, parsedJson } from "./run-row.ts";
import { type AuditRow, inBatches, type Trx } from "./database.ts";

/**
 * Resolves to the positions of the new entries. If the transaction is rolled back, their numbers are free again. Rejects if the key is
 * retired. Only a replaced key that returns writes "key-accepted".
 */
export async function appendAudit(
  trx: Trx,
  entries: readonly AuditEntry[],
  key: AuditKey,
): Promise<readonly AuditPlace[]> {
  if (entries.length === 0) return [];
  await takeAuditLock(trx);
  const head = await newest(trx);
  if (entries[0]?.what !== "key-accepted") await refuseRetired(trx, key, head);
  let { seq, link } = head ?? { seq: 0, link: NO_LINK };
  const rows = entries.map((entry) => {
    const row = chained(entry, { seq, link }, key);
    ({ seq, link } = row);
    return row;
  });
  for (const batch of inBatches(rows)) await trx.insertInto("audit").values(batch).execute();
  await keepTexts(trx, entries);
  return rows;
}

type Head = Awaited<ReturnType<typeof newest>>;

/** Rejects if this key has handed over. The caller must hold the lock of the audit, or the key may hand over right after. */
export async function refuseRetired(trx: Trx, key: AuditKey, head: Head): Promise<void> {
  if (head === null || head.key === key.id || !(await hasHandedOver(trx, key))) return;
  throw new PortError(
    `the audit is signed with the key ${head.key} now, so a process with the key ${key.id} can record nothing: start it again with the new key (AUDIT_KEY)`,
    { applied: "no", retry: "never", code: KEY_RETIRED },
  );
}

/** Only an entry that this key has signed proves it. Otherwise anyone who can write to the database could stop denials with a forged row. */
async function hasHandedOver(trx: Trx, key: AuditKey): Promise<boolean> {
  const own = trx.selectFrom("audit").selectAll().where("key", "=", key.id).where("seq", "<=", LAST_SEQ);
  const last = await own.orderBy("seq", "desc").limit(1).executeTakeFirst();
  if (last?.what !== "key-changed") return false;
  const previous = await linkOf(trx, last.seq - 1);
  const tools = { hash: digestOf, signature: auditSignatures([key.publicKey]) };
  return previous !== null && rowFault(chainedEntry(last), previous, tools) === null;
}

/**
 * Tests whether a freeze was written after that entry, or may have been because the entry is gone. The lock keeps others from writing one
 * until the end of the transaction.
 */
export async function isFrozenAfter(trx: Trx, { seq, link }: AuditPlace): Promise<boolean> {
  await takeAuditLock(trx);
  if ((await linkOf(trx, seq)) !== link) return true;
  const later = trx.selectFrom("audit").select("seq").where("what", "=", "frozen").where("seq", ">", seq);
  return (await later.where("seq", "<=", LAST_SEQ).limit(1).executeTakeFirst()) !== undefined;
}

/** Keeps the head of the chain in place until the end of the transaction, because there is one writer at a time. */
export async function takeAuditLock(trx: Trx): Promise<void> {
  const taken = await trx
    .updateTable("audit_lock")
    .set({ taken: sql`taken + 1` })
    .executeTakeFirst();
  if (taken.numUpdatedRows !== 1n)
    throw new Error("the lock of the audit, the one row of audit_lock, is gone");
}

/** Resolves to the head of the chain. Only a caller with the lock knows that it stays the head. */
export async function newest(
  trx: Pick<Trx, "selectFrom">,
): Promise<(AuditPlace & { readonly key: string }) | null> {
  // We did not write rows with numbers that no entry can have; `checkAudit` reports them.
  const rows = trx.selectFrom("audit").where("seq", "<=", LAST_SEQ);
  const query = rows.select(["seq", "link", "key"]).orderBy("seq", "desc").limit(1);
  return (await query.executeTakeFirst()) ?? null;
}

function chained(entry: AuditEntry, previous: AuditPlace, key: AuditKey): AuditRow {
  const plain = withoutText(entry);
  const seq = previous.seq + 1;
  const text = canonicalJson(plain);
  const link = digestOf(linkText(previous.link, { seq, key: key.id, text }));
  const { at, what, asked } = columnsOf(plain);
  const { run, runId: run_id, approval, by } = entry;
  const found = { at, what, run, run_id, approval, by_user: by?.user ?? null, asked };
  return {
    seq,
    ...found,
    entry: text,
    link,
    key: key.id,
    signature: key.sign(signedText({ seq, link })),
  };
}

/** Returns the entry as it is stored: without its texts, and without undefined fields. */
function withoutText({ text, contextText: _kept, ...entry }: AuditEntry): { readonly [field: string]: Json } {
  const kept = text === undefined ? {} : { textKept: true };
  return JSON.parse(JSON.stringify({ ...entry, ...kept })) as { [field: string]: Json };
}

async function keepTexts(trx: Trx, entries: readonly AuditEntry[]): Promise<void> {
  for (const { digest, text, context, contextText } of entries) {
    if (text !== undefined && digest !== null) await keepText(trx, digest, text);
    if (contextText !== undefined && context !== undefined) await keepText(trx, context, contextText);
  }
}

async function keepText(trx: Trx, digest: string, text: string): Promise<void> {
  const insert = trx.insertInto("audit_texts").values({ digest, text });
  await insert.onConflict((conflict) => conflict.doNothing()).execute();
}

/** Converts a row to the form in which the chain is verified. */
export function chainedEntry(row: AuditRow): ChainedEntry {
  const { seq, link, entry: text, key, signature, at, what, run, run_id, approval, by_user, asked } = row;
  return {
    seq,
    link,
    text,
    key,
    signature,
    // A database of an older schema has no `asked` column, and no entry that would fill it.
    columns: { at, what, run, runId: run_id, approval, by: by_user, asked: asked ?? null },
  };
}

export function keptEntry({ seq, link, entry }: Pick<AuditRow, "seq" | "link" | "entry">): KeptEntry {
  const what = `audit entry ${seq}`;
  return { seq, link, entry: parsedAs(what, auditDocument, parsedJson(what, entry)) };
}

// The schema of an audit entry. The text of the entry is signed and chained, and this schema reads it. Entries are never rewritten, so a
// field that is added after 0.2.0 must be optional or get `orElse`.

type Person = NonNullable<AuditEntry["by"]>;
const person = orNull(record<Person>({ team: id(TeamId), user: id(UserId) }));
const namedKey = record<NamedKey>({ id: text, publicKey: text });

const moments = record<Moments>({
  asked: optional(number),
  shown: optional(number),
  clicked: optional(number),
  submitted: optional(number),
  sent: optional(number),
  confirmed: optional(number),
});

const what = word<AuditEntry["what"]>({
  opened: true,
  voted: true,
  decided: true,
  refused: true,
  sent: true,
  settled: true,
  closed: true,
  reopened: true,
  reminded: true,
  escalated: true,
  "too-few-approvers": true,
  coalesced: true,
  claimed: true,
  "claim-ended": true,
  snoozed: true,
  "handed-over": true,
  asked: true,
  answered: true,
  extended: true,
  disputed: true,
  "dispute-closed": true,
  stopped: true,
  "stop-lifted": true,
  frozen: true,
  "freeze-lifted": true,
  started: true,
  "start-confirmed": true,
  "start-unconfirmed": true,
  watched: true,
  "task-told": true,
  unwatched: true,
  "audit-read": true,
  redacted: true,
  "week-ended": true,
  archived: true,
  "program-started": true,
  restored: true,
  "policy-loaded": true,
  "key-changed": true,
  "key-accepted": true,
  "tampering-found": true,
  "tampering-acknowledged": true,
});

const step = word<NonNullable<AuditEntry["step"]>>({
  click: true,
  read: true,
  submit: true,
  undo: true,
  start: true,
  watch: true,
  unwatch: true,
  command: true,
  status: true,
  audit: true,
  acknowledge: true,
  receipt: true,
  close: true,
  stop: true,
  lift: true,
  freeze: true,
  claim: true,
  release: true,
  snooze: true,
  "hand-over": true,
  ask: true,
  answer: true,
  extend: true,
});

const auditDocument: Doc<KeptEntry["entry"]> = record<KeptEntry["entry"]>({
  at: number,
  what,
  run: orNull(id(RunKey)),
  runId: orNull(serviceId<RunId>()),
  channel: orNull(id(ChannelId)),
  requester: person,
  approval: orNull(approvalId),
  by: person,
  other: optional(record<Person>({ team: id(TeamId), user: id(UserId) })),
  verdict: orNull(verdict),
  reason: orNull(text),
  digest: orNull(text),
  context: optional(text),
  textKept: optional(yes),
  policy: ruleRef,
  moments: optional(moments),
  outcome: text,
  step: optional(step),
  refusal: optional(text),
  votes: optional(
    list(record<VoteFacts>({ by: person, reason: orNull(text), at: number, entry: orNull(number) })),
  ),
  sentReason: optional(text),
  asked: optional(text),
  refers: optional(number),
  times: optional(number),
  since: optional(number),
  stageMs: optional(number),
  savedTask: optional(text),
  mentioned: optional(list(text)),
  until: optional(number),
  keys: optional(record<KeyChange>({ from: namedKey, to: namedKey })),
  archive: optional(record<NonNullable<AuditEntry["archive"]>>({ seq: number, link: text, file: text })),
  findings: optional(list(text)),
});
