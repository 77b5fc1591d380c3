// The clock of a replica that is behind the others', as after a suspension of its machine.

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

const suspend = ({ clock }: Replica, ms: number): void => clock.beginAt(clock.monotonic() - ms);
const renew = ({ store, clock }: Replica) => store.renew(clock.monotonic(), LEASE_MS);

/** Two replicas with the same time. */
async function twoReplicas(): Promise<[Replica, Replica]> {
  const replicas: [Replica, Replica] = [await aReplica(), await aReplica()];
  for (const each of replicas) await renew(each);
  return replicas;
}

const WAYS: Record<string, (replica: Replica) => Promise<unknown>> = {
  "renews its lease": renew,
  "asks for the time": ({ store }) => store.askTime(),
};

test.each(Object.keys(WAYS))(
  "a replica that is eleven minutes behind has the time of the others once it %s",
  async (way) => {
    const [other, suspended] = await twoReplicas();
    suspend(suspended, 11 * MIN);
    const stored = other.clock.monotonic();
    await renew(other);
    await WAYS[way]?.(suspended);
    expect(suspended.clock.monotonic()).toBeGreaterThanOrEqual(stored);
    expect(suspended.clock.monotonic()).toBeLessThan(other.clock.monotonic() + 1_000);
    expect(suspended.warnings).toEqual([expect.stringContaining("was behind that of another replica")]);
    expect(other.warnings).toEqual([]);
  },
);

test("replicas that are ahead of the database, which was set back, agree after one of them was suspended", async () => {
  const [other, suspended] = await twoReplicas();
  for (const { clock } of [other, suspended]) clock.continueAfter(clock.monotonic() + 30_000);
  suspend(suspended, 5 * MIN);
  const stored = other.clock.monotonic();
  await renew(other);
  await renew(suspended);
  expect(suspended.clock.monotonic()).toBeGreaterThanOrEqual(stored);
});

test("a replica that is ahead of the others neither goes back nor warns", async () => {
  const [other, ahead] = await twoReplicas();
  ahead.clock.continueAfter(ahead.clock.monotonic() + 11 * MIN);
  const before = ahead.clock.monotonic();
  await renew(other);
  await renew(ahead);
  await ahead.store.askTime();
  expect(ahead.clock.monotonic()).toBeGreaterThanOrEqual(before);
  expect(ahead.warnings).toEqual([]);
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
