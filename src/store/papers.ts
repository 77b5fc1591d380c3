// What is kept beside the runs: open forms, the audit, small documents.

import type { ModalTicket, Store } from "../flow/ports.ts";
import { appendAudit } from "./audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { fromTicketRow, parsedJson, type Reading, ticketRow } from "./run-row.ts";
import type { Seals } from "./seals.ts";
import type { Database } from "./tables.ts";
import { read, type Trx, write } from "./transaction.ts";

type Papers = Pick<Store, "openModal" | "modal" | "audit" | "document" | "putDocument">;

export function createPapers(
  db: Database,
  key: AuditKey,
  reading: Reading & { readonly seals: Seals },
): Papers {
  return {
    openModal: (ticket, audit = []) =>
      write(db, async (trx) => {
        await appendAudit(trx, audit, key);
        await addModal(trx, ticket, reading);
      }),

    async modal(nonce) {
      const row = await read(() =>
        db.selectFrom("modals").selectAll().where("nonce", "=", nonce).executeTakeFirst(),
      );
      return row === undefined ? null : fromTicketRow(db, row, reading);
    },

    audit: async (entries) => void (await write(db, (trx) => appendAudit(trx, entries, key))),

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

async function addModal(
  trx: Trx,
  ticket: ModalTicket,
  { texts, seals }: Reading & { readonly seals: Seals },
): Promise<void> {
  const packed = texts.pack(ticket);
  await trx
    .insertInto("modals")
    .values(ticketRow(ticket, packed, seals))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  await texts.keep(trx, ticket.nonce, ticket.run, packed);
}
