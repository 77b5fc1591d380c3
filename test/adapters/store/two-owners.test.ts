// Two owners of one database, like two replicas. The embedded file never has two, so they are set up by hand.

import { afterEach, beforeEach, expect, test } from "vitest";
import { chainedEntry } from "#src/adapters/store/append-audit.ts";
import { auditKeyBeside, auditSignatures, digestOf } from "#src/adapters/store/audit-key.ts";
import { beginStartLease, createLeases } from "#src/adapters/store/leases.ts";
import { createLongTexts } from "#src/adapters/store/long-texts.ts";
import { createKeepRuns } from "#src/adapters/store/runs.ts";
import { NO_SIGNALS } from "#src/adapters/store/postgres-signals.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { createFindings, sealsOf } from "#src/adapters/store/seals.ts";
import { keepTime, newestTime } from "#src/adapters/store/newest-time.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { type Database, write } from "#src/adapters/store/database.ts";
import { verifyAudit } from "#src/domain/audit/verify-chain.ts";
import { shardOf } from "#src/domain/ids.ts";
import type { Store } from "#src/ports/store.ts";
import { anAuditEntry, aRun, NOON } from "../../make/run.ts";

type Replica = Pick<Store, "insert" | "save" | "claim" | "claimAgain" | "renew" | "giveBack" | "release">;

const LEASE_MS = 1_000;
let db: Database;
let now = NOON;
let publicKey = "";
let replica: (owner: string) => Replica;
let ann: Replica;
let ben: Replica;

beforeEach(async () => {
  now = NOON;
  db = openSqlite(":memory:");
  const { key } = auditKeyBeside(":memory:");
  ({ publicKey } = key);
  await migrate(db, SQLITE);
  const seals = sealsOf(key);
  const texts = createLongTexts();
  const reading = { seals, texts, now: () => now, findings: createFindings() };
  replica = (owner) => ({
    ...createKeepRuns({
      db,
      noteWritten: () => undefined,
      owner,
      timeOf: SQLITE.timeOf,
      signals: NO_SIGNALS,
      now: () => now,
      key,
      seals,
      texts,
    }),
    ...createLeases({
      db,
      leaseDb: db,
      owner,
      key,
      timeOf: SQLITE.timeOf,
      signals: NO_SIGNALS,
      reading,
      onCorrupt: () => undefined,
      isShared: true,
    }),
  });
  [ann, ben] = [replica("ann"), replica("ben")];
  await ann.renew(now, LEASE_MS);
  await ben.renew(now, LEASE_MS);
});
afterEach(() => db.destroy());

test("a run that one replica holds is neither claimed nor saved as its own by the other", async () => {
  const run = aRun();
  await ann.insert(run, {});
  expect(await ben.claim(10)).toEqual([]);
  expect(await ben.save({ run, revision: 1 }, run, { mustHold: true })).toBe("not-held");
  // A click on another replica is recorded all the same, and reaches the holder as a run to claim.
  expect(await ben.save({ run, revision: 1 }, run)).toBe("passed-on");
  expect(await ann.save({ run, revision: 2 }, run, { mustHold: true })).toBe("not-held");
  expect(await ben.claim(10)).toEqual([]);
  expect(await ann.claim(10)).toEqual([{ run, revision: 3 }]);
  expect(await ann.save({ run, revision: 3 }, run, { mustHold: true })).toBe("saved");
});

test("a replica can claim its own runs again, and none of the other's", async () => {
  const run = aRun();
  await ann.insert(run, {});
  await ben.claimAgain([shardOf(run)]);
  expect(await ann.claim(10)).toEqual([]);
  await ann.claimAgain([shardOf(run)]);
  expect(await ben.claim(10)).toEqual([]);
  expect(await ann.claim(10)).toEqual([{ run, revision: 2 }]);
});

test("a lapsed lease passes on, and the former holder can write nothing, renewed or not", async () => {
  const run = aRun();
  await ann.insert(run, {});
  now += LEASE_MS;
  await ben.renew(now, LEASE_MS);
  expect(await ben.claim(10)).toEqual([{ run, revision: 2 }]);
  await ann.renew(now, LEASE_MS);
  expect(await ann.save({ run, revision: 1 }, run, { mustHold: true })).toBe("lost");
  expect(await ann.save({ run, revision: 2 }, run, { mustHold: true })).toBe("not-held");
  expect(await ann.claim(10)).toEqual([]);
  expect(await ben.save({ run, revision: 2 }, run, { mustHold: true })).toBe("saved");
});

test("a run that starts on the other replica is stored for the holder of its channel", async () => {
  const run = aRun();
  expect(await ben.insert(run, {})).toBe("passed-on");
  expect(await ben.claim(10)).toEqual([]);
  expect(await ann.claim(10)).toEqual([{ run, revision: 2 }]);
});

test("a new replica gets its share once the other has handed it back, and with it the runs", async () => {
  const run = aRun();
  await ann.insert(run, {});
  const all = await ann.renew(now, LEASE_MS);
  expect(all).toMatchObject({ replicas: 2, shards: { length: 256 }, surplus: 128, nextEndMs: LEASE_MS });
  expect((await ben.renew(now, LEASE_MS)).shards).toEqual([]);
  const handedBack = new Set([...all.shards.slice(0, 127), shardOf(run)]);
  await ann.giveBack([...handedBack]);
  const half = await ben.renew(now, LEASE_MS);
  expect(new Set(half.shards)).toEqual(handedBack);
  expect(half.surplus).toBe(0);
  expect(await ann.save({ run, revision: 1 }, run, { mustHold: true })).toBe("not-held");
  expect(await ben.claim(10)).toEqual([{ run, revision: 2 }]);
});

test("the shards of a replica that has died go to those that live, and to no other", async () => {
  const cat = replica("cat");
  const { shards, surplus } = await ann.renew(now, LEASE_MS);
  await ann.giveBack(shards.slice(-surplus));
  await ben.renew(now, LEASE_MS);
  now += LEASE_MS / 2;
  await ann.renew(now, LEASE_MS);
  now += LEASE_MS / 2;
  // Ben's lease is over.
  expect(await ann.renew(now, LEASE_MS)).toMatchObject({ replicas: 1, shards: { length: 256 } });
  expect(await cat.renew(now, LEASE_MS)).toMatchObject({ replicas: 2, shards: [] });
  expect(await ben.renew(now, LEASE_MS)).toMatchObject({ replicas: 3, shards: [] });
});

test("a replica that starts is counted, and takes no share until it works", async () => {
  const cat = replica("cat");
  await ann.giveBack((await ann.renew(now, LEASE_MS)).shards.slice(128));
  await ben.renew(now, LEASE_MS);
  await write(db, (trx) => beginStartLease(trx, "cat", SQLITE.timeOf(now), LEASE_MS));
  for (const each of [ann, ben])
    expect(await each.renew(now, LEASE_MS)).toMatchObject({
      replicas: 3,
      shards: { length: 128 },
      surplus: 0,
    });
  expect(await cat.renew(now, LEASE_MS)).toMatchObject({ replicas: 3, shards: [] });
  for (const each of [ann, ben])
    expect(await each.renew(now, LEASE_MS)).toMatchObject({ replicas: 3, surplus: 42 });
  await cat.release();
  expect(await ann.renew(now, LEASE_MS)).toMatchObject({ replicas: 2, surplus: 0 });
});

test("there is one chain without a fork, however they write in turn and at the same time", async () => {
  const runs = Array.from({ length: 40 }, () => aRun());
  await Promise.all(
    runs.map((run, nth) =>
      (nth % 2 === 0 ? ann : ben).insert(run, { audit: [anAuditEntry(run), anAuditEntry(run)] }),
    ),
  );
  await Promise.all(
    runs.map((run, nth) =>
      (nth % 2 === 0 ? ben : ann).save({ run, revision: 1 }, run, { audit: [anAuditEntry(run)] }),
    ),
  );
  const rows = await db.selectFrom("audit").selectAll().orderBy("seq").execute();
  async function* chain() {
    yield* rows.map(chainedEntry);
  }
  const tools = {
    hash: digestOf,
    signature: auditSignatures([publicKey]),
    textOf: () => Promise.resolve(null),
  };
  expect(await verifyAudit(chain(), tools)).toMatchObject({ ok: true, entries: 120 });
});

test("the newest time is never lowered, and replaces what is no number", async () => {
  await db.deleteFrom("runs").execute();
  await db.deleteFrom("documents").execute();
  const keep = (at: number) => write(db, (trx) => keepTime(trx, at));
  const kept = () => newestTime(db, SQLITE.timeOf);
  for (const [at, newest] of [
    [NOON, NOON],
    [NOON - 1, NOON],
    [NOON + 1, NOON + 1],
    [NOON, NOON + 1],
  ] as const) {
    await keep(at);
    expect(await kept()).toBe(newest);
  }
  const damaged = ["null", '"soon"', "1e400", "-5"];
  const repaired: number[] = [];
  for (const doc of damaged) {
    await db.updateTable("documents").set({ doc }).where("name", "=", "newest-time").execute();
    await keep(NOON);
    repaired.push(await kept());
  }
  expect(repaired).toEqual(damaged.map(() => NOON));
});
