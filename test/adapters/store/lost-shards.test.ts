// Two processes on one database: what one does while the other reads a run, or after it has lost the shard of a run.

import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { auditKeyBeside } from "#src/adapters/store/audit-key.ts";
import { createFindRuns } from "#src/adapters/store/find-runs.ts";
import { createForms } from "#src/adapters/store/forms.ts";
import { createLeases } from "#src/adapters/store/leases.ts";
import { createLongTexts } from "#src/adapters/store/long-texts.ts";
import { NO_SIGNALS } from "#src/adapters/store/postgres-signals.ts";
import { createKeepRuns } from "#src/adapters/store/runs.ts";
import { migrate } from "#src/adapters/store/schema.ts";
import { createFindings, sealsOf } from "#src/adapters/store/seals.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Finding } from "#src/ports/audit-store.ts";
import { aRun, NOON } from "../../make/run.ts";

const LONG = "a long output ".repeat(5_000);
const LEASE_MS = 600_000;
const LATER = NOON + 60_000;

async function twoProcesses() {
  const db = openSqlite(":memory:");
  onTestFinished(() => db.destroy());
  const { key } = auditKeyBeside(":memory:");
  await migrate(db, SQLITE);
  const seals = sealsOf(key);
  const found: Finding[] = [];
  const unread: string[] = [];
  const process = (owner: string) => {
    const texts = createLongTexts();
    const findings = createFindings();
    findings.listen((finding) => void found.push(finding));
    const reading = { seals, texts, now: () => NOON, findings };
    const onCorrupt = (run: string): void => void unread.push(run);
    const shared = {
      db,
      noteWritten: () => undefined,
      owner,
      timeOf: SQLITE.timeOf,
      signals: NO_SIGNALS,
      now: () => NOON,
      key,
      seals,
      texts,
    };
    return {
      ...createKeepRuns(shared),
      ...createFindRuns({ db, reading, onCorrupt }),
      ...createForms(db, key, reading),
      ...createLeases({ ...shared, leaseDb: db, reading, onCorrupt, isShared: true }),
    };
  };
  return { db, ann: process("ann"), ben: process("ben"), found, unread };
}

test("a run whose long text is dropped by another process while it is read is read as it is now", async () => {
  const { ann, ben, found } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const run = { ...aRun(), input: LONG };
  await ann.insert(run, {});
  const loading = ben.load(run.key);
  await ann.save({ run, revision: 1 }, { ...run, input: "short" }, { mustHold: true });
  expect(await loading).toMatchObject({ run: { key: run.key, input: "short" }, revision: 2 });
  expect(found).toEqual([]);
});

test("a run that is deleted by another process while it is read is not there", async () => {
  const { db, ben, ann, found, unread } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const run = { ...aRun(), input: LONG };
  await ann.insert(run, {});
  const loading = ben.load(run.key);
  const visited: string[] = [];
  const visiting = ben.eachRun("unfinished", ({ key }) => void visited.push(key));
  await db.deleteFrom("runs").execute();
  expect(await loading).toBeNull();
  await visiting;
  expect({ found, unread, visited }).toEqual({ found: [], unread: [], visited: [] });
});

test("a run without one of its long texts is reported if nobody has saved it", async () => {
  const { db, ann, ben, found } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const run = { ...aRun(), input: LONG };
  await ann.insert(run, {});
  await db.deleteFrom("long_texts").execute();
  await expect(ben.load(run.key)).rejects.toThrow("one of its long texts is missing");
  expect(found).toMatchObject([{ run: run.key }]);
});

test("a run that names a process which has lost its shard is claimed by the one that holds the shard", async () => {
  const { db, ann, ben } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const run = aRun();
  await ann.insert(run, {});
  await ann.release();
  await ben.renew(NOON, LEASE_MS);
  expect((await ben.claim(10)).map(({ run: { key } }) => key)).toEqual([run.key]);
  // As a commit leaves it that was under way when its process lost the shard.
  await db.insertInto("owners").values({ owner: "ann", until: NOON }).execute();
  await db.updateTable("runs").set({ holder: "ann" }).execute();
  await ben.renew(LATER, LEASE_MS);
  expect((await ben.claim(10)).map(({ run: { key } }) => key)).toEqual([run.key]);
});

test("a finished run that is reopened by a process which has lost its shard is claimed by the one that holds the shard", async () => {
  const { ann, ben } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const run = aRun();
  await ann.insert(run, {});
  await ann.save({ run, revision: 1 }, run, { finished: true });
  await ben.renew(NOON + LEASE_MS, LEASE_MS);
  expect(await ann.save({ run, revision: 2 }, run, { finished: false })).toBe("passed-on");
  expect((await ben.claim(10)).map(({ run: { key } }) => key)).toEqual([run.key]);
});

test("neither a lapsed lease nor the end of a process writes the finished runs that it held", async () => {
  const { db, ann } = await twoProcesses();
  await ann.renew(NOON, LEASE_MS);
  const [over, going] = [aRun(), aRun()];
  for (const run of [over, going]) await ann.insert(run, {});
  await ann.save({ run: over, revision: 1 }, over, { finished: true });
  await sql`create trigger kept before update on runs when old.finished = 1 begin select raise(abort, 'written'); end`.execute(
    db,
  );
  await ann.renew(NOON + LEASE_MS, LEASE_MS);
  expect((await ann.claim(10)).map(({ run: { key } }) => key)).toEqual([going.key]);
  await ann.release();
  const held = db.selectFrom("runs").select("key").where("holder", "is not", null);
  expect(await held.execute()).toEqual([{ key: over.key }]);
});
