import { afterAll, beforeAll } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import { storeContract } from "../../contract/store.ts";
import { type Place, sealContract } from "../../contract/store-seals.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());

storeContract("PostgreSQL", async ({ now }) =>
  openStore({ url: await server.database(), owner: "test", now, auditKey: AUDIT_KEY, timeOf: SQLITE.timeOf }),
);

sealContract("PostgreSQL", async (): Promise<Place> => {
  const url = await server.database();
  return {
    open: ({ now }) => openStore({ url, owner: "test", now, auditKey: AUDIT_KEY, timeOf: SQLITE.timeOf }),
    async run(sql, ...values) {
      for (const table of ["audit", "audit_texts"])
        await server.run(url, `alter table ${table} disable trigger user`);
      let nth = 0;
      return server.run(
        url,
        sql.replaceAll("?", () => `$${(nth += 1)}`),
        values,
      );
    },
    remove: () => Promise.resolve(),
  };
});
