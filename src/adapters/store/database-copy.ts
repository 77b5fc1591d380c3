// Reads a database as it is at one moment, while bots may be using it. Changes and migrates nothing: a file is copied, and a server is read in
// one transaction that sees nothing newer.

import { resolve } from "node:path";
import { closedFile, copyDatabase, usedBy } from "./examine-database.ts";
import { isBusy, isDenied, unusable } from "./faults.ts";
import { nameOf, openPostgres, PATIENT, POSTGRES } from "./postgres.ts";
import { refuseUnreadable } from "./refuse-unreadable.ts";
import type { Engine } from "./schema.ts";
import { openCopy, SQLITE } from "./sqlite.ts";
import type { Database } from "./database.ts";

/** `database` is the path of a file, or the URL of PostgreSQL. */
export const isServer = (database: string): boolean => /^postgres(ql)?:\/\//.test(database);

/** Returns the name of the database for messages, without a password. */
export const shown = (database: string): string => (isServer(database) ? nameOf(database) : database);

/** Returns an error with what SQLite's leaves out: which process or which file is in the way. */
export async function unusableDatabase(database: string, error: unknown): Promise<Error> {
  if (isServer(database)) return unusable(nameOf(database), error);
  const file = resolve(database);
  if (isBusy(error)) return unusable(database, error, await usedBy(file));
  return unusable(database, error, isDenied(error) ? closedFile(file) : undefined);
}

/** Throws one line for the operator. A command that writes calls this first, because it would create the file. */
export function refuseMissing(database: string): void {
  if (isServer(database)) return;
  try {
    refuseUnreadable(database);
  } catch (error) {
    throw unusable(database, error);
  }
}

export type Snapshot = {
  readonly db: Database;
  readonly engine: Engine;
  readonly close: () => Promise<void>;
};

/** Rejects with one line for the operator. */
export async function openSnapshot(database: string): Promise<Snapshot> {
  try {
    return await (isServer(database) ? serverSnapshot(database) : fileSnapshot(database));
  } catch (error) {
    throw unusable(shown(database), error);
  }
}

async function fileSnapshot(database: string): Promise<Snapshot> {
  const copy = await copyDatabase(database);
  try {
    const db = openCopy(copy.file);
    const close = async (): Promise<void> => {
      await db.destroy();
      copy.remove();
    };
    return { db, engine: SQLITE, close };
  } catch (error) {
    copy.remove();
    throw error;
  }
}

async function serverSnapshot(url: string): Promise<Snapshot> {
  const db = await openPostgres(url, PATIENT);
  try {
    const begun = db.startTransaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    const trx = await begun.execute();
    const close = async (): Promise<void> => {
      await trx.rollback().execute();
      await db.destroy();
    };
    return { db: trx, engine: POSTGRES, close };
  } catch (error) {
    await db.destroy();
    throw error;
  }
}
