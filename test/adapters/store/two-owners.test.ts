// Two owners on one database, as two replicas would be. The embedded file never has them, so they are put together by hand.

import { afterEach, beforeEach, expect, test } from "vitest";
import { chainedEntry } from "#src/adapters/store/append-audit.ts";
import { auditKeyBeside, auditSignatures, digestOf } from "#src/adapters/store/audit-key.ts";
import { createLeases } from "#src/adapters/store/leases.ts";
import { createLongTexts } from "#src/adapters/store/long-texts.ts";
import { createKeepRuns } from "#src/adapters/store/runs.ts";
import { NO_SIGNALS } from "#src/adapters/store/postgres-signals.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { createFindings, sealsOf } from "#src/adapters/store/seals.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Database } from "#src/adapters/store/database.ts";
import { verifyAudit } from "#src/domain/audit/verify-chain.ts";
import { shardOf } from "#src/domain/ids.ts";
import type { Store } from "#src/ports/store.ts";
import { anAuditEntry, aRun, NOON } from "../../make/run.ts";

type Replica = Pick<Store, "insert" | "save" | "claim" | "claimAgain" | "renew" | "giveBack">;

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
      owner,
      timeOf: SQLITE.timeOf,
      signals: NO_SIGNALS,
      reading,
      onCorrupt: () => undefined,
    }),
  });
  [ann, ben] = [replica("ann"), replica("ben")];
  await ann.renew(now, LEASE_MS);
  await ben.renew(now, LEASE_MS);
});
afterEach(() => db.destroy());

test("what one holds the other neither claims nor saves as its own", async () => {
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

test("what one has claimed it can claim again, and of the other's runs none", async () => {
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

test("a replica that comes gets its share once the other has given it back, and with it the runs", async () => {
  const run = aRun();
  await ann.insert(run, {});
  const all = await ann.renew(now, LEASE_MS);
  expect(all).toMatchObject({ replicas: 2, shards: { length: 256 }, surplus: 128, nextEndMs: LEASE_MS });
  expect((await ben.renew(now, LEASE_MS)).shards).toEqual([]);
  const given = new Set([...all.shards.slice(0, 127), shardOf(run)]);
  await ann.giveBack([...given]);
  const half = await ben.renew(now, LEASE_MS);
  expect(new Set(half.shards)).toEqual(given);
  expect(half.surplus).toBe(0);
  expect(await ann.save({ run, revision: 1 }, run, { mustHold: true })).toBe("not-held");
  expect(await ben.claim(10)).toEqual([{ run, revision: 2 }]);
});

test("of a replica that has died, the shards go to those that live, and to no other", async () => {
  const cat = replica("cat");
  const { shards, surplus } = await ann.renew(now, LEASE_MS);
  await ann.giveBack(shards.slice(-surplus));
  await ben.renew(now, LEASE_MS);
  now += LEASE_MS / 2;
  await ann.renew(now, LEASE_MS);
  now += LEASE_MS / 2;
  // The lease of ben is over.
  expect(await ann.renew(now, LEASE_MS)).toMatchObject({ replicas: 1, shards: { length: 256 } });
  expect(await cat.renew(now, LEASE_MS)).toMatchObject({ replicas: 2, shards: [] });
  expect(await ben.renew(now, LEASE_MS)).toMatchObject({ replicas: 3, shards: [] });
});

test("however they write by turns and at once, there is one chain: nobody forks it", async () => {
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
