import type { Transaction } from "kysely";
import { failed } from "./store-failure.ts";
import type { Database, Tables } from "./tables.ts";

export type Trx = Transaction<Tables>;

/** The work of a transaction returns this to roll its writes back. */
export class Undo<Answer> {
  readonly answer: Answer;
  constructor(answer: Answer) {
    this.answer = answer;
  }
}

/** Runs `work` in one transaction. Rejects with PortError. */
export async function write<Answer>(
  db: Database,
  work: (trx: Trx) => Promise<Answer | Undo<Answer>>,
): Promise<Answer> {
  const trx = await read(() => db.startTransaction().execute());
  let committing = false;
  try {
    const found = await work(trx);
    if (found instanceof Undo) {
      await trx.rollback().execute();
      return found.answer;
    }
    committing = true;
    await trx.commit().execute();
    return found;
  } catch (error) {
    // Some failures have ended the transaction already. The first error is the one that says why.
    if (!trx.isRolledBack)
      await trx
        .rollback()
        .execute()
        .catch(() => undefined);
    throw failed(error, committing ? "maybe" : "no");
  }
}

/** For reads. Rejects with PortError. */
export async function read<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    throw failed(error, "no");
  }
}

/** Rows for one statement: SQLite binds 32,766 values at once, and no row written in batches has more than twelve. */
const ROWS_AT_ONCE = 1_000;

export function* inBatches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let first = 0; first < rows.length; first += ROWS_AT_ONCE)
    yield rows.slice(first, first + ROWS_AT_ONCE);
}
