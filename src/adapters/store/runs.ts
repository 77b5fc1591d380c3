// Inserts runs, saves them whole under their revision, and deletes them. find-runs.ts finds them.

import { setImmediate } from "node:timers/promises";
import type { ExpressionBuilder } from "kysely";
import type { AuditPlace } from "../../domain/audit/hash-chain.ts";
import type { RunKey } from "../../domain/ids.ts";
import { type Run, runId } from "../../domain/run.ts";
import { PortError } from "../../ports.ts";
import type { RunStore, SideWrites, StoredRun } from "../../ports/store.ts";
import { appendAudit, isFrozenAfter, takeAuditLock } from "./append-audit.ts";
import type { AuditKey } from "./audit-key.ts";
import { holders, holdsShard } from "./leases.ts";
import type { LongTexts } from "./long-texts.ts";
import { beginningsAndEnds, DISPUTES, stillOpen } from "./open-entries.ts";
import { STORED, toRow } from "./run-row.ts";
import { isSealed, type Seals } from "./seals.ts";
import type { SettledEntries } from "./settled-entries.ts";
import { type Database, inBatches, read, type Tables, type Trx, Undo, write } from "./database.ts";
import { runOfIntention } from "./find-runs.ts";
import type { Signals } from "./postgres-signals.ts";
import type { Engine } from "./schema.ts";

type SaveDeps = {
  db: Database;
  owner: string;
  timeOf: Engine["timeOf"];
  signals: Pick<Signals, "notify">;
  now: () => number;
  key: AuditKey;
  seals: Seals;
  texts: LongTexts;
  noteWritten: SettledEntries["note"];
};

export function createKeepRuns(deps: SaveDeps): Pick<RunStore, "insert" | "save" | "forget"> {
  return {
    insert: (run, sideWrites) => insert(deps, run, sideWrites),
    save: (stored, next, sideWrites = {}) => save(deps, stored, next, sideWrites),
    forget: (before, isStopping) => forget(deps.db, before, isStopping),
  };
}

/**
 * How many runs are deleted before other work gets its turn. Much belongs to a run, SQLite does not let go of the event loop, and PostgreSQL
 * cancels a statement that takes long.
 */
const DELETED_AT_ONCE = 100;

async function forget(db: Database, before: number, isStopping = (): boolean => false): Promise<number> {
  const old = db.selectFrom("runs").where("finished", "=", 1).where("changed_at", "<", before);
  const keys = (await read(() => old.select("key").execute())).map(({ key }) => key);
  const known = await read(() => beginningsAndEnds(db, DISPUTES).execute());
  const [open, newest] = [stillOpen(known, DISPUTES), known.at(-1)?.seq ?? 0];
  let count = 0;
  for (const batch of inBatches(keys, DELETED_AT_ONCE)) {
    if (isStopping()) break;
    // A run may have changed, or a decision may be disputed, since its key was found. No dispute is opened under the lock.
    count += await write(db, async (trx) => {
      await takeAuditLock(trx);
      const later = await beginningsAndEnds(trx, DISPUTES, newest).execute();
      const disputes = stillOpen([...open, ...later], DISPUTES);
      const disputed = new Set(disputes.map(({ run }) => run));
      const keys = batch.filter((key) => !disputed.has(key));
      if (keys.length === 0) return 0;
      const gone = await trx
        .deleteFrom("runs")
        .where("key", "in", keys)
        .where("finished", "=", 1)
        .where("changed_at", "<", before)
        .executeTakeFirst();
      return Number(gone.numDeletedRows);
    });
    await setImmediate();
  }
  return count;
}

type Inserted = Awaited<ReturnType<RunStore["insert"]>>;

async function insert(
  { db, owner, signals, now, key, seals, texts }: SaveDeps,
  run: Run,
  sideWrites: SideWrites,
): Promise<Inserted> {
  const at = now();
  const state = { revision: 1, finished: 0, created_at: at, changed_at: at } as const;
  return write<Inserted>(db, async (trx) => {
    const vouched = vouching(run, await appendAudit(trx, sideWrites.audit ?? [], key));
    const packed = texts.pack(vouched);
    const derived = toRow(vouched, packed, seals);
    const isHolder = await holds(trx, owner, derived.shard);
    const row = { ...derived, ...state, holder: isHolder ? owner : null };
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
    if (!isHolder) await signals.notify(trx);
    return isHolder ? "stored" : "passed-on";
  });
}

type Saved = Awaited<ReturnType<RunStore["save"]>>;
type Conditions = NonNullable<Parameters<RunStore["save"]>[2]>;

async function save(
  { db, owner, timeOf, signals, now, key, seals, texts, noteWritten }: SaveDeps,
  stored: StoredRun,
  next: Run,
  sideWrites: Conditions,
): Promise<Saved> {
  const at = now();
  const { audit = [], afterAudit = (run: Run) => run, noFreezeAfter } = sideWrites;
  await texts.prepare(next);
  let written: StoredRun = stored;
  let places: readonly AuditPlace[] = [];
  const saved = await write<Saved>(db, async (trx) => {
    if (!(await isAsWritten(trx, stored, seals))) return new Undo("lost");
    if (runId(next) !== null && runId(stored.run) === null) await refuseTakenId(trx, next);
    if (noFreezeAfter !== undefined && (await isFrozenAfter(trx, noFreezeAfter))) return new Undo("frozen");
    places = await appendAudit(trx, audit, key);
    const run = vouching(afterAudit(next, places), places);
    const packed = texts.pack(run);
    await texts.keep(trx, next.key, next.key, packed);
    const row = { ...toRow(run, packed, seals), revision: stored.revision + 1 };
    written = { run, revision: row.revision, seal: row.seal };
    const rows = trx.updateTable("runs").where("key", "=", next.key).where("revision", "=", stored.revision);
    let update = rows.set((eb) => ({ ...row, changed_at: at, holder: nextHolder(eb, owner) }));
    if (sideWrites.finished !== undefined) update = update.set({ finished: sideWrites.finished ? 1 : 0 });
    if (sideWrites.mustHold === true) {
      const time = timeOf(at);
      update = update.where("holder", "=", owner).where((eb) => eb("holder", "in", holders(eb, time)));
    }
    const [found] = await update.returning(["holder", "finished"]).execute();
    if (found === undefined) return new Undo(await whyNotSaved(trx, stored));
    if (!(await intend(trx, next.key, sideWrites.intention))) return new Undo("intention-taken");
    await writeButtons(trx, next, seals, stored.run);
    if (found.holder !== null) return "saved";
    if (found.finished === 0) await signals.notify(trx);
    return "passed-on";
  });
  if (saved === "saved" || saved === "passed-on") noteWritten(audit, places);
  if (saved === "saved") sideWrites.onSaved?.(written);
  return saved;
}

/**
 * The holder of a run after this process saves it. This process stays the holder of an unfinished run, and is the holder of a finished one
 * if it holds the shard: a finished run keeps its holder when the shard moves. Otherwise the holder of the shard must claim the run.
 */
function nextHolder(eb: ExpressionBuilder<Tables, "runs">, owner: string) {
  return eb
    .case()
    .when(eb.and([eb("finished", "=", 0), eb("holder", "=", owner)]))
    .then(owner)
    .when(eb.and([eb("finished", "=", 1), holdsShard(eb, owner, eb.ref("runs.shard"))]))
    .then(owner)
    .else(null)
    .end();
}

/** If the revision is unchanged, the save failed because this process does not hold the run. */
async function whyNotSaved(trx: Trx, { run, revision }: StoredRun): Promise<"lost" | "not-held"> {
  const row = await trx.selectFrom("runs").select("revision").where("key", "=", run.key).executeTakeFirst();
  return row?.revision === revision ? "not-held" : "lost";
}

async function holds(trx: Trx, owner: string, shard: number): Promise<boolean> {
  const found = trx.selectFrom("shards").select("id").where("id", "=", shard).where("holder", "=", owner);
  return (await found.executeTakeFirst()) !== undefined;
}

/** Checks the seal of a run that was saved before but not loaded. Loading already checks it. */
async function isAsWritten(trx: Trx, { run, seal }: StoredRun, seals: Seals): Promise<boolean> {
  if (seal === undefined) return true;
  const row = await trx.selectFrom("runs").select(STORED).where("key", "=", run.key).executeTakeFirst();
  return row !== undefined && isSealed(row.seal, seal) && isSealed(row.seal, seals.run(row));
}

/** Records the newest entry in the run, so that we notice if the audit is cut off before it. */
function vouching(run: Run, places: readonly AuditPlace[]): Run {
  const last = places.at(-1);
  return last === undefined ? run : { ...run, audited: { seq: last.seq, link: last.link } };
}

/** Resolves to false if another run already has this intention. */
async function intend(trx: Trx, run: RunKey, intention: string | undefined): Promise<boolean> {
  if (intention === undefined) return true;
  await trx
    .insertInto("intentions")
    .values({ intention, run })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return (await runOfIntention(trx, intention)) === run;
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
  throw new PortError(`the service's run is already watched, as ${other.key}`, facts);
}

/** Writes only new buttons. The save that stored `stored` wrote those of `stored`. */
async function writeButtons(trx: Trx, run: Run, seals: Seals, stored?: Run): Promise<void> {
  const written = new Map(stored?.approvals.map(({ nonce, id, version }) => [nonce, `${version} ${id}`]));
  const added = run.approvals.filter(({ nonce, id, version }) => written.get(nonce) !== `${version} ${id}`);
  const buttons = added.map(({ nonce, id, version }) => {
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
