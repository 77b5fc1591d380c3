import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { SQLITE } from "#src/adapters/store/sqlite.ts";
import { storeContract } from "../../contract/store.ts";
import { LEASE_MS } from "../../contract/store-bench.ts";
import { type Place, sealContract } from "../../contract/store-seals.ts";
import { STATEMENTS_LOGGED, wordsSent } from "../../make/sql-words.ts";
import { type PostgresServer, startPostgres } from "../../make/postgres.ts";
import { aRun } from "../../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ settings: STATEMENTS_LOGGED })));
afterAll(() => server.stop());

storeContract("PostgreSQL", async ({ now }) =>
  openStore({ url: await server.database(), owner: "test", now, auditKey: AUDIT_KEY, timeOf: SQLITE.timeOf }),
);

sealContract("PostgreSQL", async (): Promise<Place> => {
  const url = await server.database();
  return {
    async open({ now }) {
      const times = { now, timeOf: SQLITE.timeOf };
      const store = await openStore({ url, owner: "test", auditKey: AUDIT_KEY, ...times });
      await store.renew(now(), LEASE_MS);
      return store;
    },
    async run(sql, ...values) {
      for (const table of ["audit", "audit_texts"])
        await server.run(url, `alter table ${table} disable trigger user`);
      let nth = 0;
      return server.run(
        url,
        sql.replaceAll("?", () => `$${(nth += 1)}`),
        values,
      );
    },
    remove: () => Promise.resolve(),
  };
});

/** Standard SQL, which every compatible engine has. */
const STANDARD = words(`
  add alter and as before begin between bigint by cascade case cast column commit committed count create default delete desc distinct do
  each else end exists for from if in index insert integer into is isolation join last left like level limit local max min not null on or order
  primary read references rollback row rows select set statement table then truncate unique update values when where
`);

/** Everything else. docs/postgres.md says what each name is for, and what replaces it on an engine without it. */
const LISTED = {
  "on conflict do nothing, or do update": words("conflict nothing"),
  returning: words("returning"),
  triggers: words("trigger function returns language plpgsql raise exception execute return old strpos"),
  "listen and notify": words("listen countersign pg_notify"),
  "an advisory lock": words("pg_advisory_xact_lock"),
  "time limits": words("statement_timeout lock_timeout idle_in_transaction_session_timeout"),
  "the time of the server": words("clock_timestamp extract epoch"),
  "names of tables": words(
    "pg_class relname relnamespace relkind pg_namespace nspname oid current_schema pg_depend classid objid deptype regclass",
  ),
};

/** Aliases for a table that one of our statements names twice. */
const ALIASES = words("dispute");

function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

const NAMES = `
  select table_name as name from information_schema.tables where table_schema = 'public'
  union select column_name from information_schema.columns where table_schema = 'public'
  union select indexname from pg_indexes where schemaname = 'public'
  union select tgname from pg_trigger
  union select proname from pg_proc where pronamespace = 'public'::regnamespace
`;

test("every name sent to the server above is standard SQL or listed, and every listed name was sent", async () => {
  const url = await server.database();
  const store = await openStore({ url, owner: "test", auditKey: AUDIT_KEY });
  // A store notifies the others only once it listens itself.
  await new Promise<void>((heard) => store.onPassedOn(heard));
  await store.insert(aRun(), {});
  await store.close();
  const names = new Set((await server.run(url, NAMES)).map(({ name }) => String(name)));
  const sent = wordsSent(server.log(), names);
  const listed = Object.values(LISTED).flat();
  const known = new Set([...STANDARD, ...ALIASES, ...listed]);
  expect([...sent].filter((word) => !known.has(word))).toEqual([]);
  expect(listed.filter((word) => !sent.has(word))).toEqual([]);
});

test("docs/postgres.md lists the same names", () => {
  const text = readFileSync(new URL("../../../docs/postgres.md", import.meta.url), "utf8");
  const rows = [...text.matchAll(/^\| ([^|]+) \| [^|]+ \| [^|]+ \|$/gm)].map(([, first]) => first?.trim());
  expect(rows.slice(1)).toEqual(Object.keys(LISTED));
});
