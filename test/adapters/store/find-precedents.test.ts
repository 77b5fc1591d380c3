// How each engine finds the decisions on the same request: by the index, however long the audit is.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Database } from "#src/adapters/store/database.ts";
import { decidedBefore } from "#src/adapters/store/audit-log.ts";
import { openPostgres, POSTGRES } from "#src/adapters/store/postgres.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

let server: PostgresServer;
let folder = "";
beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "precedents-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const ROWS = 50_000;

/** Every fifth entry is a decision, each on another request. */
const FILL = sql`
  with recursive n (i) as (select 1 union all select i + 1 from n where i < ${sql.lit(ROWS)})
  insert into audit (seq, at, what, run, approval, entry, link, key, signature, asked)
  select i, i, 'settled', 'run' || i, 'apr', '{}', '', '', '', case when i % 5 = 0 then 'approve ' || i end from n
`;

const planOf = async (db: Database, plan?: ReturnType<typeof sql>): Promise<string> => {
  const query = decidedBefore(db, { verdict: "approve", digest: String(ROWS), since: 0 }, 20);
  expect(await query.execute()).toEqual([{ seq: ROWS }]);
  return JSON.stringify(plan === undefined ? await query.explain() : await query.explain(undefined, plan));
};

test("SQLite uses the indexes", async () => {
  const db = openSqlite(join(folder, `${randomUUID()}.db`));
  await migrate(db, SQLITE);
  await FILL.execute(db);
  const plan = await planOf(db, sql`query plan`);
  expect(plan).toContain("SEARCH audit USING INDEX audit_by_asked");
  expect(plan).toContain("SEARCH dispute USING INDEX audit_by_run ");
  expect(plan).not.toContain("SCAN audit");
  await db.destroy();
});

test("PostgreSQL uses the indexes", async () => {
  const db = await openPostgres(await server.database());
  await migrate(db, POSTGRES);
  await FILL.execute(db);
  await sql`analyze audit`.execute(db);
  const plan = await planOf(db);
  expect(plan).toContain("audit_by_asked");
  expect(plan).toContain("Index Scan using audit_by_run on audit dispute");
  expect(plan).not.toContain("Seq Scan");
  await db.destroy();
});
