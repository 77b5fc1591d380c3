// Finds runs by our key, the service's id, a button or a channel.

import { setImmediate } from "node:timers/promises";
import { sql } from "kysely";
import type { RunKey } from "../../domain/ids.ts";
import type { Run } from "../../domain/run.ts";
import type { PortError } from "../../ports.ts";
import type { RunStore, StoredRun } from "../../ports/store.ts";
import { type Database, read } from "./database.ts";
import { fromRow, readable, type Reading, STORED, type StoredRow } from "./run-row.ts";
import { brokenButton, isSealed } from "./seals.ts";

type FindDeps = { db: Database; reading: Reading; onCorrupt: (key: RunKey, error: PortError) => void };

type FindRuns = Pick<
  RunStore,
  "load" | "byRunId" | "byIntention" | "byButton" | "list" | "eachRun" | "channelsInUse"
>;

export function createFindRuns({ db, reading, onCorrupt }: FindDeps): FindRuns {
  const runsOf = (rows: readonly StoredRow[]) => readable(db, rows, reading, onCorrupt);
  return {
    async load(key) {
      const row = await read(() =>
        db.selectFrom("runs").select(STORED).where("key", "=", key).executeTakeFirst(),
      );
      return row === undefined ? null : fromRow(db, row, reading);
    },

    async byRunId(id) {
      const row = await read(() =>
        db.selectFrom("runs").select("key").where("service_run_id", "=", id).executeTakeFirst(),
      );
      return row?.key ?? null;
    },

    byIntention: (intention) => read(() => runOfIntention(db, intention)),

    async byButton(nonce) {
      const row = await read(() =>
        db.selectFrom("buttons").selectAll().where("nonce", "=", nonce).executeTakeFirst(),
      );
      if (row === undefined) return null;
      const { run, approval, version } = row;
      const { seals, findings } = reading;
      if (seals === null || isSealed(row.seal, seals.button(row))) return { run, approval, version };
      findings.report(brokenButton(row));
      return null;
    },

    list: (filter) => firstRuns(db, runsOf, filter),

    async eachRun(only, visit, visitUnreadable = () => undefined) {
      await visitRuns(db, visitingUnreadable(runsOf, visitUnreadable), { only }, visit);
    },

    async channelsInUse() {
      const rows = await read(() => db.selectFrom("runs").select("channel").distinct().execute());
      return rows.map((row) => row.channel);
    },
  };
}

export async function runOfIntention(db: Database, intention: string): Promise<RunKey | null> {
  const query = db.selectFrom("intentions").select("run").where("intention", "=", intention);
  return (await query.executeTakeFirst())?.run ?? null;
}

type RunsOf = (rows: readonly StoredRow[]) => Promise<readonly StoredRun[]>;
type ListFilter = Parameters<RunStore["list"]>[0];
type Filter = Omit<Partial<ListFilter>, "only"> & { only: ListFilter["only"] | "without-id" };

function visitingUnreadable(runsOf: RunsOf, visit: (row: StoredRow) => void): RunsOf {
  return async (rows) => {
    const runs = await runsOf(rows);
    const keys = new Set(runs.map(({ run }) => run.key));
    for (const row of rows) if (!keys.has(row.key)) visit(row);
    return runs;
  };
}

/** How many runs are read before other work gets its turn. Reading one takes about 50 µs, and SQLite does not let go of the event loop. */
const READ_AT_ONCE = 200;

async function firstRuns(db: Database, runsOf: RunsOf, filter: ListFilter): Promise<readonly Run[]> {
  if (filter.channels.length === 0) return [];
  let { limit } = filter;
  for (;;) {
    const runs: Run[] = [];
    const found = await visitRuns(db, runsOf, { ...filter, limit }, (run) => runs.push(run));
    if (runs.length >= filter.limit || found < limit) return runs.slice(0, filter.limit);
    // Unreadable rows must not hide the runs after them. The limit grows by twice their number, because more may follow.
    limit = filter.limit + 2 * (found - runs.length);
  }
}

/** Resolves to the number of runs found, including those that cannot be read. */
async function visitRuns(
  db: Database,
  runsOf: RunsOf,
  filter: Filter,
  visit: (run: Run) => void,
): Promise<number> {
  const query = matching(db, filter);
  const { limit } = filter;
  const found = await read(() => (limit === undefined ? query : query.limit(limit)).select("key").execute());
  const keys = found.map(({ key }) => key);
  for (let first = 0; first < keys.length; first += READ_AT_ONCE) {
    if (first > 0) await setImmediate();
    const batch = keys.slice(first, first + READ_AT_ONCE);
    // The filter applies again, because a run may have changed since its key was found.
    const rows = await read(() => query.where("key", "in", batch).select(STORED).execute());
    for (const { run } of await runsOf(rows)) visit(run);
  }
  return keys.length;
}

function matching(db: Database, filter: Filter) {
  const order = filter.oldestFirst === true ? "asc" : "desc";
  let query = db.selectFrom("runs").orderBy("created_at", order).orderBy("key", order);
  if (filter.channels !== undefined) query = query.where("channel", "in", filter.channels);
  if (filter.only === "unfinished") query = query.where("finished", "=", sql.lit(0));
  if (filter.only === "pending") query = query.where("pending", ">", sql.lit(0)); // a literal, as in the index
  if (filter.only === "without-id") query = query.where("service_run_id", "is", null);
  if (filter.asked !== undefined) {
    query =
      "by" in filter.asked
        ? query.where("requester", "=", filter.asked.by)
        : query.where("requester", "!=", filter.asked.notBy);
  }
  // Last, because SQLite tests conditions in this order, and this one reads whole documents. The `ts` of a message has only digits and a
  // dot, which have no special meaning in LIKE.
  if (filter.names !== undefined) query = query.where("doc", "like", `%${filter.names}%`);
  return query;
}
