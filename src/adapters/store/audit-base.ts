// Where the audit in the database begins: at its first entry, or after the entries that were archived.

import type { AuditMark } from "../../domain/audit/hash-chain.ts";
import { archivedMark, BEGINNING, parsedEntry } from "../../domain/audit/verify-chain.ts";
import type { Database } from "./database.ts";

export type AuditBase = {
  /** The last archived entry. */
  readonly mark: AuditMark;
  /** The entry that says so; null: nothing was archived. */
  readonly saidBy: number | null;
};

/** As the newest "archived" entry says. Who relies on it must prove that entry, or verify the chain. */
export async function auditBase(db: Pick<Database, "selectFrom">): Promise<AuditBase> {
  const said = db.selectFrom("audit").select(["seq", "entry"]).where("what", "=", "archived");
  const row = await said
    .where("seq", "<=", Number.MAX_SAFE_INTEGER)
    .orderBy("seq", "desc")
    .executeTakeFirst();
  const mark = row === undefined ? null : archivedMark(parsedEntry(row.entry) ?? {});
  return row === undefined || mark === null ? { mark: BEGINNING, saidBy: null } : { mark, saidBy: row.seq };
}

/** The link of an entry, also of the last archived one. Null: it is not here. */
export async function linkOf(db: Pick<Database, "selectFrom">, seq: number): Promise<string | null> {
  if (seq === BEGINNING.seq) return BEGINNING.link;
  const query = db.selectFrom("audit").select("link").where("seq", "=", seq);
  const here = (await query.executeTakeFirst())?.link;
  if (here !== undefined) return here;
  const { mark } = await auditBase(db);
  return mark.seq === seq ? mark.link : null;
}
