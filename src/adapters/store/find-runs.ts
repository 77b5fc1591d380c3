// Finds runs by our key, the service's id, a button or a channel.

import { sql } from "kysely";
import type { RunKey } from "../../domain/ids.ts";
import type { PortError } from "../../ports.ts";
import type { RunStore } from "../../ports/store.ts";
import { type Database, read } from "./database.ts";
import { fromRow, readable, type Reading, STORED } from "./run-row.ts";
import { brokenButton, isSealed } from "./seals.ts";

type FindDeps = { db: Database; reading: Reading; onCorrupt: (key: RunKey, error: PortError) => void };

type FindRuns = Pick<RunStore, "load" | "byRunId" | "byButton" | "list" | "channelsInUse">;

export function createFindRuns({ db, reading, onCorrupt }: FindDeps): FindRuns {
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

    async list(filter) {
      const rows = await read(() => listed(db, filter));
      return (await readable(db, rows, reading, onCorrupt)).map((stored) => stored.run);
    },

    async channelsInUse() {
      const rows = await read(() => db.selectFrom("runs").select("channel").distinct().execute());
      return rows.map((row) => row.channel);
    },
  };
}

async function listed(db: Database, filter: Parameters<RunStore["list"]>[0]) {
  if (filter.channels.length === 0) return [];
  const order = filter.oldestFirst === true ? "asc" : "desc";
  let query = db
    .selectFrom("runs")
    .select(STORED)
    .where("channel", "in", filter.channels)
    .orderBy("created_at", order)
    .orderBy("key", order)
    .limit(filter.limit);
  if (filter.only === "unfinished") query = query.where("finished", "=", 0);
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
  return query.execute();
}
