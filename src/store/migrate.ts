import { sql } from "kysely";
import { type Engine, MIGRATIONS, type Step } from "./schema.ts";
import type { Database } from "./tables.ts";

/** Brings the schema to the newest version, all steps or none. Rejects when a newer program has written the database. */
export async function migrate(
  db: Database,
  engine: Engine,
  steps: readonly Step[] = MIGRATIONS,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`create table if not exists schema_version (
      version integer not null  -- one row: how many steps of the schema have been taken
    )`.execute(trx);
    const row = await trx.selectFrom("schema_version").select("version").executeTakeFirst();
    const version = row?.version ?? 0;
    if (version > steps.length) throw newerSchema(version, steps.length);
    if (version === steps.length) return;
    for (const step of steps.slice(version))
      for (const statement of step(engine)) await sql.raw(statement).execute(trx);
    await trx.deleteFrom("schema_version").execute();
    await trx.insertInto("schema_version").values({ version: steps.length }).execute();
  });
}

/** Without changing anything. Rejects when a newer program has written the database. */
export async function schemaState(db: Database): Promise<"older" | "current"> {
  const version = await schemaVersion(db);
  if (version > MIGRATIONS.length) throw newerSchema(version, MIGRATIONS.length);
  return version < MIGRATIONS.length ? "older" : "current";
}

/** For a reader, which changes nothing. Rejects when the schema is not the one that this program knows. */
export async function refuseOtherSchema(db: Database): Promise<void> {
  if ((await schemaState(db)) === "current") return;
  const schemas = `schema ${await schemaVersion(db)}; this program reads ${MIGRATIONS.length}`;
  throw new Error(
    `an older Countersign has written it (${schemas}): start the bot once, which brings it up to date`,
  );
}

/** 0: no step has been taken. */
async function schemaVersion(db: Database): Promise<number> {
  const { rows } = await sql`select 1 from sqlite_schema where name = 'schema_version'`.execute(db);
  if (rows.length === 0) return 0;
  return (await db.selectFrom("schema_version").select("version").executeTakeFirst())?.version ?? 0;
}

function newerSchema(version: number, known: number): Error {
  return new Error(
    `a newer Countersign has written it (schema ${version}; this one knows ${known}): start that version`,
  );
}
