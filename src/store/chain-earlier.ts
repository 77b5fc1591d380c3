// The step that brings the chain: what is in the audit by then is chained as it is found, and marked so. What happened to those
// entries before, the chain cannot tell.

import { sql } from "kysely";
import { type ChainedEntry, linkText, NO_LINK, signedText } from "../core/audit-chain.ts";
import type { AuditKey } from "./audit-key.ts";
import { digestOf } from "./digest.ts";
import type { Trx } from "./transaction.ts";

const AT_ONCE = 1_000;

/** A row of the audit as schema 1 has it. */
type Earlier = {
  readonly seq: number;
  readonly at: number;
  readonly what: string;
  readonly run: string | null;
  readonly approval: string | null;
  readonly by_user: string | null;
  readonly entry: string;
};

export async function chainEarlierEntries(trx: Trx, key: AuditKey): Promise<void> {
  let previous = NO_LINK;
  for (let after = 0; ;) {
    const { rows } = await sql<Earlier>`
      select seq, at, what, run, approval, by_user, entry from audit where seq > ${after} order by seq limit ${AT_ONCE}
    `.execute(trx);
    for (const row of rows) previous = await chain(trx, row, previous, key);
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}

async function chain(trx: Trx, row: Earlier, previous: string, key: AuditKey): Promise<string> {
  const { seq, at, what, run, approval, by_user, entry: text } = row;
  const origin: ChainedEntry["origin"] = "migrated";
  const link = digestOf(linkText(previous, { seq, origin, key: key.id, text }));
  const signature = key.sign(signedText({ seq, link }));
  await sql`
    insert into audit_chained (seq, at, what, run, run_id, approval, by_user, entry, origin, link, key, signature)
    values (${seq}, ${at}, ${what}, ${run}, null, ${approval}, ${by_user}, ${text}, ${origin}, ${link}, ${key.id}, ${signature})
  `.execute(trx);
  return link;
}
