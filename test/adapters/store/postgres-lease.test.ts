// The lease of a replica on a server where other transactions wait for each other.

import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Trx, write } from "#src/adapters/store/database.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { openPostgres } from "#src/adapters/store/postgres.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Store } from "#src/ports/store.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { anAuditEntry, aRun, NOON } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const LEASE_MS = 3_000;

let server: PostgresServer;
let url = "";
let now = NOON;
let ann: Store;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => {
  now = NOON;
  url = await server.database();
  ann = await openStore({ url, owner: "ann", auditKey: AUDIT_KEY, now: () => now, timeOf: SQLITE.timeOf });
  closers.push(() => ann.close());
  await ann.renew(now, LEASE_MS);
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Runs `meanwhile` in a transaction of another process that has the lock of the audit, as every save with an entry has. */
async function withAuditLock(meanwhile: (trx: Trx) => Promise<unknown>): Promise<void> {
  const other = await openPostgres(url);
  closers.push(() => other.destroy());
  await write<unknown>(other, async (trx) => {
    await sql`update audit_lock set taken = taken + 1`.execute(trx);
    return meanwhile(trx);
  });
}

/** Resolves once this many statements wait for a lock. */
async function waiting(count: number): Promise<void> {
  const blocked = "select 1 from pg_stat_activity where wait_event_type = 'Lock'";
  while ((await server.run(url, blocked)).length < count);
}

test("a replica that begins a new lease and waits for the audit keeps no run from the save that it waits for", async () => {
  const run = aRun();
  await ann.insert(run, {});
  now += LEASE_MS;
  let renewing: Promise<unknown> = Promise.resolve();
  await withAuditLock(async (trx) => {
    renewing = ann.renew(now, LEASE_MS);
    await waiting(1);
    const { rows } = await sql`select key, holder from runs for update nowait`.execute(trx);
    expect(rows).toEqual([{ key: run.key, holder: null }]);
  });
  await renewing;
  expect((await ann.claim(10)).map(({ run: { key } }) => key)).toEqual([run.key]);
});

const connections = async () => {
  const [found] = await server.run(
    url,
    "select count(*)::int as open from pg_stat_activity where application_name like 'countersign%' and datname = current_database()",
  );
  return found?.["open"];
};

test("a replica keeps its lease while its saves wait for the audit, and opens eleven connections", async () => {
  let inserting: Promise<unknown> = Promise.resolve();
  await withAuditLock(async () => {
    const runs = Array.from({ length: 20 }, () => aRun());
    inserting = Promise.all(runs.map((run) => ann.insert(run, { audit: [anAuditEntry(run)] })));
    await waiting(9);
    expect(await ann.extend(now, LEASE_MS)).toBe(true);
    // One is of the process with the lock.
    await expect.poll(connections).toBe(11 + 1);
  });
  await inserting;
  expect(await ann.auditHead()).toMatchObject({ seq: 20 });
  for (const close of closers.splice(0)) await close();
  await expect.poll(connections).toBe(0);
});
