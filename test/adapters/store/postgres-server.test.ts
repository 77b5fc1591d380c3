// What is true of PostgreSQL alone: several processes on one database, and a server that stops, refuses or does not
// answer.

import { readFileSync } from "node:fs";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { openPostgres, type Limits, POSTGRES } from "#src/adapters/store/postgres.ts";
import { migrate, MIGRATIONS } from "#src/adapters/store/schema.ts";
import { type Database, Undo, write } from "#src/adapters/store/database.ts";
import type { PortError } from "#src/ports.ts";
import { BACKUP_MARK, type Store } from "#src/ports/store.ts";
import { startPostgres, type PostgresServer } from "../../make/postgres.ts";
import { anApproval, anAuditEntry, aRun, withApprovals } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const PATIENT: Limits = { statementMs: 60_000, answerMs: 60_000, awayMs: 60_000 };
/** The statements after the slow one must be quicker than this, also on a busy machine. */
const QUICK: Limits = { ...PATIENT, statementMs: 1_000 };

let server: PostgresServer;
let url = "";
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => void (server = await startPostgres()));
afterAll(() => server.stop());
beforeEach(async () => void (url = await server.database()));
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function aStore(owner = "test"): Promise<Store> {
  const store = await openStore({ url, owner, auditKey: AUDIT_KEY });
  closers.push(() => store.close());
  return store;
}

async function aDatabase(limits?: Limits): Promise<Database> {
  const db = await openPostgres(url, limits);
  closers.push(() => db.destroy());
  return db;
}

const outside = (text: string) => server.run(url, text);

/** Ends every other connection to the database, as an administrator or a failing network would. */
const cutAll = () =>
  outside(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );

const OPEN_TRANSACTIONS =
  "select pid from pg_stat_activity where state = 'idle in transaction' and datname = current_database()";

const put = (db: Database, name: string): Promise<string> =>
  write<string>(db, async (trx) => {
    await trx.insertInto("documents").values({ name, doc: "{}" }).execute();
    return "put";
  });

const documents = async (): Promise<unknown[]> =>
  (await outside("select name from documents order by name")).map(({ name }) => name);

test("the statement of docs/backup.md marks a restored server, at the first restore and at each later one", async () => {
  const store = await aStore();
  const page = readFileSync(new URL("../../../docs/backup.md", import.meta.url), "utf8");
  const statement = /```sql\n([^`]*)```/.exec(page)?.[1] ?? "";
  for (const hour of ["20", "21"]) {
    await outside(statement.replace(/ \d\d:17:00/, ` ${hour}:17:00`));
    expect(await store.document(BACKUP_MARK)).toBe(Date.parse(`2026-11-22T${hour}:17:00Z`));
  }
  await store.putDocument(BACKUP_MARK, null);
  await outside(statement);
  expect(await store.document(BACKUP_MARK)).toBe(Date.parse("2026-11-22T20:17:00Z"));
});

test("replicas that start at the same time on an empty database create its schema once", async () => {
  const stores = await Promise.all(["ann", "ben", "cem", "dia"].map((owner) => aStore(owner)));
  await Promise.all(stores.map((store) => store.insert(aRun(), {})));
  expect(await outside("select version from schema_version")).toEqual([{ version: MIGRATIONS.length }]);
  expect(await outside("select count(*)::int as runs from runs")).toEqual([{ runs: 4 }]);
});

test("replicas that renew at the same time share the free shards between them", async () => {
  const [ann, ben] = [await aStore("ann"), await aStore("ben")];
  const look = async (replica: Store) => (await replica.renew(Date.now(), 30_000)).shards;
  for (let round = 0; round < 10; round += 1) {
    for (const each of [ann, ben]) await each.giveBack(await look(each));
    const [one, other] = await Promise.all([look(ann), look(ben)]);
    expect([one.length, other.length]).toEqual([128, 128]);
    expect(new Set([...one, ...other]).size).toBe(256);
  }
});

test("a replica uses the database's time at the end of its start, however long it waited for other answers", async () => {
  await aStore();
  const db = await aDatabase();
  const [locked, free] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const locking = write(db, async (trx) => {
    await sql`lock table documents`.execute(trx);
    locked.resolve();
    await free.promise;
    return "locked";
  });
  await locked.promise;
  let began = 0;
  const opening = openStore({ url, owner: "late", auditKey: AUDIT_KEY, onNewestTime: (at) => (began = at) });
  const waiting = () => outside("select 1 from pg_locks where not granted");
  while ((await waiting()).length === 0);
  const [{ at } = {}] = await outside("select (extract(epoch from clock_timestamp()) * 1000)::float8 as at");
  free.resolve();
  await locking;
  await (await opening).close();
  expect(began).toBeGreaterThanOrEqual(Math.floor(Number(at)));
});

test("without the audit's key nothing is opened, and the error says how to make one", async () => {
  const secret = url.replace("postgres@", "postgres:canary@");
  const opening = openStore({ url: secret, owner: "test" });
  await expect(opening).rejects.toThrow("set AUDIT_KEY to what `openssl rand -base64 32` prints");
  await expect(opening).rejects.not.toThrow("canary");
});

test("a key other than the audit's is refused", async () => {
  const store = await aStore();
  await store.audit([anAuditEntry(aRun())]);
  const other = Buffer.alloc(32, "other").toString("base64");
  await expect(openStore({ url, owner: "thief", auditKey: other })).rejects.toThrow(
    /its audit is signed with the key/,
  );
});

test.each([
  [
    "a server that does not exist",
    (there: string) => there.replace(/host=.*/, "host=/nowhere"),
    "the server cannot be reached",
  ],
  [
    "a database that does not exist",
    (there: string) => there.replace(/\/t\w+/, "/none"),
    "no database of this name",
  ],
  [
    "a user that does not exist",
    (there: string) => there.replace("postgres@", "nobody:canary@"),
    "refuses this user or password",
  ],
])("%s is named in one line, without the password", async (_what, elsewhere, words) => {
  const opening = openStore({ url: elsewhere(url), owner: "test", auditKey: AUDIT_KEY });
  await expect(opening).rejects.toThrow(/^cannot use the database postgres:\/\/[^\n]*$/);
  await expect(opening).rejects.toThrow(words);
  await expect(opening).rejects.not.toThrow("canary");
});

describe("the audit", () => {
  test("has one chain without a gap, however many replicas write to it", async () => {
    const stores = await Promise.all(["ann", "ben", "cem"].map((owner) => aStore(owner)));
    const runs = Array.from({ length: 60 }, () => withApprovals(aRun(), anApproval()));
    const of = (nth: number): Store => stores[nth % stores.length] as Store;
    await Promise.all(
      runs.map(async (run, nth) => {
        await of(nth).insert(run, { audit: [anAuditEntry(run), anAuditEntry(run)] });
        await Promise.all([
          of(nth + 1).save({ run, revision: 1 }, run, { audit: [anAuditEntry(run)] }),
          of(nth + 2).audit([anAuditEntry(run)]),
          // This save is undone, and its number goes to another.
          of(nth + 2).save({ run, revision: 9 }, run, { audit: [anAuditEntry(run)] }),
        ]);
      }),
    );
    for (const store of stores) {
      expect(await store.checkAudit()).toEqual([]);
      expect(await store.walkAudit()).toBeNull();
    }
    expect((await stores[0]?.auditHead())?.seq).toBe(4 * runs.length);
  });

  test.each([
    "update audit set what = 'decided'",
    "delete from audit",
    "truncate audit",
    "update audit_texts set text = ''",
    "delete from audit_texts",
    "truncate audit_texts",
  ])("refuses: %s", async (change) => {
    const store = await aStore();
    await store.audit([anAuditEntry(aRun(), { digest: "d".repeat(64), text: "a text" })]);
    await expect(outside(change)).rejects.toThrow("is append-only");
    expect(await store.walkAudit()).toBeNull();
    expect(await store.auditText("d".repeat(64))).toBe("a text");
  });

  test("deletes a text only once an entry says that it was erased, and no other", async () => {
    const store = await aStore();
    const [gone, kept] = ["a".repeat(64), "b".repeat(64)];
    await store.audit([
      anAuditEntry(aRun(), { digest: gone, text: "first" }),
      anAuditEntry(aRun(), { digest: kept, text: "second" }),
      anAuditEntry(aRun(), { what: "redacted", digest: gone, reason: `not "digest":"${kept}"` }),
    ]);
    await outside(`delete from audit_texts where digest = '${gone}'`);
    await expect(outside(`delete from audit_texts where digest = '${kept}'`)).rejects.toThrow("append-only");
  });

  test("cannot be written without the lock that orders it", async () => {
    const store = await aStore();
    await outside("delete from audit_lock");
    await expect(store.audit([anAuditEntry(aRun())])).rejects.toThrow("the lock of the audit");
    expect(await store.auditHead()).toBeNull();
  });
});

describe("writers that conflict", () => {
  beforeEach(async () => migrate(await aDatabase(), POSTGRES));

  test.each(["40001", "40P01", "23505"])(
    "try again after %s, and leave no trace of the failed try",
    async (code) => {
      let tries = 0;
      const answer = await write<string>(await aDatabase(), async (trx) => {
        tries += 1;
        await trx
          .insertInto("documents")
          .values({ name: `try ${tries}`, doc: "{}" })
          .execute();
        if (tries < 3) await sql.raw(`do $$ begin raise sqlstate '${code}'; end $$`).execute(trx);
        return "done";
      });
      expect(answer).toBe("done");
      expect(await documents()).toEqual(["try 3"]);
    },
  );

  test("give up in the end, and nothing was applied", async () => {
    const db = await aDatabase();
    await put(db, "taken");
    await expect(put(db, "taken")).rejects.toMatchObject({ name: "PortError", applied: "no" });
    expect(await documents()).toEqual(["taken"]);
  });

  test("and deadlock both succeed in the end", async () => {
    const db = await aDatabase();
    for (const name of ["a", "b"]) await put(db, name);
    const holders = new Set<string>();
    const bothHold = Promise.withResolvers<void>();
    const both = (first: string, second: string) =>
      write<string>(db, async (trx) => {
        const update = (name: string) =>
          trx
            .updateTable("documents")
            .set({ doc: `"${first}"` })
            .where("name", "=", name);
        await update(first).execute();
        if (holders.add(first).size === 2) bothHold.resolve();
        await bothHold.promise;
        await update(second).execute();
        return "done";
      });
    expect(await Promise.all([both("a", "b"), both("b", "a")])).toEqual(["done", "done"]);
    const docs = await outside("select distinct doc from documents");
    expect(docs).toHaveLength(1);
  });

  test("an error of the server is reported without the values of the row", async () => {
    const db = await aDatabase();
    await expect(
      db
        .insertInto("documents")
        .values({ name: "a", doc: null as never })
        .execute(),
    ).rejects.not.toHaveProperty("detail");
  });
});

describe("a statement that takes too long", () => {
  beforeEach(async () => migrate(await aDatabase(), POSTGRES));
  const slowly = (db: Database) =>
    write(db, async (trx) => void (await sql`select pg_sleep(30)`.execute(trx)));

  test("is ended by the server", async () => {
    const db = await aDatabase(QUICK);
    await expect(slowly(db)).rejects.toMatchObject({ applied: "no", code: "store_slow" });
    expect(await put(db, "after")).toBe("put");
  });

  test("is abandoned with its connection if the server does not end it, also outside transactions", async () => {
    const db = await aDatabase({ ...PATIENT, answerMs: 1_000 });
    await expect(slowly(db)).rejects.toMatchObject({ applied: "no", code: "store_down" });
    await expect(sql`select pg_sleep(30)`.execute(db)).rejects.toThrow("no answer within 1000 ms");
    expect(await put(db, "after")).toBe("put");
  });

  test("a transaction that is left open is ended, and its locks are released", async () => {
    const db = await aDatabase(QUICK);
    const idle = write<string>(db, async (trx) => {
      await trx.insertInto("documents").values({ name: "idle", doc: "{}" }).execute();
      await expect.poll(() => outside(OPEN_TRANSACTIONS)).toEqual([]);
      await trx.insertInto("documents").values({ name: "later", doc: "{}" }).execute();
      return "put";
    });
    await expect(idle).rejects.toMatchObject({ applied: "no" });
    expect(await put(db, "idle")).toBe("put");
  });
});

describe("a connection that breaks", () => {
  beforeEach(async () => migrate(await aDatabase(), POSTGRES));

  test("in the middle of a transaction undoes it, and the next transaction has another connection", async () => {
    const db = await aDatabase();
    const broken = write<string>(db, async (trx) => {
      await trx.insertInto("documents").values({ name: "a", doc: "{}" }).execute();
      await cutAll();
      await trx.insertInto("documents").values({ name: "b", doc: "{}" }).execute();
      return "put";
    });
    await expect(broken).rejects.toMatchObject({ applied: "no", code: "store_down" });
    expect(await put(db, "c")).toBe("put");
    expect(await documents()).toEqual(["c"]);
  });

  test("during the commit leaves it open whether it was applied", async () => {
    const db = await aDatabase();
    await outside(
      "create function slow() returns trigger language plpgsql as 'begin perform pg_sleep(30); return null; end'",
    );
    await outside(
      "create constraint trigger slow after insert on documents deferrable initially deferred for each row execute function slow()",
    );
    const committing = put(db, "a");
    committing.catch(() => undefined);
    const sleeping =
      "select 1 from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()";
    await expect.poll(() => outside(sleeping)).toHaveLength(1);
    await cutAll();
    await expect(committing).rejects.toMatchObject({ applied: "maybe", retry: "later" });
  });

  test("a commit that the server refuses was certainly not applied", async () => {
    const db = await aDatabase();
    await outside(
      "create function no() returns trigger language plpgsql as 'begin raise sqlstate ''23514''; end'",
    );
    await outside(
      "create constraint trigger no after insert on documents deferrable initially deferred for each row execute function no()",
    );
    await expect(put(db, "a")).rejects.toMatchObject({ applied: "no" });
  });

  test("work that is rolled back returns its answer and leaves nothing", async () => {
    const db = await aDatabase();
    const answer = await write<string>(db, async (trx) => {
      await trx.insertInto("documents").values({ name: "a", doc: "{}" }).execute();
      return new Undo("lost");
    });
    expect([answer, await documents()]).toEqual(["lost", []]);
  });
});

test("a statement waits for the server while it restarts", async () => {
  const db = await aDatabase(PATIENT);
  await migrate(db, POSTGRES);
  await server.kill();
  expect(await Promise.all([put(db, "waited"), server.start()])).toContain("put");
  expect(await documents()).toEqual(["waited"]);
});

test("a statement does not wait for ever for a server that is away", async () => {
  const db = await aDatabase({ ...PATIENT, awayMs: 200 });
  await server.kill();
  onTestFinished(() => server.start());
  await expect(put(db, "waited")).rejects.toMatchObject({ applied: "no", code: "store_down" });
});

test("after a restart of the server the store works again, and nothing that was acknowledged is lost", async () => {
  const store = await aStore();
  await store.renew(Date.now(), 30_000);
  const run = aRun();
  await store.insert(run, { audit: [anAuditEntry(run)] });
  await server.kill();
  await server.start();
  expect((await store.load(run.key))?.run).toMatchObject(run);
  expect(await store.save({ run, revision: 1 }, run, { audit: [anAuditEntry(run)] })).toBe("saved");
  expect(await store.walkAudit()).toBeNull();
});

test("a server that accepts no writes, such as a standby, fails the health check of the store", async () => {
  const store = await aStore();
  await store.ping();
  await outside(`alter database ${new URL(url).pathname.slice(1)} set default_transaction_read_only = on`);
  await cutAll();
  // Until the store notices that its connection was cut, a check fails for that reason.
  const check = (): Promise<unknown> =>
    store.ping().then(
      () => null,
      (error: PortError) => [error.code, error.applied],
    );
  await expect.poll(check).toEqual(["store_readonly", "no"]);
});
