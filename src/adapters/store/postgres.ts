// The server engine: PostgreSQL behind Kysely's own dialect, with time limits on every statement. Only postgres-signals.ts beside it knows the driver too.
// Both load it when it is first needed, because SQLite needs none.
// It keeps no state in a session (no prepared statements, no settings outside a transaction, no session locks), so PgBouncer may stand
// between in transaction mode.

import { readFileSync } from "node:fs";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, sql, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import type { ClientConfig, Pool, PoolClient, types } from "pg";
import { isAway } from "./faults.ts";
import type { Engine } from "./schema.ts";
import type { Database, Tables } from "./database.ts";

/** "CSgn", the number by which we call our lock of the schema. */
const SCHEMA_LOCK = 0x43_53_67_6e;

const refusal = (
  table: string,
): string => `create function ${table}_refuses() returns trigger language plpgsql as $$
  begin raise exception '${table} is append-only'; end
$$`;

/** Row triggers, except for "truncate", which has no rows. */
const refuses = (table: string, ...changes: readonly ("update" | "delete" | "truncate")[]): string[] =>
  changes.map((change) => {
    const each = change === "truncate" ? "statement" : "row";
    return `create trigger ${table}_refuses_${change} before ${change} on ${table} for each ${each} execute function ${table}_refuses()`;
  });

/** In canonical JSON a quotation mark inside a text is escaped, so the pattern finds the field and nothing else. */
const UNLESS_REDACTED = `create function audit_texts_unless_redacted() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from audit where what = 'redacted' and strpos(entry, '"digest":"' || old.digest || '"') > 0)
      then return old; end if;
      raise exception 'audit_texts is append-only';
    end
$$`;

const triggers = (change: "disable" | "enable"): string[] =>
  ["audit", "audit_texts"].map((table) => `alter table ${table} ${change} trigger ${table}_refuses_delete`);

export const POSTGRES: Engine = {
  appendOnly: (table) => [refusal(table), ...refuses(table, "update", "delete", "truncate")],
  textsAppendOnly: [
    refusal("audit_texts"),
    ...refuses("audit_texts", "update", "truncate"),
    UNLESS_REDACTED,
    "create trigger audit_texts_refuses_delete before delete on audit_texts for each row execute function audit_texts_unless_redacted()",
  ],
  removing: {
    begin: triggers("disable"),
    end: triggers("enable"),
  },
  timeOf: () => sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  // Until the end of the transaction. Three replicas that start at once migrate one after the other.
  lockSchema: `select pg_advisory_xact_lock(${SCHEMA_LOCK})`,
  tables: "select table_name as name from information_schema.tables where table_schema = current_schema()",
};

/** The database without the user and the password. */
export function nameOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  return `postgres://${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

/** Milliseconds. */
export type Limits = {
  /** The server ends a statement, and a transaction that is idle, after this time. */
  readonly statementMs: number;
  /** We give a connection up whose answer takes longer. It is for a network that swallows everything. */
  readonly answerMs: number;
};

const WORKING: Limits = { statementMs: 10_000, answerMs: 12_000 };
/** For a migration, and for readers of everything: one statement may go through the whole audit. */
export const PATIENT: Limits = { statementMs: 30 * 60_000, answerMs: 31 * 60_000 };

/** A replica's share of the server's hundred; a transaction takes a few milliseconds. */
const CONNECTIONS = 10;
/** How long to wait for a connection (ms), and for how long in all to try again while the server is away, as at its restart. */
const [CONNECT_MS, AWAY_MS] = [5_000, 3_000];
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 800];

/** Connects with the first statement. Rejects if the URL names files that cannot be read. */
export async function openPostgres(url: string, limits: Limits = WORKING): Promise<Database> {
  const driver = await import("pg");
  const pool = new driver.Pool({
    ...connectionOf(url),
    types: { getTypeParser: parserIn(driver.types) },
    max: CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "countersign",
  });
  // The pool drops an idle connection that breaks. If the server is away, the next query reports it.
  pool.on("error", () => undefined);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: adapted(pool, limits) }) });
}

/** The parts of the URL, which src/config has checked. */
export function connectionOf(url: string): ClientConfig {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url);
  const options = searchParams.get("options");
  const host = searchParams.get("host") ?? decodeURIComponent(hostname).replace(/^\[(.+)\]$/, "$1");
  return {
    host,
    port: Number(port || 5_432),
    user: decodeURIComponent(username),
    database: decodeURIComponent(pathname.slice(1)),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(options === null ? {} : { options }),
    ssl: searchParams.get("sslmode") === "verify-full" ? tls(host, searchParams) : false,
  };
}

/** The driver would leave out the check of the name where the URL has an IP address. */
function tls(host: string, given: URLSearchParams): ConnectionOptions {
  const [ca, cert, key] = ["sslrootcert", "sslcert", "sslkey"].map((name) => fileIn(given, name));
  return {
    ...(ca === null ? {} : { ca }),
    ...(cert === null ? {} : { cert }),
    ...(key === null ? {} : { key }),
    rejectUnauthorized: true,
    checkServerIdentity: (_name, certificate) => checkServerIdentity(host, certificate),
  };
}

function fileIn(given: URLSearchParams, name: string): string | null {
  const file = given.get(name);
  if (file === null || file === "system") return null;
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new Error(`the file of ${name} in its URL cannot be read`, { cause: error });
  }
}

// What PostgreSQL gives as text, and what it cannot hold.

const [INT8, TEXT] = [20, 25];

function parserIn(usual: typeof types) {
  return (oid: number, format?: "text" | "binary"): ((value: string) => unknown) => {
    if (oid === INT8) return wholeNumber;
    if (oid === TEXT) return unescaped;
    return usual.getTypeParser(oid, format) as (value: string) => unknown;
  };
}

/** SQLite's driver refuses greater numbers too. */
function wholeNumber(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new Error("a number in it is too great to be ours");
  return number;
}

/**
 * A text of PostgreSQL cannot hold U+0000, which ids of the service may contain. It is written as U+001A and 0; U+001A itself as
 * U+001A and 1. In JSON both are escaped anyway.
 */
const SUBSTITUTE = "\u001a";

function escaped(value: unknown): unknown {
  if (typeof value !== "string" || !(value.includes("\0") || value.includes(SUBSTITUTE))) return value;
  return value.replaceAll(SUBSTITUTE, `${SUBSTITUTE}1`).replaceAll("\0", `${SUBSTITUTE}0`);
}

const unescaped = (value: string): string =>
  value.replaceAll(`${SUBSTITUTE}0`, "\0").replaceAll(`${SUBSTITUTE}1`, SUBSTITUTE);

// The pool as Kysely sees it: each statement has its time, and a connection that broke or is too late serves no one else.

function adapted(pool: Pool, limits: Limits): PostgresPool {
  return {
    options: {},
    connect: async () => adaptedTo(await connected(pool), limits),
    end: () => pool.end(),
  };
}

/** While the server is away, tries again with growing pauses. Its other replicas do the same, so the pauses are random. */
async function connected(pool: Pool): Promise<PoolClient> {
  const until = performance.now() + AWAY_MS;
  for (let longest = FIRST_PAUSE_MS; ; longest = Math.min(2 * longest, LONGEST_PAUSE_MS)) {
    try {
      return await pool.connect();
    } catch (error) {
      if (!isAway(error) || performance.now() + longest > until) throw withoutValues(error);
      await pause(longest * (0.5 + Math.random() / 2));
    }
  }
}

function adaptedTo(client: PoolClient, limits: Limits): PostgresPoolClient {
  let broken: Error | null = null;
  // Without a listener, a connection that ends between two statements would end the process.
  const onError = (error: Error): void => void (broken ??= error);
  client.on("error", onError);
  const query = async (sql: string, parameters: readonly unknown[]) => {
    if (broken !== null) throw broken;
    try {
      const text = withLimits(sql, limits);
      const answer = client.query(text, parameters.map(escaped));
      return last(await inTime(answer, limits.answerMs));
    } catch (error) {
      if (error instanceof TooLate) broken = error;
      throw withoutValues(error);
    }
  };
  return {
    query: query as PostgresPoolClient["query"],
    release(destroy) {
      client.off("error", onError);
      client.release(destroy === true || broken !== null);
    },
  };
}

/** Settings inside a transaction work behind PgBouncer too; it would refuse them as parameters of the connection. */
function withLimits(sql: string, { statementMs }: Limits): string {
  const begins = sql === "begin" ? "begin isolation level read committed" : sql;
  if (!/^(begin|start transaction)\b/.test(sql)) return sql;
  return `${begins}; set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${statementMs}`;
}

/** Several statements in one text give a list of answers. */
const last = (answer: unknown): unknown => (Array.isArray(answer) ? answer.at(-1) : answer);

class TooLate extends Error {
  readonly code = "ETIMEDOUT";
}

async function inTime<Answer>(answer: Promise<Answer>, ms: number): Promise<Answer> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TooLate(`no answer within ${ms} ms`)), ms);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The server quotes values of the row in these fields of an error, and errors are logged. */
function withoutValues(error: unknown): unknown {
  if (error instanceof Error)
    for (const field of ["detail", "where", "hint", "internalQuery"]) Reflect.deleteProperty(error, field);
  return error;
}
