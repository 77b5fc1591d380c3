import { sql } from "kysely";
import { type Engine, MIGRATIONS } from "./schema.ts";
import type { AuditKey } from "./audit-key.ts";
import type { Database } from "./tables.ts";

/** Brings the schema to the newest version, all steps or none. Rejects when a newer program has written the database. */
export async function migrate(db: Database, engine: Engine, key: AuditKey): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`create table if not exists schema_version (
      version integer not null  -- one row: how many steps of the schema have been taken
    )`.execute(trx);
    const row = await trx.selectFrom("schema_version").select("version").executeTakeFirst();
    const version = row?.version ?? 0;
    if (version > MIGRATIONS.length) throw newerSchema(version);
    if (version === MIGRATIONS.length) return;
    for (const step of MIGRATIONS.slice(version)) {
      for (const work of step(engine))
        await (typeof work === "string" ? sql.raw(work).execute(trx) : work(trx, key));
    }
    await trx.deleteFrom("schema_version").execute();
    await trx.insertInto("schema_version").values({ version: MIGRATIONS.length }).execute();
  });
}

function newerSchema(version: number): Error {
  const schemas = `schema ${version}; this one knows ${MIGRATIONS.length}`;
  return new Error(`a newer Countersign has written it (${schemas}): start that version`);
}
