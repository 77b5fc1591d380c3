// Stores the newest monotonic time. The clock of the next process continues from there, so that no stored wait lasts longer than intended,
// even if the wall clock was set back in between.

import { sql } from "kysely";
import type { Database, Trx } from "./database.ts";
import type { Engine } from "./schema.ts";

/** A separate document, because every renewal writes it, even while no run changes. */
const NAME = "newest-time";

/** Never lowers what is stored, because the clock of another replica may be ahead. Replaces what is too short or too long for a time. */
export async function keepTime(trx: Trx, now: number): Promise<void> {
  const doc = JSON.stringify(now);
  // Compared as texts, because a cast of a damaged document would end the renewal with an error. All times until 2286 are equally long.
  const anotherLength = sql<boolean>`documents.doc not like ${"_".repeat(doc.length)}`;
  await trx
    .insertInto("documents")
    .values({ name: NAME, doc })
    .onConflict((conflict) =>
      conflict
        .column("name")
        .doUpdateSet({ doc })
        .where((eb) => eb.or([anotherLength, eb("documents.doc", "<", doc)])),
    )
    .execute();
}

/**
 * Resolves to the newest stored time, or to 0 for an empty database of one process. Replicas start at the time of their database, so that
 * a stored wait means the same to all of them.
 */
export async function newestTime(db: Database, timeOf: Engine["timeOf"]): Promise<number> {
  const kept = await db.selectFrom("documents").select("doc").where("name", "=", NAME).executeTakeFirst();
  const saved = await db
    .selectFrom("runs")
    .select((eb) => eb.fn.max("changed_at").as("at"))
    .executeTakeFirst();
  const inDatabase = await timeIn(db, timeOf);
  return Math.max(numberOf(kept?.doc), numberOf(saved?.at), inDatabase);
}

/**
 * An answer that takes longer than this (ms) is too inexact, so we ask again. If a replica's clock is behind, another replica would end its
 * holds too early.
 */
const SLOW_MS = 5;
const MAX_TRIES = 5;

/**
 * Resolves to the database's time at the moment of the return. It is exact to half the duration of the fastest answer. Resolves to 0 if the
 * engine has no time of its own.
 */
async function timeIn(db: Database, timeOf: Engine["timeOf"]): Promise<number> {
  let best = { at: 0, tookMs: Infinity, answeredAt: 0 };
  for (let tries = 0; tries < MAX_TRIES && best.tookMs > SLOW_MS; tries += 1) {
    const askedAt = performance.now();
    const at = await timeNow(db, timeOf);
    const answeredAt = performance.now();
    if (at === 0) return 0;
    if (answeredAt - askedAt < best.tookMs) best = { at, tookMs: answeredAt - askedAt, answeredAt };
  }
  return Math.round(best.at + best.tookMs / 2 + performance.now() - best.answeredAt);
}

/** Resolves to 0 if the engine has no time of its own. */
export async function timeNow(db: Database, timeOf: Engine["timeOf"]): Promise<number> {
  const { rows } = await sql<{ at: number }>`select ${timeOf(0)} as at`.execute(db);
  return numberOf(rows[0]?.at);
}

function numberOf(value: unknown): number {
  const number = Number(value ?? 0);
  return Number.isFinite(number) ? number : 0;
}
