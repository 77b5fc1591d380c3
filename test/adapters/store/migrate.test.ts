// The steps of the schema: each is taken once, all that are missing or none.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate, MIGRATIONS, type Step } from "#src/adapters/store/schema.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import type { Database } from "#src/adapters/store/database.ts";

let folder = "";
let db: Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "migrate-"));
  db = openSqlite(join(folder, "countersign.db"));
});
afterEach(async () => {
  await db.destroy();
  rmSync(folder, { recursive: true });
});

const names: Step = () => ["create table names (name text)", "insert into names values ('Ana')"];
const ages: Step = () => ["alter table names add column age integer", "insert into names values ('Ben', 40)"];
const broken: Step = () => ["delete from names", "this is no SQL"];

const people = async () => (await sql`select * from names order by name`.execute(db)).rows;
const version = async () => (await db.selectFrom("schema_version").select("version").execute())[0]?.version;

test("an empty database takes all steps", async () => {
  await migrate(db, SQLITE);
  expect(await version()).toBe(MIGRATIONS.length);
  await expect(db.selectFrom("audit").selectAll().execute()).resolves.toEqual([]);
});

test("an older database takes the steps that it lacks, and each step once", async () => {
  await migrate(db, SQLITE, [names]);
  await migrate(db, SQLITE, [names, ages]);
  await migrate(db, SQLITE, [names, ages]);
  expect(await version()).toBe(2);
  expect(await people()).toEqual([
    { name: "Ana", age: null },
    { name: "Ben", age: 40 },
  ]);
});

test("when a step fails, no step is taken", async () => {
  await migrate(db, SQLITE, [names]);
  await expect(migrate(db, SQLITE, [names, ages, broken])).rejects.toThrow("syntax error");
  expect(await version()).toBe(1);
  expect(await people()).toEqual([{ name: "Ana" }]);
});

test("a newer database is refused and left alone", async () => {
  await migrate(db, SQLITE, [names, ages]);
  await expect(migrate(db, SQLITE, [names])).rejects.toThrow("schema 2; this one knows 1");
  expect(await version()).toBe(2);
});
