// What a replica that starts changes for the replicas that work: nothing, until it takes its share of the runs.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Store } from "#src/ports/store.ts";
import { config, SOCKET } from "../../make/config.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { NOON } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const LEASE_MS = 3_000;

let server: PostgresServer;
let url = "";
let now = NOON;
let ann: Store;
let ben: Store;
const closers: (() => Promise<unknown>)[] = [];

async function opened(owner: string): Promise<Store> {
  const times = { now: () => now, timeOf: SQLITE.timeOf, leaseMs: LEASE_MS };
  const store = await openStore({ url, owner, auditKey: AUDIT_KEY, ...times });
  closers.push(() => store.close());
  return store;
}

/** A pass of a replica that works. Resolves to the number of shards that it then holds. */
async function pass(replica: Store): Promise<number> {
  const { shards, surplus } = await replica.renew(now, LEASE_MS);
  await replica.giveBack(shards.slice(shards.length - surplus));
  return shards.length - surplus;
}

const passes = async () => [await pass(ann), await pass(ben)];

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => {
  now = NOON;
  url = await server.database();
  [ann, ben] = [await opened("ann"), await opened("ben")];
  // Ann takes every shard, gives half of them back, and Ben takes those.
  for (let nth = 0; nth < 2; nth += 1) await passes();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

test("a replica whose start fails takes no shard and makes no other give one back", async () => {
  await (await opened("cat")).close();
  expect(await passes()).toEqual([128, 128]);
  now += LEASE_MS - 1;
  expect(await passes()).toEqual([128, 128]);
});

test("a replica whose start takes long takes no shard, not even a free one", async () => {
  await ben.release();
  await opened("cat");
  now += LEASE_MS / 2;
  expect(await pass(ann)).toBe(256);
  now += LEASE_MS / 2;
  expect(await pass(ann)).toBe(256);
});

test("a replica that starts is counted at once, so that the others look for its freezes and its policy", async () => {
  await opened("cat");
  expect(await ann.renew(now, LEASE_MS)).toMatchObject({ replicas: 3, surplus: 0 });
});

test("a replica that begins its work gets its share, however long its start took", async () => {
  const cat = await opened("cat");
  now += LEASE_MS - 1;
  await passes();
  expect(await pass(cat)).toBe(0);
  expect(await passes()).toEqual([86, 86]);
  expect(await pass(cat)).toBe(84);
  now += LEASE_MS - 1;
  expect([...(await passes()), await pass(cat)]).toEqual([86, 86, 84]);
  expect((await ann.renew(now, LEASE_MS)).replicas).toBe(3);
});

test("a replica that is released before it works leaves nothing behind", async () => {
  await (await opened("cat")).release();
  expect((await ann.renew(now, LEASE_MS)).replicas).toBe(2);
});

test("a replica reaches the server by libpq's usual form of a socket's address", async () => {
  const DATABASE_URL = `postgres://postgres@${new URL(url).pathname}?host=${server.folder}`;
  const { database } = config({ ...SOCKET, AUDIT_KEY, DATABASE_URL });
  url = database.engine === "postgres" ? database.url : "";
  await opened("cat");
  expect(await ann.renew(now, LEASE_MS)).toMatchObject({ replicas: 3 });
});

test("of replicas that start together on an empty database, one is told that it created the tables", async () => {
  const empty = await server.database();
  let told = 0;
  const start = async (owner: string): Promise<void> => {
    const onNewTables = (): void => void (told += 1);
    const store = await openStore({ url: empty, owner, auditKey: AUDIT_KEY, onNewTables });
    closers.push(() => store.close());
  };
  await Promise.all([start("ann"), start("ben")]);
  expect(told).toBe(1);
  await start("cat");
  expect(told).toBe(1);
});
