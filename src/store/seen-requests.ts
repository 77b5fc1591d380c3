// Which signed requests have been taken. In the database and not in memory, so that a restart is no second chance.

import type { Store } from "../flow/ports.ts";
import type { Database } from "./tables.ts";
import { write } from "./transaction.ts";

export function createSeenRequests(db: Database): Pick<Store, "markSeen" | "unmark"> {
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
