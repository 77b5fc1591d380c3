import { afterAll, beforeAll } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import { storeContract } from "../../contract/store.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());

storeContract("PostgreSQL", async ({ now }) =>
  openStore({ url: await server.database(), owner: "test", now, auditKey: AUDIT_KEY, timeOf: SQLITE.timeOf }),
);
