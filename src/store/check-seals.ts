// All rows that bear no seal of this key, for whoever has the key and a copy of the database.

import type { Finding } from "../flow/ports.ts";
import type { AuditKey } from "./audit-key.ts";
import { brokenButton, brokenForm, brokenRun, isSealed, sealsOf } from "./seals.ts";
import type { Database } from "./tables.ts";

export async function brokenRows(db: Database, key: AuditKey): Promise<readonly Finding[]> {
  const seals = sealsOf(key);
  const found: Finding[] = [];
  // One by one: a run with its requests may be megabytes long.
  for (const { key: run } of await db.selectFrom("runs").select("key").execute()) {
    const row = await db.selectFrom("runs").selectAll().where("key", "=", run).executeTakeFirstOrThrow();
    if (!isSealed(row.seal, seals.run(row))) found.push(brokenRun(row));
  }
  for (const { nonce } of await db.selectFrom("modals").select("nonce").execute()) {
    const row = await db
      .selectFrom("modals")
      .selectAll()
      .where("nonce", "=", nonce)
      .executeTakeFirstOrThrow();
    if (!isSealed(row.seal, seals.form(row))) found.push(brokenForm(row));
  }
  for (const row of await db.selectFrom("buttons").selectAll().execute())
    if (!isSealed(row.seal, seals.button(row))) found.push(brokenButton(row));
  return found;
}
