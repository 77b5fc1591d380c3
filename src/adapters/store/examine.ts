// Examines what a start would find in the database, without changing it: it creates no file, takes no lock and migrates no schema. It
// reads the content from a copy in the temporary folder.

import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { sql } from "kysely";
import { unusable } from "./store-failure.ts";
import { lockHolder } from "./lock-holder.ts";
import { schemaState } from "./schema.ts";
import { copyDatabase } from "./database-copy.ts";
import { openCopy } from "./sqlite.ts";

export type DatabaseState = {
  /** `missing`: the first start creates it. `older`: the next start migrates its schema. */
  readonly type: "missing" | "older" | "current";
  /** The process that has the file open, where the system says so (Linux). 0: we cannot see its number from here. */
  readonly holder: number | null;
};

/** Rejects with one line for people when a start could not use the database. */
export async function examineDatabase(path: string): Promise<DatabaseState> {
  const file = resolve(path);
  try {
    if (!existsSync(file) || statSync(file).size === 0) {
      accessSync(existsSync(file) ? file : nearestFolder(file), constants.R_OK | constants.W_OK);
      return { type: "missing", holder: null };
    }
    accessSync(file, constants.R_OK | constants.W_OK);
    // SQLite creates the write-ahead log in the same folder.
    accessSync(dirname(file), constants.W_OK | constants.X_OK);
    return { type: await contentState(file), holder: lockHolder(file) };
  } catch (error) {
    throw unusable(path, error);
  }
}

async function contentState(file: string): Promise<"older" | "current"> {
  const copy = await copyDatabase(file);
  try {
    const db = openCopy(copy.file);
    try {
      const state = await schemaState(db);
      const { rows } = await sql<{ quick_check: string }>`pragma quick_check(1)`.execute(db);
      if (rows[0]?.quick_check !== "ok") throw new Error("it is damaged");
      return state;
    } finally {
      await db.destroy();
    }
  } finally {
    copy.remove();
  }
}

/** Throws if a part of the path is not a folder. */
function nearestFolder(file: string): string {
  const folder = dirname(file);
  const found = statSync(folder, { throwIfNoEntry: false });
  if (found === undefined) return nearestFolder(folder);
  if (!found.isDirectory()) throw Object.assign(new Error(`${folder} is not a folder`), { code: "ENOTDIR" });
  return folder;
}
