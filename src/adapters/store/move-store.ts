// Moves a stopped installation from a file to an empty PostgreSQL database, all or nothing, in one transaction. Runs, forms and buttons keep
// their seals, and the audit keeps its chain and signatures. Only leases are not moved.

import { ChannelId, shardOf, TeamId } from "../../domain/ids.ts";
import { newest, takeAuditLock } from "./append-audit.ts";
import { type AuditFile, readAudit } from "./audit-file.ts";
import { copyAndHold, type DatabaseCopy } from "./examine-database.ts";
import { Refused, unusable } from "./faults.ts";
import { openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import { migrate } from "./schema.ts";
import { shown } from "./database-copy.ts";
import { openCopy, SQLITE } from "./sqlite.ts";
import { type Database, type Tables, type Trx, write } from "./database.ts";

/** Each table comes after the tables that it refers to. Leases, shards, the audit lock and the schema version belong to each database. */
const MOVED = [
  "runs",
  "buttons",
  "forms",
  "long_texts",
  "intentions",
  "audit",
  "audit_texts",
  "notifications",
  "documents",
  "seen_requests",
] as const satisfies readonly (keyof Tables)[];

type Row = { readonly [column: string]: unknown };

/** The number of moved rows of each table. */
export type Moved = { readonly [table in (typeof MOVED)[number]]: number };

export type Source = AuditFile & {
  /**
   * Resolves to "already" if the target already holds this audit. `check` examines the copy before the commit; if it rejects, nothing is
   * moved. Rejects with one line for the operator.
   */
  moveTo(url: string, check: (there: AuditFile) => Promise<void>): Promise<Moved | "already">;
};

/** Locks out every bot until `close`. Rejects with one line for the operator. */
export async function openSource(file: string): Promise<Source> {
  const copy = await copyAndHold(file);
  try {
    const db = openHeld(copy);
    const close = async (): Promise<void> => {
      await db.destroy();
      copy.remove();
    };
    const audit = await readAudit({ db, engine: SQLITE, close });
    return { ...audit, moveTo: (url, check) => moveTo(db, url, check) };
  } catch (error) {
    throw unusable(file, error);
  }
}

function openHeld({ file, remove }: DatabaseCopy): Database {
  try {
    return openCopy(file);
  } catch (error) {
    remove();
    throw error;
  }
}

async function moveTo(
  from: Database,
  url: string,
  check: (there: AuditFile) => Promise<void>,
): Promise<Moved | "already"> {
  try {
    const to = await openPostgres(url, PATIENT);
    try {
      await migrate(to, POSTGRES);
      return await write(to, (trx) => move(from, trx, check));
    } finally {
      await to.destroy();
    }
  } catch (error) {
    throw unusable(shown(url), error);
  }
}

/** A bot that starts on the target meanwhile waits for the lock before its first entry, and then finds the moved audit. */
async function move(
  from: Database,
  trx: Trx,
  check: (there: AuditFile) => Promise<void>,
): Promise<Moved | "already"> {
  await takeAuditLock(trx);
  const [here, there] = [await newest(from), await newest(trx)];
  if (there !== null && there.link === here?.link) return "already";
  for (const table of MOVED)
    if ((await count(trx, table)) > 0)
      throw new Refused(`it is not empty: it holds an installation, or part of one (${table})`);
  const moved: { [table: string]: number } = {};
  for (const table of MOVED) {
    moved[table] = await copyRows(from, trx, table);
    if ((await count(trx, table)) !== moved[table]) throw new Refused(`rows of ${table} are missing there`);
  }
  await check(await readAudit({ db: trx, engine: POSTGRES, close: () => Promise.resolve() }));
  return moved as Moved;
}

async function count(db: Pick<Database, "selectFrom">, table: (typeof MOVED)[number]): Promise<number> {
  const query = db.selectFrom(table).select(({ fn }) => fn.countAll<number>().as("rows"));
  return (await query.executeTakeFirstOrThrow()).rows;
}

/** The limits of one insert. A row with a request can be megabytes long. */
const [MAX_ROWS, MAX_CHARS] = [500, 4_000_000];

async function copyRows(from: Database, to: Trx, table: (typeof MOVED)[number]): Promise<number> {
  let batch: Row[] = [];
  let [chars, rows] = [0, 0];
  const flush = async (): Promise<void> => {
    if (batch.length > 0) await to.insertInto(table).values(batch).execute();
    rows += batch.length;
    [batch, chars] = [[], 0];
  };
  for await (const row of from.selectFrom(table).selectAll().stream() as AsyncIterable<Row>) {
    batch.push(moving(row, table));
    for (const value of Object.values(row)) chars += typeof value === "string" ? value.length : 0;
    if (batch.length >= MAX_ROWS || chars >= MAX_CHARS) await flush();
  }
  await flush();
  return rows;
}

/**
 * Rounds times: programs before 0.2.0 stored fractions, which SQLite accepts in these columns. Gives runs of these programs their shard, which
 * says which replica follows them. No seal covers either.
 */
function moving(row: Row, table: (typeof MOVED)[number]): Row {
  if (table !== "runs") return row;
  const { created_at, changed_at } = row;
  const [team, channel] = [TeamId(String(row["team"])), ChannelId(String(row["channel"]))];
  return {
    ...row,
    holder: null,
    shard: shardOf({ team, channel }),
    created_at: Math.floor(Number(created_at)),
    changed_at: Math.floor(Number(changed_at)),
  };
}
