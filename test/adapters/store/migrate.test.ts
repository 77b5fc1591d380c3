// The steps of the schema: each is taken once, either all missing ones or none.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { unusable } from "#src/adapters/store/faults.ts";
import { openPostgres, POSTGRES } from "#src/adapters/store/postgres.ts";
import { migrate, MIGRATIONS, type Step } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Database } from "#src/adapters/store/database.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";

let server: PostgresServer;
let folder = "";
beforeAll(async () => {
  server = await startPostgres();
  folder = mkdtempSync(join(tmpdir(), "migrate-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

// Without a table that only Countersign has, the database would count as another program's.
const names: Step = () => [
  "create table audit_texts (digest text)",
  "create table names (name text)",
  "insert into names values ('Ana')",
];
const ages: Step = () => ["alter table names add column age integer", "insert into names values ('Ben', 40)"];
const broken: Step = () => ["delete from names", "this is no SQL"];

const people = async (db: Database) => (await sql`select * from names order by name`.execute(db)).rows;
const version = async (db: Database) =>
  (await db.selectFrom("schema_version").select("version").execute())[0]?.version;

describe.each([
  ["SQLite", SQLITE, () => Promise.resolve(openSqlite(join(folder, `${randomUUID()}.db`)))],
  ["PostgreSQL", POSTGRES, async () => openPostgres(await server.database())],
] as const)("%s", (_name, engine, open) => {
  let db: Database;
  beforeEach(async () => void (db = await open()));
  afterEach(() => db.destroy());

  test("an empty database takes all steps", async () => {
    await migrate(db, engine);
    expect(await version(db)).toBe(MIGRATIONS.length);
    await expect(db.selectFrom("audit").selectAll().execute()).resolves.toEqual([]);
  });

  test("an older database takes each missing step once", async () => {
    await migrate(db, engine, [names]);
    await migrate(db, engine, [names, ages]);
    await migrate(db, engine, [names, ages]);
    expect(await version(db)).toBe(2);
    expect(await people(db)).toEqual([
      { name: "Ana", age: null },
      { name: "Ben", age: 40 },
    ]);
  });

  test("when a step fails, no step is taken", async () => {
    await migrate(db, engine, [names]);
    await expect(migrate(db, engine, [names, ages, broken])).rejects.toThrow("syntax error");
    expect(await version(db)).toBe(1);
    expect(await people(db)).toEqual([{ name: "Ana" }]);
  });

  test("a newer database is refused and left unchanged", async () => {
    await migrate(db, engine, [names, ages]);
    await expect(migrate(db, engine, [names])).rejects.toThrow("schema 2; this one knows 1");
    expect(await version(db)).toBe(2);
  });
});

test("while another session reads a table of PostgreSQL for long, no step is taken", async () => {
  const db = await openPostgres(await server.database());
  onTestFinished(() => db.destroy());
  await migrate(db, POSTGRES, [names]);
  const impatient = { ...POSTGRES, lockSchema: POSTGRES.lockSchema?.replace(/\d+$/, "50") ?? null };
  await db.transaction().execute(async (reader) => {
    await sql`lock table names in access share mode`.execute(reader);
    const migrating = migrate(db, impatient, [names, ages]);
    await expect(migrating.catch((error) => Promise.reject(unusable("x", error)))).rejects.toThrow(
      "another session, such as a backup or a report, kept a table locked. Nothing was changed.",
    );
  });
  expect(await version(db)).toBe(1);
  expect(await people(db)).toEqual([{ name: "Ana" }]);
});
