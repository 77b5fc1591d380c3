import { DatabaseSync } from "node:sqlite";
import { Kysely, SqliteDialect, type SqliteStatement } from "kysely";
import { expect, test } from "vitest";
import { type Database, type Tables, Undo, write } from "#src/adapters/store/database.ts";
import { PortError } from "#src/ports.ts";

/** A small database. A statement `sql` fails as long as `failing` contains it. */
function aDatabase(failing: Set<string>): { db: Database; names: () => unknown[] } {
  const raw = new DatabaseSync(":memory:");
  raw.exec("create table documents (name text primary key, doc text)");
  function prepare(sql: string): SqliteStatement {
    if (failing.has(sql)) throw Object.assign(new Error("disk I/O error"), { errcode: 10 });
    const statement = raw.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (values) => statement.all(...(values as string[])),
      run: (values) => statement.run(...(values as string[])),
      iterate: (values) => statement.iterate(...(values as string[])),
    };
  }
  const database = { prepare, close: (): void => raw.close() };
  const db = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) });
  return {
    db,
    names: () =>
      raw
        .prepare("select name from documents")
        .all()
        .map((row) => row["name"]),
  };
}

async function put(db: Database, name: string): Promise<string> {
  return write<string>(db, async (trx) => {
    await trx.insertInto("documents").values({ name, doc: "{}" }).execute();
    return "put";
  });
}

test("a commit that fails may have been applied; the next transaction works as usual", async () => {
  const failing = new Set(["commit"]);
  const { db, names } = aDatabase(failing);
  await expect(put(db, "a")).rejects.toMatchObject({ applied: "maybe", retry: "later", code: "store_io" });
  failing.clear();
  expect(await put(db, "b")).toBe("put");
  expect(names()).toEqual(["b"]);
});

test("a failure before the commit was certainly not applied", async () => {
  const { db, names } = aDatabase(new Set());
  await put(db, "a");
  await expect(put(db, "a")).rejects.toMatchObject({ name: "PortError", applied: "no" });
  expect(names()).toEqual(["a"]);
});

test("a transaction that cannot begin was certainly not applied and blocks no other", async () => {
  const failing = new Set(["begin"]);
  const { db, names } = aDatabase(failing);
  await expect(put(db, "a")).rejects.toMatchObject({ applied: "no", code: "store_io" });
  failing.clear();
  await put(db, "b");
  expect(names()).toEqual(["b"]);
});

test("the first error is reported even if the rollback fails too", async () => {
  const { db } = aDatabase(new Set(["commit", "rollback"]));
  await expect(put(db, "a")).rejects.toMatchObject({ applied: "maybe", code: "store_io" });
});

test("work that is rolled back leaves nothing and still returns its answer", async () => {
  const { db, names } = aDatabase(new Set());
  const answer = await write<string>(db, async (trx) => {
    await trx.insertInto("documents").values({ name: "a", doc: "{}" }).execute();
    return new Undo("lost");
  });
  expect(answer).toBe("lost");
  expect(names()).toEqual([]);
});

test("a bug in this program is not reported as a failure of the database", async () => {
  const { db } = aDatabase(new Set());
  const failing = write(db, () => Promise.reject(new TypeError("x is undefined")));
  await expect(failing).rejects.toBeInstanceOf(TypeError);
  await expect(failing).rejects.not.toBeInstanceOf(PortError);
});
