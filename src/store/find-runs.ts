// Runs found again: by our key, by the service's id, by a button, by channel.

import { sql } from "kysely";
import type { RunKey } from "../core/ids.ts";
import type { PortError, Store } from "../flow/ports.ts";
import { fromRow, readable } from "./run-row.ts";
import type { Database } from "./tables.ts";
import { read } from "./transaction.ts";

type Deps = { db: Database; onCorrupt: (key: RunKey, error: PortError) => void };

type FindRuns = Pick<Store, "load" | "byRunId" | "byButton" | "list" | "channelsInUse">;

export function createFindRuns({ db, onCorrupt }: Deps): FindRuns {
  return {
    async load(key) {
      const row = await read(() =>
        db
          .selectFrom("runs")
          .select(["key", "revision", "doc_version", "doc"])
          .where("key", "=", key)
          .executeTakeFirst(),
      );
      return row === undefined ? null : fromRow(row);
    },

    async byRunId(id) {
      const row = await read(() =>
        db.selectFrom("runs").select("key").where("service_run_id", "=", id).executeTakeFirst(),
      );
      return row?.key ?? null;
    },

    async byButton(nonce) {
      const row = await read(() =>
        db
          .selectFrom("buttons")
          .select(["run", "approval", "version"])
          .where("nonce", "=", nonce)
          .executeTakeFirst(),
      );
      return row ?? null;
    },

    async list(filter) {
      const rows = await read(() => listed(db, filter));
      return readable(rows, onCorrupt).map((stored) => stored.run);
    },

    async channelsInUse() {
      const rows = await read(() => db.selectFrom("runs").select("channel").distinct().execute());
      return rows.map((row) => row.channel);
    },
  };
}

async function listed(db: Database, filter: Parameters<Store["list"]>[0]) {
  if (filter.channels.length === 0) return [];
  let query = db
    .selectFrom("runs")
    .select(["key", "revision", "doc_version", "doc"])
    .where("channel", "in", filter.channels)
    .orderBy("created_at", "desc")
    .orderBy("key", "desc")
    .limit(filter.limit);
  if (filter.only === "unfinished") query = query.where("finished", "=", 0);
  if (filter.only === "pending") query = query.where("pending", ">", sql.lit(0)); // as the index says it
  if (filter.asked !== undefined) {
    const [is, who] =
      "by" in filter.asked ? (["=", filter.asked.by] as const) : (["!=", filter.asked.notBy] as const);
    query = query.where("requester", is, who);
  }
  return query.execute();
}
