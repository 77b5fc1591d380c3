// SQLite compiles a query with a bound limit again for every execution, so limits are written into the text.

import { afterEach, beforeEach, expect, test } from "vitest";
import type { Database } from "#src/adapters/store/database.ts";
import { openSqlite } from "#src/adapters/store/sqlite.ts";

let db: Database;
beforeEach(() => {
  db = openSqlite(":memory:");
});
afterEach(() => db.destroy());

test("the limit of a query stands in its text", () => {
  const { sql, parameters } = db.selectFrom("audit").select("seq").where("seq", ">", 7).limit(200).compile();
  expect(sql).toBe('select "seq" from "audit" where "seq" > ? limit 200');
  expect(parameters).toEqual([7]);
});

test("a limit that is no whole number is bound, so that it cannot change the query", () => {
  const strange = "1; drop table audit" as unknown as number;
  const { sql, parameters } = db.selectFrom("audit").select("seq").limit(strange).compile();
  expect(sql).toBe('select "seq" from "audit" limit ?');
  expect(parameters).toEqual([strange]);
});
