// The server engine: PostgreSQL behind Kysely's dialect, with time limits on every statement. Only this file and postgres-signals.ts use
// the driver. They load it when it is first needed, because an installation with SQLite does not need it.
// Sessions hold no state (no prepared statements, no settings outside a transaction, no session locks), so PgBouncer in transaction mode
// works.

import { readFileSync } from "node:fs";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import { setTimeout as pause } from "node:timers/promises";
import { Kysely, sql, PostgresDialect, type PostgresPool, type PostgresPoolClient } from "kysely";
import type { ClientConfig, Pool, PoolClient, types } from "pg";
import { isAway, isReadOnly } from "./faults.ts";
import type { Engine } from "./schema.ts";
import type { Database, Tables } from "./database.ts";

/** The id of our advisory lock on the schema: "CSgn". */
const SCHEMA_LOCK = 0x43_53_67_6e;

/** How long a migration waits for a table (ms). The running replicas' statements wait behind it, and may take 10 s. */
const TABLE_WAIT_MS = 5_000;

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

/** Canonical JSON escapes quotation marks inside texts, so the pattern finds only the field. */
const UNLESS_REDACTED = `create function audit_texts_unless_redacted() returns trigger language plpgsql as $$
  begin
    if exists (select 1 from audit where what = 'redacted' and strpos(entry, '"digest":"' || old.digest || '"') > 0)
      then return old; end if;
      raise exception 'audit_texts is append-only';
    end
$$`;

const triggers = (change: "disable" | "enable"): string[] =>
  ["audit", "audit_texts"].map((table) => `alter table ${table} ${change} trigger ${table}_refuses_delete`);

/**
 * Tables and views, also those that this user may not read, which information_schema leaves out. What an extension has made is not another
 * program's: providers put some into every new database.
 */
const TABLES = `select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
  where nspname = current_schema() and relkind in ('r', 'p', 'f', 'v', 'm') and not exists (
    select 1 from pg_depend where classid = 'pg_class'::regclass and objid = pg_class.oid and deptype = 'e')`;

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
  // Held until the end of the transaction, so replicas that start at the same time migrate one after the other. Only the waits for
  // tables are limited, because another replica's migration may take long.
  lockSchema: `select pg_advisory_xact_lock(${SCHEMA_LOCK}); set local lock_timeout = ${TABLE_WAIT_MS}`,
  tables: TABLES,
};

/** Returns the URL of the database without the user, the password and the parameters. */
export function nameOf(url: string): string {
  const { hostname, port, pathname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  return `postgres://${host}${port === "" ? "" : `:${port}`}${pathname}`;
}

export type Limits = {
  /** The server ends a statement or an idle transaction after this time (ms). */
  readonly statementMs: number;
  /** We abandon a connection if an answer takes longer than this (ms), as on a network that drops packets silently. */
  readonly answerMs: number;
  /** How long to retry in total while the server is away (ms), for example during its restart. */
  readonly awayMs: number;
};

const AWAY_MS = 3_000;
const WORKING: Limits = { statementMs: 10_000, answerMs: 12_000, awayMs: AWAY_MS };
/** For migrations and for commands that read everything: one statement may go through the whole audit. */
export const PATIENT: Limits = { statementMs: 30 * 60_000, answerMs: 31 * 60_000, awayMs: AWAY_MS };

/**
 * With one for the lease and one that listens, a replica has eleven connections. So eight replicas fit into the server's default of a hundred,
 * of which three are for superusers. A transaction takes a few milliseconds.
 */
const CONNECTIONS = 9;
/** How long to wait for a connection (ms). */
const CONNECT_MS = 5_000;
const [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] = [50, 800];

/** Connects only with the first statement. Rejects if the URL names files that cannot be read. */
export async function openPostgres(
  url: string,
  limits: Limits = WORKING,
  connections = CONNECTIONS,
): Promise<Database> {
  const driver = await import("pg");
  const pool = new driver.Pool({
    ...connectionOf(url),
    types: { getTypeParser: parserIn(driver.types) },
    max: connections,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    application_name: "countersign",
  });
  // The pool drops an idle connection that breaks. If the server is away, the next query reports it.
  pool.on("error", () => undefined);
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool: adapted(pool, limits) }) });
}

/**
 * Opens a connection for the lease alone, because all others may be in use by transactions that wait for each other. After three seconds the
 * lease is over, so the connection is closed, and the next extension opens another.
 */
export const openForLease = (url: string): Promise<Database> =>
  openPostgres(url, { ...WORKING, answerMs: 3_000 }, 1);

/** Returns the connection settings in the URL, which src/config has checked. Throws if it names files that cannot be read. */
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

/** Checks the server's name itself, because the driver skips that check if the URL has an IP address. */
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

// Converts values that PostgreSQL sends as text, and texts that it cannot store.

const [INT8, TEXT] = [20, 25];

function parserIn(usual: typeof types) {
  return (oid: number, format?: "text" | "binary"): ((value: string) => unknown) => {
    // A number beyond 2^53 becomes the nearest number in JavaScript. We never write one, so the check of its row reports it.
    if (oid === INT8) return Number;
    if (oid === TEXT) return unescaped;
    return usual.getTypeParser(oid, format) as (value: string) => unknown;
  };
}

/**
 * PostgreSQL's texts cannot contain U+0000, which the service's ids may contain. We write it as U+001A and 0, and U+001A itself as U+001A
 * and 1. JSON escapes both anyway.
 */
const SUBSTITUTE = "\u001a";

function escaped(value: unknown): unknown {
  if (typeof value !== "string" || !(value.includes("\0") || value.includes(SUBSTITUTE))) return value;
  return value.replaceAll(SUBSTITUTE, `${SUBSTITUTE}1`).replaceAll("\0", `${SUBSTITUTE}0`);
}

const unescaped = (value: string): string =>
  value.replaceAll(`${SUBSTITUTE}0`, "\0").replaceAll(`${SUBSTITUTE}1`, SUBSTITUTE);

// Adapts the pool for Kysely: each statement has a time limit, and a connection that broke, answered too late or takes no writes
// is not reused.

function adapted(pool: Pool, limits: Limits): PostgresPool {
  return {
    options: {},
    connect: async () => adaptedTo(await connected(pool, limits), limits),
    end: () => pool.end(),
  };
}

/** Retries with growing pauses while the server is away. The pauses are random, because the other replicas retry too. */
async function connected(pool: Pool, { awayMs }: Limits): Promise<PoolClient> {
  const until = performance.now() + awayMs;
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
      // A server that takes no writes may be a demoted primary. A new connection goes where the address leads now.
      if (error instanceof Error && (error instanceof TooLate || isReadOnly(error))) broken = error;
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

/** Sets the limits inside the transaction. PgBouncer would refuse them as parameters of the connection. */
function withLimits(sql: string, { statementMs }: Limits): string {
  const begins = sql === "begin" ? "begin isolation level read committed" : sql;
  if (!/^(begin|start transaction)\b/.test(sql)) return sql;
  return `${begins}; set local statement_timeout = ${statementMs}; set local idle_in_transaction_session_timeout = ${statementMs}`;
}

/** A text with several statements returns a list of answers. */
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

/** Removes the error fields in which the server quotes values of the row, because errors are logged. */
function withoutValues(error: unknown): unknown {
  if (error instanceof Error)
    for (const field of ["detail", "where", "hint", "internalQuery"]) Reflect.deleteProperty(error, field);
  return error;
}
