// The clock of a replica whose machine was suspended, and the time that is stored for the next start.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { createMetrics } from "#src/adapters/http/metrics.ts";
import { type MachineClock, createClock } from "#src/engine/clock.ts";
import { NOTICED_MS } from "#src/engine/missed-time.ts";
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
beforeEach(async () => {
  url = await server.database();
  // The first start on an empty database warns of that.
  await (await openStore({ url, owner: "first", auditKey: AUDIT_KEY })).close();
});
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

/** As during a suspension of the machine: the monotonic clock stood still, the wall clock and the database's did not. */
const suspend = ({ clock }: Replica, ms: number): void => clock.beginAt(clock.monotonic() - ms);
const renew = ({ store, clock }: Replica) => store.renew(clock.monotonic(), LEASE_MS);
const extend = ({ store, clock }: Replica) => store.extend(clock.monotonic(), LEASE_MS);

const WAYS: Record<string, (replica: Replica) => Promise<unknown>> = {
  "extends its lease": extend,
  "finds that its lease has lapsed": async (replica) => {
    await server.run(url, "delete from owners");
    expect(await extend(replica)).toBe(false);
  },
  "begins a new lease": async (replica) => {
    await server.run(url, "delete from owners");
    await renew(replica);
  },
  "asks for the time": ({ store }) => store.askTime(),
};

// How far it is ahead is known only to the time that answers take, and less than NOTICED_MS is never made up.
test.each(Object.keys(WAYS))(
  "a replica whose machine was suspended has caught up once it %s",
  async (way) => {
    const replica = await aReplica();
    await renew(replica);
    const before = replica.clock.monotonic();
    suspend(replica, 11 * MIN);
    await WAYS[way]?.(replica);
    expect(replica.clock.monotonic()).toBeGreaterThan(before - NOTICED_MS);
    expect(replica.clock.monotonic()).toBeLessThan(before + MIN);
    expect(replica.warnings).toEqual([expect.stringContaining("this machine was suspended")]);
  },
);

test("a replica whose machine was suspended between its start and its first lease catches up with that", async () => {
  const replica = await aReplica();
  const before = replica.clock.monotonic();
  suspend(replica, 11 * MIN);
  await renew(replica);
  expect(replica.clock.monotonic()).toBeGreaterThan(before - NOTICED_MS);
});

test("a replica whose lease has lapsed gives up its runs before it asks for the time", async () => {
  const happened: string[] = [];
  const onTime = (): void => void happened.push("time");
  const store = await openStore({ url, owner: "test", auditKey: AUDIT_KEY, onTime });
  closers.push(() => store.close());
  happened.length = 0;
  await store.renew(Date.now(), LEASE_MS, () => happened.push("lapsed"));
  expect(happened).toEqual(["lapsed", "time"]);
});

test("a replica that is ahead of the database neither goes back nor warns", async () => {
  const replica = await aReplica();
  replica.clock.continueAfter(replica.clock.monotonic() + 11 * MIN);
  const before = replica.clock.monotonic();
  await renew(replica);
  await extend(replica);
  await replica.store.askTime();
  expect(replica.clock.monotonic()).toBeGreaterThanOrEqual(before);
  expect(replica.clock.monotonic()).toBeLessThan(before + MIN);
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
