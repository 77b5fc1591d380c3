// Stores open forms with their audit entries, small documents, and the signed requests that we have seen.

import type { DocumentStore, FormStore, FormTicket, ReplayCache } from "../../ports/store.ts";
import type { AuditEntry } from "../../audit/entry.ts";
import { appendAudit } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { fromTicketRow, parsedJson, type Reading, ticketRow } from "./run-row.ts";
import type { Seals } from "./seals.ts";
import { type Database, read, type Trx, write } from "./database.ts";

export function createForms(
  db: Database,
  key: AuditKey,
  reading: Reading & { readonly seals: Seals },
): FormStore & DocumentStore {
  return {
    saveForm: (ticket, audit = []) => saveForms(db, key, reading, { tickets: [ticket], audit }),
    saveForms: (tickets, audit) => saveForms(db, key, reading, { tickets, audit }),
    macOf: (words) => key.seal(JSON.stringify(["words", ...words])),

    async form(nonce) {
      const row = await read(() =>
        db.selectFrom("forms").selectAll().where("nonce", "=", nonce).executeTakeFirst(),
      );
      return row === undefined ? null : fromTicketRow(db, row, reading);
    },

    async document(name) {
      const row = await read(() =>
        db.selectFrom("documents").select("doc").where("name", "=", name).executeTakeFirst(),
      );
      return row === undefined ? null : parsedJson(`document ${name}`, row.doc);
    },

    async putDocument(name, value) {
      const doc = JSON.stringify(value);
      await write(db, async (trx) => {
        await trx
          .insertInto("documents")
          .values({ name, doc })
          .onConflict((conflict) => conflict.column("name").doUpdateSet({ doc }))
          .execute();
      });
    },
  };
}

async function saveForms(
  db: Database,
  key: AuditKey,
  reading: Reading & { readonly seals: Seals },
  { tickets, audit }: { readonly tickets: readonly FormTicket[]; readonly audit: readonly AuditEntry[] },
): Promise<void> {
  await write(db, async (trx) => {
    await appendAudit(trx, audit, key);
    for (const ticket of tickets) await insertForm(trx, ticket, reading);
  });
}

async function insertForm(
  trx: Trx,
  ticket: FormTicket,
  { texts, seals }: Reading & { readonly seals: Seals },
): Promise<void> {
  const packed = texts.pack(ticket);
  await trx
    .insertInto("forms")
    .values(ticketRow(ticket, packed, seals))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await texts.keep(trx, ticket.nonce, ticket.run, packed);
}

// Remembers the signed requests that we have accepted. They are in the database, so that a request cannot be replayed after a restart.

export function createSeenRequests(db: Database): ReplayCache {
  return {
    markSeen: (mark, at, keepMs) =>
      write(db, async (trx) => {
        await trx
          .deleteFrom("seen_requests")
          .where("at", "<", at - keepMs)
          .execute();
        const { numInsertedOrUpdatedRows } = await trx
          .insertInto("seen_requests")
          .values({ mark, at })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 1n;
      }),

    async unmark(mark) {
      await write(db, (trx) => trx.deleteFrom("seen_requests").where("mark", "=", mark).execute());
    },
  };
}
