// Hands the audit over from one key to another. The old key signs an entry about it, the new key signs from the next entry on, and
// every row with an intact seal gets a seal of the new key. All of it happens in one transaction, while no bot uses the file.

import { auditEntry } from "../../audit/entry.ts";
import type { KeyChange } from "../../domain/audit/hash-chain.ts";
import { appendAudit, newest } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { isSealed, type Seals, sealsOf } from "./seals.ts";
import { openSqlite } from "./sqlite.ts";
import { unusable } from "./store-failure.ts";
import { type Trx, write } from "./transaction.ts";

export type Rotated = "rotated" | "already";

/** "already": the audit was handed over to this key before. Rejects with one line for people. */
export async function rotateKey(
  database: string,
  keys: { readonly from: AuditKey; readonly to: AuditKey },
  at: number,
): Promise<Rotated> {
  try {
    const db = openSqlite(database);
    try {
      return await write(db, (trx) => handOver(trx, keys, at));
    } finally {
      await db.destroy();
    }
  } catch (error) {
    throw unusable(database, error);
  }
}

async function handOver(
  trx: Trx,
  { from, to }: { readonly from: AuditKey; readonly to: AuditKey },
  at: number,
): Promise<Rotated> {
  const head = await newest(trx);
  if (head?.key === to.id) return "already";
  if (head === null) throw new TypeError("its audit is empty; simply put the new key in place");
  if (head.key !== from.id)
    throw new TypeError(`its audit is signed with the key ${head.key}, and the key here is ${from.id}`);
  const keys: KeyChange = { from: named(from), to: named(to) };
  const outcome = `${from.id} → ${to.id}`;
  await appendAudit(trx, [auditEntry(null, { at, what: "key-changed", outcome, keys })], from);
  await appendAudit(trx, [auditEntry(null, { at, what: "key-accepted", outcome: to.id })], to);
  await sealAnew(trx, sealsOf(from), sealsOf(to));
  return "rotated";
}

const named = ({ id, publicKey }: AuditKey) => ({ id, publicKey });

/** A row without an intact seal stays as it is, and is still found under the new key. */
async function sealAnew(trx: Trx, before: Seals, after: Seals): Promise<void> {
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
