// The store through PgBouncer in transaction mode: each transaction may get another connection to the server, so
// nothing may depend on the session.

import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import { storeContract } from "../../contract/store.ts";
import { type Bouncer, type PostgresServer, startPgBouncer, startPostgres } from "../../make/postgres.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

let server: PostgresServer;
let bouncer: Bouncer;
beforeAll(async () => {
  // Each test has a database of its own, with three connections between PgBouncer and the server.
  server = await startPostgres({ settings: ["max_connections=300"] });
  bouncer = await startPgBouncer(server);
});
afterAll(async () => {
  await bouncer.stop();
  await server.stop();
});

storeContract("PostgreSQL behind PgBouncer", async ({ now }) =>
  openStore({
    url: bouncer.through(await server.database()),
    owner: "test",
    now,
    auditKey: AUDIT_KEY,
    timeOf: SQLITE.timeOf,
  }),
);

test("several replicas share three connections to the server, and one chain", async () => {
  const url = bouncer.through(await server.database());
  const names = ["ann", "ben", "cem"];
  const stores = await Promise.all(names.map((owner) => openStore({ url, owner, auditKey: AUDIT_KEY })));
  const writes = Array.from({ length: 60 }, (_, nth) => stores[nth % 3] ?? []).flat();
  await Promise.all(writes.map((store) => store.audit([anAuditEntry(aRun())])));
  expect((await stores[0]?.auditHead())?.seq).toBe(60);
  expect(await stores[1]?.walkAudit()).toBeNull();
  await Promise.all(stores.map((store) => store.close()));
});
