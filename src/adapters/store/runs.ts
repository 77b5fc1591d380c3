// Inserts runs, saves them whole under their revision, finds and deletes them.

import { sql } from "kysely";
import type { AuditMark } from "../../domain/audit/hash-chain.ts";
import type { RunKey } from "../../domain/ids.ts";
import { type Run, runId } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import type { RunStore, SideWrites, StoredRun } from "../../ports/store.ts";
import { appendAudit } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { holders } from "./leases.ts";
import type { LongTexts } from "./long-texts.ts";
import { fromRow, readable, type Reading, STORED, toRow } from "./run-row.ts";
import { brokenButton, isSealed, type Seals } from "./seals.ts";
import { type Database, inBatches, read, type Trx, Undo, write } from "./database.ts";

type SaveDeps = {
  db: Database;
  owner: string;
  now: () => number;
  key: AuditKey;
  seals: Seals;
  texts: LongTexts;
};

export function createKeepRuns(deps: SaveDeps): Pick<RunStore, "insert" | "save" | "forget"> {
  return {
    insert: (run, sideWrites) => insert(deps, run, sideWrites),
    save: (stored, next, sideWrites = {}) => save(deps, stored, next, sideWrites),
    forget: (before) =>
      write(deps.db, async (trx) => {
        const gone = await trx
          .deleteFrom("runs")
          .where("finished", "=", 1)
          .where("changed_at", "<", before)
          .executeTakeFirst();
        return Number(gone.numDeletedRows);
      }),
  };
}

type Inserted = Awaited<ReturnType<RunStore["insert"]>>;

async function insert(
  { db, owner, now, key, seals, texts }: SaveDeps,
  run: Run,
  sideWrites: SideWrites,
): Promise<Inserted> {
  const at = now();
  const state = { revision: 1, finished: 0, holder: owner, created_at: at, changed_at: at } as const;
  return write<Inserted>(db, async (trx) => {
    const vouched = vouching(run, await appendAudit(trx, sideWrites.audit ?? [], key));
    const packed = texts.pack(vouched);
    const row = { ...toRow(vouched, packed, seals), ...state };
    const inserted = await trx
      .insertInto("runs")
      .values(row)
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    const stored = (inserted.numInsertedOrUpdatedRows ?? 0n) > 0n;
    if (!stored || !(await intend(trx, run.key, sideWrites.intention))) {
      return new Undo({ known: await knownAs(trx, run, sideWrites.intention) });
    }
    await texts.keep(trx, run.key, run.key, packed);
    await writeButtons(trx, run, seals);
    return "stored";
  });
}

type Saved = Awaited<ReturnType<RunStore["save"]>>;
type Conditions = NonNullable<Parameters<RunStore["save"]>[2]>;

async function save(
  { db, owner, now, key, seals, texts }: SaveDeps,
  stored: StoredRun,
  next: Run,
  sideWrites: Conditions,
): Promise<Saved> {
  const at = now();
  const { audit = [], afterAudit = (run: Run) => run } = sideWrites;
  await texts.prepare(next);
  let written: StoredRun = stored;
  const saved = await write<Saved>(db, async (trx) => {
    if (!(await isAsWritten(trx, stored, seals))) return new Undo("lost");
    if (runId(next) !== null && runId(stored.run) === null) await refuseTakenId(trx, next);
    const marks = await appendAudit(trx, audit, key);
    const run = vouching(afterAudit(next, marks), marks);
    const packed = texts.pack(run);
    await texts.keep(trx, next.key, next.key, packed);
    const row = { ...toRow(run, packed, seals), revision: stored.revision + 1 };
    written = { run, revision: row.revision, seal: row.seal };
    const mine = trx.updateTable("runs").where("key", "=", next.key).where("revision", "=", stored.revision);
    let update = mine.set({ ...row, changed_at: at });
    if (sideWrites.finished === true) update = update.set({ finished: 1 });
    if (sideWrites.finished === false) {
      // The process that reopens a finished run becomes its holder, like the process that inserts a run.
      const holder = sql<string | null>`case when finished = 1 then ${owner} else holder end`;
      update = update.set({ finished: 0, holder });
    }
    if (sideWrites.mustHold === true) {
      update = update.where("holder", "=", owner).where((eb) => eb("holder", "in", holders(eb, at)));
    }
    const { numUpdatedRows } = await update.executeTakeFirst();
    if (numUpdatedRows === 0n || !(await intend(trx, next.key, sideWrites.intention)))
      return new Undo("lost");
    await writeButtons(trx, next, seals);
    return "saved";
  });
  if (saved === "saved") sideWrites.onSaved?.(written);
  return saved;
}

/** Loading a run checks the seal of its row. Who did not load it leaves that to the save. */
async function isAsWritten(trx: Trx, { run, seal }: StoredRun, seals: Seals): Promise<boolean> {
  if (seal === undefined) return true;
  const row = await trx.selectFrom("runs").select(STORED).where("key", "=", run.key).executeTakeFirst();
  return row !== undefined && isSealed(row.seal, seal) && isSealed(row.seal, seals.run(row));
}

/** The run remembers its newest entry, so that we notice if the audit is cut off before it. */
function vouching(run: Run, marks: readonly AuditMark[]): Run {
  const last = marks.at(-1);
  return last === undefined ? run : { ...run, audited: { seq: last.seq, link: last.link } };
}

/** False: another run has this intention already. */
async function intend(trx: Trx, run: RunKey, intention: string | undefined): Promise<boolean> {
  if (intention === undefined) return true;
  await trx
    .insertInto("intentions")
    .values({ intention, run })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await runOfIntention(trx, intention)) === run;
}

async function runOfIntention(trx: Trx, intention: string): Promise<RunKey | null> {
  const query = trx.selectFrom("intentions").select("run").where("intention", "=", intention);
  return (await query.executeTakeFirst())?.run ?? null;
}

async function knownAs(trx: Trx, run: Run, intention: string | undefined): Promise<RunKey> {
  const intended = intention === undefined ? null : await runOfIntention(trx, intention);
  if (intended !== null) return intended;
  const same = trx
    .selectFrom("runs")
    .select("key")
    .where((eb) => eb.or([eb("key", "=", run.key), eb("service_run_id", "=", runId(run))]));
  return (await same.executeTakeFirstOrThrow()).key;
}

/** No two of our runs may watch the same run of the service: its approvals would get two cards. */
async function refuseTakenId(trx: Trx, run: Run): Promise<void> {
  const other = await trx
    .selectFrom("runs")
    .select("key")
    .where("service_run_id", "=", runId(run))
    .where("key", "!=", run.key)
    .executeTakeFirst();
  if (other === undefined) return;
  const facts = { applied: "no", retry: "never", code: "run_id_taken" } as const;
  throw new PortError(`the service's run is watched already, as ${other.key}`, facts);
}

async function writeButtons(trx: Trx, run: Run, seals: Seals): Promise<void> {
  const buttons = run.approvals.map(({ nonce, id, version }) => {
    const button = { nonce, run: run.key, approval: id, version };
    return { ...button, seal: seals.button(button) };
  });
  for (const batch of inBatches(buttons)) {
    await trx
      .insertInto("buttons")
      .values(batch)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

// Finds runs by our key, by the service's id, by a button or by channel.

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
  if (filter.asked !== undefined) {
    const [is, who] =
      "by" in filter.asked ? (["=", filter.asked.by] as const) : (["!=", filter.asked.notBy] as const);
    query = query.where("requester", is, who);
  }
  return query.execute();
}
