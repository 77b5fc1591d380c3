// Examines what a start would find on a server, without changing it: whether it is usable, and whether it stores durably what it acknowledges.

import { sql } from "kysely";
import { unusable } from "./faults.ts";
import { stateOf } from "./examine-database.ts";
import { openSnapshot, shown } from "./database-copy.ts";
import { liveOwners } from "./leases.ts";
import type { Database } from "./database.ts";

export type ServerState = {
  /** `missing`: the first start creates the tables. `older`: the next start migrates the schema. */
  readonly type: "missing" | "older" | "current";
  /** The version of its schema. 0 if there is none. */
  readonly schema: number;
  /** The id of the key that signed the newest entry of its audit. Null if there is no entry. */
  readonly head: string | null;
  /** The number of processes that use it now. */
  readonly replicas: number;
  /** Reasons why a start would fail, or why acknowledged decisions could be lost. */
  readonly faults: readonly string[];
};

/** Rejects with one line for the operator if the server cannot be reached, or if another program or a newer one wrote the tables. */
export async function examineServer(url: string): Promise<ServerState> {
  const { db, engine, close } = await openSnapshot(url);
  try {
    const state = await stateOf(db, engine);
    const { type } = state;
    const replicas = type === "current" ? (await liveOwners(db)).length : 0;
    const faults = [...(await durabilityFaults(db)), ...(await accessFaults(db, type))];
    return { ...state, replicas, faults };
  } catch (error) {
    throw unusable(shown(url), error);
  } finally {
    await close();
  }
}

/**
 * Finds settings under which the server acknowledges writes before they are on its disk, or before its synchronous standby has them. A
 * compatible server may not know these settings.
 */
async function durabilityFaults(db: Database): Promise<string[]> {
  const asked = ["fsync", "full_page_writes", "synchronous_commit", "synchronous_standby_names"];
  const values = sql.join(asked.map((name) => sql`(${name}::text, current_setting(${name}::text, true))`));
  const { rows } = await sql<{ name: string; value: string | null }>`
    select name, value from (values ${values}) as setting (name, value)`.execute(db);
  const setting = new Map(rows.map(({ name, value }) => [name, value ?? ""]));
  const faults = asked
    .filter((name) => setting.get(name) === "off")
    .map((name) => `the server acknowledges what is not on its disk yet (${name} = off)`);
  const hasStandby = (setting.get("synchronous_standby_names") ?? "") !== "";
  return hasStandby && setting.get("synchronous_commit") === "local"
    ? [...faults, "the server acknowledges what its standby does not have yet (synchronous_commit = local)"]
    : faults;
}

async function accessFaults(db: Database, type: ServerState["type"]): Promise<string[]> {
  const may =
    type === "current"
      ? sql<boolean>`has_table_privilege('runs', 'update') and has_table_privilege('audit', 'insert')`
      : sql<boolean>`has_schema_privilege(current_schema(), 'create')`;
  const { rows } = await sql<{ may: boolean; standby: boolean; closed: string }>`
    select ${may} as may, pg_is_in_recovery() as standby, current_setting('default_transaction_read_only') as closed
  `.execute(db);
  const [found] = rows;
  if (found === undefined || found.standby || found.closed === "on")
    return ["the server takes no writes; it may be a standby"];
  return found.may ? [] : ["the server denies this user a right that Countersign needs"];
}
