// The schema, as a list of migration steps. A released step is never edited: every change is a new step.
// The first release is 0.2.0; until then the first step is edited in place.
// Replicas of an older release leave a new column unset until they stop, so it needs a default that is right for their rows.
// Both engines read the same text, so keys are text, times are bigint (ms since 1970), and documents are JSON in text.

import { type Expression, sql } from "kysely";
import { SHARDS } from "../../domain/ids.ts";
import type { Database } from "./database.ts";

/** The SQL in which the engines differ. */
export type Engine = {
  /** Statements that make the engine itself refuse to change or remove rows of the table. */
  readonly appendOnly: (table: string) => readonly string[];
  /** The same for the audit's texts, except that a text can be deleted once an entry says that it was erased. */
  readonly textsAppendOnly: readonly string[];
  /** For a transaction that archives old entries. They can be deleted between these statements. A signed entry records that. */
  readonly removing: { readonly begin: readonly string[]; readonly end: readonly string[] };
  /** The time by which leases are measured (ms): the time of the only process, or the database's own time if there are several. */
  readonly timeOf: (now: number) => Expression<number>;
  /**
   * Makes other migrating processes wait until this transaction ends, and limits how long it waits for a table. Null if there can be no other
   * process.
   */
  readonly lockSchema: string | null;
  /** Selects the names of the tables, and of whatever else could stand in their way. */
  readonly tables: string;
};

/** The SQL statements of one step. */
export type Step = (engine: Engine) => readonly string[];

/** The n-th step leads to schema version n. */
export const MIGRATIONS: readonly Step[] = [firstSchema, sharedOut, findPrecedents];

/** The version that a start migrates to. */
export const NEWEST_SCHEMA = MIGRATIONS.length;

function firstSchema(engine: Engine): readonly string[] {
  const runs = [RUNS, ...RUN_INDEXES, OWNERS, ...PAPERS, DOCUMENTS];
  const audit = [AUDIT, ...engine.appendOnly("audit"), ...AUDIT_INDEXES];
  const texts = [AUDIT_TEXTS, ...engine.textsAppendOnly];
  return [...runs, ...audit, ...texts, ...NOTIFICATIONS, ...SEEN_REQUESTS];
}

const RUNS = `create table runs (
  key text primary key not null,  -- ours, from before the service has named the run
  service_run_id text unique,     -- the service's id, once it has given one: a run is watched only once
  team text not null,             -- Slack workspace,
  channel text not null,          --   channel
  requester text not null,        --   and person that the run belongs to
  revision bigint not null,       -- raised by every save and every claim; a writer must name the one it read (fence)
  finished integer not null,      -- 1: nothing is to be done, awaited or asked for any more
  pending integer not null,       -- how many approvals wait for a decision or are held
  holder text,                    -- the owner that looks after the run, while that owner's lease lasts; null: to be claimed
  created_at bigint not null,     -- when it was stored first (monotonic clock, as engine/clock.ts has it)
  changed_at bigint not null,     -- when it was saved last (the same)
  doc_version integer not null,   -- how doc is written
  audit_seq bigint,               -- the newest entry about the run, and its link: what of the audit the run can vouch for
  audit_link text,
  doc text not null,              -- the whole run (domain/run.ts) as JSON; the columns above are derived from it
  seal text not null              -- seals.ts: MAC over the key, what is derived and doc
)`;

const RUN_INDEXES = [
  "create index runs_by_channel on runs (channel, created_at)",
  "create index runs_by_work on runs (holder) where finished = 0",
  "create index runs_by_pending on runs (created_at) where pending > 0",
];

/** Divides runs among processes by the hash of their channel. A row from before this step gets its shard at its next save. */
function sharedOut(): readonly string[] {
  const ids = Array.from({ length: SHARDS }, (_, id) => `(${id})`);
  const shards = [SHARDS_TABLE, `insert into shards (id) values ${ids.join(", ")}`];
  return [...shards, RUN_SHARD, RUNS_TO_CLAIM, ...AUDIT_LOCK];
}

const SHARDS_TABLE = `create table shards (
  id integer primary key not null,  -- 0 to 255 (domain/ids.ts, shardOf)
  holder text                       -- the owner that looks after the shard's runs, while that owner's lease lasts
)`;

const RUN_SHARD = "alter table runs add column shard integer not null default 0";
const RUNS_TO_CLAIM = "create index runs_to_claim on runs (shard) where finished = 0 and holder is null";

/** A lease belongs to an owner, not to a run: one short row renews ten thousand runs. */
const OWNERS = `create table owners (
  owner text primary key not null,  -- one process that has the store open
  until bigint not null             -- when its lease lapses, and with it its hold on every run
)`;

/** `approval` is our id (`Approval.id`), which differs from the service's if the service reused its own. A released step keeps its text. */
const PAPERS = [
  `create table buttons (
    nonce text primary key not null,  -- the value of the Approve and Deny buttons of one version of one card
    run text not null references runs (key) on delete cascade,
    approval text not null,           -- the service's approval id
    version integer not null,         -- of the card; older versions stay, so that a late click is understood
    seal text not null                -- seals.ts: MAC over the columns above
  )`,
  "create index buttons_by_run on buttons (run)",
  `create table forms (
    nonce text primary key not null,  -- what an opened form carries
    run text not null references runs (key) on delete cascade,
    opened_at bigint not null,
    doc_version integer not null,     -- how doc is written
    doc text not null,                -- the ticket as JSON: who opened it, for which version, and what it showed
    seal text not null                -- seals.ts: MAC over the columns above
  )`,
  "create index forms_by_run on forms (run)",
  `create table long_texts (
    owner text not null,              -- the key of the run or the nonce of the form whose doc names the text
    digest text not null,             -- SHA-256 of the text; stands in doc in its place, so that the seal covers it
    run text not null references runs (key) on delete cascade,
    text text not null,
    primary key (owner, digest)
  )`,
  "create index long_texts_by_run on long_texts (run)",
  `create table intentions (
    intention text primary key not null,  -- the slash command or form that asked for the run
    run text not null references runs (key) on delete cascade
  )`,
  "create index intentions_by_run on intentions (run)",
];

/** References no other table, because the audit stays when a run is deleted. `approval` is our id here, too. */
const AUDIT = `create table audit (
  seq bigint primary key not null,  -- order of writing, without gaps; given by us, as the link is taken of it
  at bigint not null,               -- when it happened
  what text not null,               -- audit/entry.ts names the kinds
  run text,                         -- key of the run,
  run_id text,                      --   the service's id of it,
  approval text,                    --   the service's approval id
  by_user text,                     --   and the person, where the entry is about one
  entry text not null,              -- the whole entry as canonical JSON; the columns above are derived from it
  link text not null,               -- domain/audit/hash-chain.ts: SHA-256 over the link before and this entry
  key text not null,                -- names the key that signed,
  signature text not null           --   and its signature of the link
)`;

const AUDIT_INDEXES = [
  "create index audit_by_run on audit (run, approval, seq)",
  "create index audit_by_what on audit (what, seq)",
  "create index audit_by_run_id on audit (run_id)",
];

/** Holds one row. Each transaction that appends to the audit changes it first, so other writers wait until that transaction ends. */
const AUDIT_LOCK = [
  `create table audit_lock (
    taken bigint not null  -- how often
  )`,
  "insert into audit_lock (taken) values (0)",
];

/** Adds the column that finds earlier decisions on the same request. Entries of releases without this step are not found. */
function findPrecedents(): readonly string[] {
  return [
    "alter table audit add column asked text", // domain/audit/verify-chain.ts: verdict and digest, derived from the entry
    "create index audit_by_asked on audit (asked, seq) where asked is not null",
  ];
}

/** Holds one row for each digest, no matter how many entries name it. */
const AUDIT_TEXTS = `create table audit_texts (
  digest text primary key not null,  -- SHA-256 of
  text text not null                 --   a request in full, as canonical JSON: run id, approval id, all that the service sent
)`;

/** Messages that follow from the audit and belong to no run's thread. */
const NOTIFICATIONS = [
  `create table notifications (
  id text primary key not null,  -- a nonce; the value of the notification's button
  kind text not null,            -- receipt, dispute, head
  entry bigint not null,         -- number of the audit entry that it tells of
  to_id text not null,           -- a person or a channel
  made_at bigint not null,
  to_do integer not null,        -- 1: it is to be sent, or looked for
  disputed integer not null,     -- 1: its person has said "This was not me"
  post text not null,            -- domain/posted-message.ts as JSON: how far it got
  unique (kind, entry, to_id)
)`,
  "create index notifications_to_do on notifications (made_at) where to_do = 1",
];

const DOCUMENTS = `create table documents (
  name text primary key not null,  -- small things that are loaded and saved whole
  doc text not null                -- JSON
)`;

/** The signed requests that we have accepted, kept while their signatures are valid. */
const SEEN_REQUESTS = [
  `create table seen_requests (
    mark text primary key not null,  -- SHA-256 of the signature: it says which request, and is worth nothing to a thief
    at bigint not null               -- when it came
  )`,
  "create index seen_requests_by_age on seen_requests (at)",
];

const SCHEMA_VERSION = `create table schema_version (
  version integer not null  -- one row: how many steps of the schema have been taken
)`;

/**
 * Migrates the schema to the newest version, all steps or none. Resolves to whether the database was empty. Rejects if another program or a
 * newer one has written the database.
 */
export function migrate(db: Database, engine: Engine, steps: readonly Step[] = MIGRATIONS): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    if (engine.lockSchema !== null) await sql.raw(engine.lockSchema).execute(trx);
    const wasEmpty = await isEmpty(trx, engine);
    if (wasEmpty) await sql.raw(SCHEMA_VERSION).execute(trx);
    const version = await versionOf(trx);
    if (version > steps.length) throw newerSchema(version, steps.length);
    if (version === steps.length) return wasEmpty;
    for (const step of steps.slice(version))
      for (const statement of step(engine)) await sql.raw(statement).execute(trx);
    await trx.deleteFrom("schema_version").execute();
    await trx.insertInto("schema_version").values({ version: steps.length }).execute();
    return wasEmpty;
  });
}

/** The database is not what this program needs. The message says what it is instead. */
export class WrongDatabase extends Error {}

/** Throws that there is nothing in the database. */
export function refuseAsEmpty(): never {
  throw new WrongDatabase(EMPTY);
}

export const FOREIGN = "it is the database of another program";
const EMPTY =
  "it is empty: Countersign has written nothing to it yet. Correct DATABASE_URL, or put the database or a backup back. If no bot has used it before, the first start fills it";

/** Only Countersign has tables of these names. Other programs have `runs`, `audit` or `schema_version` too. */
const ONLY_OURS = ["audit_texts", "seen_requests"];

/** Resolves to whether there is no table yet. Rejects if another program has made the tables. */
async function isEmpty(db: Database, engine: Engine): Promise<boolean> {
  const { rows } = await sql<{ name: string }>`${sql.raw(engine.tables)}`.execute(db);
  const names = new Set(rows.map(({ name }) => name));
  if (names.size === 0) return true;
  if (names.has("schema_version") && ONLY_OURS.some((name) => names.has(name))) return false;
  throw new WrongDatabase(FOREIGN);
}

/**
 * Changes nothing. Resolves to "missing" if the first start creates the tables. Rejects if another program or a newer one has written the
 * database.
 */
export async function schemaState(db: Database, engine: Engine): Promise<"missing" | "older" | "current"> {
  if (await isEmpty(db, engine)) return "missing";
  const version = await versionOf(db);
  if (version > MIGRATIONS.length) throw newerSchema(version, MIGRATIONS.length);
  return version < MIGRATIONS.length ? "older" : "current";
}

/** For commands that write but migrate nothing. Rejects if the schema is not the newest. */
export async function refuseOtherSchema(db: Database, engine: Engine): Promise<void> {
  if ((await schemaState(db, engine)) === "current") return;
  await refuseEmpty(db, engine);
  const schemas = `schema ${await versionOf(db)}; this program writes ${MIGRATIONS.length}`;
  throw new WrongDatabase(
    `an older Countersign has written it (${schemas}): use that version, or start the bot once, which migrates it for good`,
  );
}

/** For readers of what every schema has. Rejects if there is nothing to read, or if another program or a newer one has written it. */
export async function refuseEmpty(db: Database, engine: Engine): Promise<void> {
  if ((await schemaState(db, engine)) === "missing") refuseAsEmpty();
}

/** Resolves to 0 if no step has been applied. */
export async function schemaVersion(db: Database, engine: Engine): Promise<number> {
  return (await isEmpty(db, engine)) ? 0 : versionOf(db);
}

async function versionOf(db: Pick<Database, "selectFrom">): Promise<number> {
  return (await db.selectFrom("schema_version").select("version").executeTakeFirst())?.version ?? 0;
}

function newerSchema(version: number, known: number): Error {
  return new WrongDatabase(
    `a newer Countersign has written it (schema ${version}; this one knows ${known}): start that version`,
  );
}
