// How each engine finds the decisions on the same request, the disputes of a decision, what is open, and the entries of one run: by an index,
// however long the audit is.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import type { Database } from "#src/adapters/store/database.ts";
import { decidedBefore, entriesOfRuns } from "#src/adapters/store/audit-log.ts";
import { beginningsAndEnds, FREEZES } from "#src/adapters/store/open-entries.ts";
import { openPostgres, POSTGRES } from "#src/adapters/store/postgres.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { disputesOf } from "#src/adapters/store/stored-notifications.ts";
import { type ApprovalId, RunKey } from "#src/domain/ids.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

let server: PostgresServer;
let folder = "";
beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "entries-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const ROWS = 50_000;

/**
 * Every fifth entry is a decision, each on another request, and the one after it is a dispute. Each run has ten entries, the first three from
 * before it had an id. Four entries are freezes, as few as the disputes of an honest audit.
 */
const FILL = sql`
  with recursive n (i) as (select 0 union all select i + 1 from n where i < ${sql.lit(ROWS - 1)})
  insert into audit (seq, at, what, run, run_id, approval, entry, link, key, signature, asked)
  select i + 1, i, case when i % 5 = 0 then 'disputed' when i % 12500 = 4 then 'frozen' else 'settled' end, 'agentrun' || (i / 10),
    case when i % 10 > 2 then 'id' || (i / 10) end, 'apr' || i, '{}', '', '', '',
    case when i % 5 = 4 then 'approve ' || i end
  from n
`;

type Query = {
  execute(): Promise<readonly unknown[]>;
  explain(format?: undefined, expression?: ReturnType<typeof sql>): Promise<unknown>;
};

const sameRequest = (db: Database): Query =>
  decidedBefore(db, { verdict: "approve", digest: String(ROWS - 1), since: 0 }, 20);
const sameRun = (db: Database): Query =>
  entriesOfRuns(db, "id4000", [RunKey("agentrun4000"), RunKey("agentrun4001")]);
const disputesOfOne = (db: Database): Query =>
  disputesOf(db, { run: RunKey("agentrun4000"), approval: "apr40000" as ApprovalId, refers: 1, by: null });

const freezes = (db: Database, after: number): Query => beginningsAndEnds(db, FREEZES, after);

/** Entries, and how many freezes come after them. */
const AFTER = [
  [0, 4],
  [12_505, 2],
] as const;

async function planOf(query: Query, found: number, plan?: ReturnType<typeof sql>): Promise<string> {
  expect(await query.execute()).toHaveLength(found);
  return JSON.stringify(await query.explain(undefined, plan));
}

async function onSqlite(): Promise<Database> {
  const db = openSqlite(join(folder, `${randomUUID()}.db`));
  onTestFinished(() => db.destroy());
  await migrate(db, SQLITE);
  await FILL.execute(db);
  return db;
}

async function onPostgres(): Promise<Database> {
  const db = await openPostgres(await server.database());
  onTestFinished(() => db.destroy());
  await migrate(db, POSTGRES);
  await FILL.execute(db);
  await sql`analyze audit`.execute(db);
  return db;
}

test("SQLite finds the decisions on the same request by indexes", async () => {
  const plan = await planOf(sameRequest(await onSqlite()), 1, sql`query plan`);
  expect(plan).toContain("SEARCH audit USING INDEX audit_by_asked");
  expect(plan).toContain("SEARCH dispute USING INDEX audit_by_run ");
  expect(plan).not.toContain("SCAN audit");
});

test("PostgreSQL finds the decisions on the same request by indexes", async () => {
  const plan = await planOf(sameRequest(await onPostgres()), 1);
  expect(plan).toContain("audit_by_asked");
  expect(plan).toContain("Index Scan using audit_by_run on audit dispute");
  expect(plan).not.toContain("Seq Scan");
});

test("SQLite finds the entries of a run by indexes", async () => {
  const plan = await planOf(sameRun(await onSqlite()), 20, sql`query plan`);
  expect(plan).toContain("audit_by_run ");
  expect(plan).toContain("audit_by_run_id ");
  expect(plan).not.toContain("SCAN audit");
});

test("PostgreSQL finds the entries of a run by indexes", async () => {
  const plan = await planOf(sameRun(await onPostgres()), 20);
  expect(plan).toContain("Bitmap Index Scan on audit_by_run ");
  expect(plan).toContain("Bitmap Index Scan on audit_by_run_id ");
  expect(plan).not.toContain("Seq Scan");
});

test("SQLite finds the disputes of a decision by an index", async () => {
  const plan = await planOf(disputesOfOne(await onSqlite()), 1, sql`query plan`);
  expect(plan).toContain("SEARCH audit USING INDEX audit_by_run ");
});

test("PostgreSQL finds the disputes of a decision by an index", async () => {
  const plan = await planOf(disputesOfOne(await onPostgres()), 1);
  expect(plan).toContain("Index Scan using audit_by_run ");
});

test("SQLite finds what is open, and what began after an entry, by the index of kinds", async () => {
  const db = await onSqlite();
  for (const [after, found] of AFTER) {
    const plan = await planOf(freezes(db, after), found, sql`query plan`);
    expect(plan).toContain("SEARCH audit USING INDEX audit_by_what (what=? AND seq>? AND seq<?)");
  }
});

test("PostgreSQL finds what is open, and what began after an entry, by the index of kinds", async () => {
  const db = await onPostgres();
  for (const [after, found] of AFTER) {
    const plan = await planOf(freezes(db, after), found);
    expect(plan).toContain("audit_by_what");
    expect(plan).not.toContain("Seq Scan");
  }
});
