// The database of a world: a SQLite file, or a database on a PostgreSQL server that this test file starts.

import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll } from "vitest";
import { type AuditKey, auditKeyOf, readAuditKey } from "#src/adapters/store/audit-key.ts";
import { type PostgresServer, startPostgres } from "./postgres.ts";

type Row = Record<string, unknown>;

export type WorldDatabase = {
  /** The value of DATABASE_URL. */
  readonly url: string;
  /** The argument for `openAuditFile`. */
  readonly place: string;
  /** The variables that a bot needs in addition to the URL. */
  readonly env: { readonly [name: string]: string };
  /** The audit key. Null if no bot has created one yet. */
  key(): AuditKey | null;
  /** Returns everything that is stored, to be searched. */
  stored(): Promise<string>;
  /** Returns the result of a query, which must be valid for both engines. */
  rows(query: string): readonly Row[];
  /** Runs a statement, bypassing the bot, and resolves to its rows. It must be valid for both engines. */
  readonly sql: (statement: string) => Promise<readonly Row[]>;
  /** Removes the append-only rules. */
  dropRules(): Promise<void>;
  remove(): Promise<void>;
};

/** Enough for eight worlds at a time, each with a bot that opens up to eleven connections. */
const SETTINGS = ["max_connections=200"];

let usesPostgres = process.env["TEST_STORE"] === "postgres";
let server: PostgresServer | null = null;

/** Makes the worlds of this file use PostgreSQL. Must be called before the first world is created. */
export function usePostgres(): void {
  usesPostgres = true;
  beforeAll(async () => {
    server = await startPostgres({ settings: SETTINGS });
  });
  afterAll(() => server?.stop());
}

if (usesPostgres) usePostgres();

export function createDatabase(): Promise<WorldDatabase> {
  if (!usesPostgres) return Promise.resolve(createFile());
  if (server === null)
    throw new Error("the PostgreSQL server of this file has not started yet, or has already stopped");
  return createOn(server);
}

function createFile(): WorldDatabase {
  const path = join(tmpdir(), `countersign-${randomBytes(8).toString("hex")}.db`);
  const written = ["", "-wal", "-shm"].map((ending) => path + ending);
  return {
    url: `sqlite:${path}`,
    place: path,
    env: {},
    key: () => readAuditKey(path),
    stored: () =>
      Promise.resolve(
        written
          .filter((each) => existsSync(each))
          .map((each) => readFileSync(each, "latin1"))
          .join(""),
      ),
    rows: (query) => onFile(path, (raw) => raw.prepare(query).all()),
    sql: (statement) => Promise.resolve(onFile(path, (raw) => raw.prepare(statement).all())),
    dropRules: () =>
      Promise.resolve(
        onFile(path, (raw) => {
          for (const { name } of raw.prepare("select name from sqlite_schema where type = 'trigger'").all())
            raw.exec(`drop trigger ${String(name)}`);
        }),
      ),
    async remove() {
      for (const each of [...written, `${path}.audit-key`]) await rm(each, { force: true });
    },
  };
}

function onFile<Answer>(path: string, work: (raw: DatabaseSync) => Answer): Answer {
  const raw = new DatabaseSync(path);
  try {
    return work(raw);
  } finally {
    raw.close();
  }
}

/** Runs a query synchronously with psql, because tests query within probes that cannot wait. */
function rowsNow(url: string, query: string): readonly Row[] {
  const asked = `select coalesce(json_agg(found), '[]') from (${query}) found`;
  const said = execFileSync("psql", ["-XAtq", "-d", url, "-c", asked], { encoding: "utf8" });
  return JSON.parse(said) as Row[];
}

/** Returns the text as an SQL literal. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

async function createOn({ database, run }: Pick<PostgresServer, "database" | "run">): Promise<WorldDatabase> {
  const url = await database();
  const key = randomBytes(32).toString("base64");
  return {
    url,
    place: url,
    env: { AUDIT_KEY: key },
    key: () => auditKeyOf(key),
    stored: async () => {
      const tables = await run(url, "select tablename from pg_tables where schemaname = 'public'");
      const rows = await Promise.all(
        tables.map(({ tablename }) => run(url, `select t::text as row from "${String(tablename)}" t`)),
      );
      return rows.flatMap((each) => each.map(({ row }) => String(row))).join("\n");
    },
    rows: (query) => rowsNow(url, query),
    sql: (statement) => run(url, statement),
    dropRules: async () => {
      for (const table of ["audit", "audit_texts"])
        await run(url, `alter table ${table} disable trigger user`);
    },
    // The database is removed with its server.
    remove: () => Promise.resolve(),
  };
}
