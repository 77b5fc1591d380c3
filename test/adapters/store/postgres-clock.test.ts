// The clock of a replica that is behind the database's, as after a suspension of its machine.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createMetrics } from "#src/adapters/http/metrics.ts";
import { type MachineClock, createClock } from "#src/engine/clock.ts";
import type { Log } from "#src/log.ts";
import { openConfiguredStore } from "#src/open-ports.ts";
import type { Store } from "#src/ports/store.ts";
import { config, SOCKET } from "../../make/config.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const LEASE_MS = 30_000;
const MIN = 60_000;

let server: PostgresServer;
let url = "";
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => void (url = await server.database()));
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

type Replica = { readonly store: Store; readonly clock: MachineClock; readonly warnings: readonly string[] };

async function aReplica(): Promise<Replica> {
  const clock = createClock();
  const warnings: string[] = [];
  const quiet = () => undefined;
  const warn = (_fields: object, message: string): void => void warnings.push(message);
  const log = { debug: quiet, info: quiet, warn, error: quiet } as unknown as Log;
  const metrics = createMetrics({ version: "0.0.0", node: process.versions.node, at: Date.now() });
  const settings = config({ ...SOCKET, DATABASE_URL: url, AUDIT_KEY });
  const store = await openConfiguredStore(settings, { clock, log, metrics });
  closers.push(() => store.close());
  return { store, clock, warnings };
}

async function databaseTime(): Promise<number> {
  const [{ at } = {}] = await server.run(
    url,
    "select (extract(epoch from clock_timestamp()) * 1000)::float8 as at",
  );
  return Number(at);
}

/** Whether the clock shows the time between two looks at the database. */
async function isRight({ clock }: Replica, since: number): Promise<boolean> {
  const at = clock.monotonic();
  return at >= Math.floor(since) && at <= Math.ceil(await databaseTime());
}

const suspend = ({ clock }: Replica, ms: number): void => clock.beginAt(clock.monotonic() - ms);

const WAYS: Record<string, (replica: Replica) => Promise<unknown>> = {
  "begins a new lease": ({ store, clock }) => store.renew(clock.monotonic(), LEASE_MS),
  "extends its lease": async ({ store, clock }) => {
    await store.renew(clock.monotonic(), LEASE_MS);
    clock.beginAt(clock.monotonic() - 11 * MIN);
    return store.extend(clock.monotonic(), LEASE_MS);
  },
  "asks for the time": ({ store }) => store.askTime(),
};

test.each(Object.keys(WAYS))(
  "a replica that is eleven minutes behind has the database's time once it %s",
  async (way) => {
    const replica = await aReplica();
    if (way !== "extends its lease") suspend(replica, 11 * MIN);
    const since = await databaseTime();
    await WAYS[way]?.(replica);
    expect(await isRight(replica, since)).toBe(true);
    expect(replica.warnings).toEqual([expect.stringContaining("the clock was behind the database's")]);
  },
);

test("a replica that is ahead of the database neither goes back nor warns", async () => {
  const replica = await aReplica();
  const { store, clock } = replica;
  clock.continueAfter(clock.monotonic() + 11 * MIN);
  const before = clock.monotonic();
  await store.renew(clock.monotonic(), LEASE_MS);
  await store.extend(clock.monotonic(), LEASE_MS);
  await store.askTime();
  expect(clock.monotonic()).toBeGreaterThanOrEqual(before);
  expect(clock.monotonic()).toBeLessThan((await databaseTime()) + 11 * MIN + 1_000);
  expect(replica.warnings).toEqual([]);
});

test("a replica that is behind does not lower the newest time, and one that starts continues from it", async () => {
  const [ahead, behind] = [await aReplica(), await aReplica()];
  ahead.clock.continueAfter(ahead.clock.monotonic() + 11 * MIN);
  const newest = ahead.clock.monotonic();
  await ahead.store.renew(newest, LEASE_MS);
  await behind.store.renew(behind.clock.monotonic(), LEASE_MS);
  expect((await aReplica()).clock.monotonic()).toBeGreaterThanOrEqual(newest);
  for (const doc of ["null", "1e400"]) {
    await server.run(url, `update documents set doc = '${doc}' where name = 'newest-time'`);
    await behind.store.renew(behind.clock.monotonic(), LEASE_MS);
    const [kept] = await server.run(url, "select doc from documents where name = 'newest-time'");
    expect(Number(kept?.["doc"])).toBeGreaterThan(newest - 12 * MIN);
  }
});
