// Golden databases as files that the store opens.

import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";

/** The key that signs and seals all golden databases. */
export const GOLDEN_KEY = Buffer.from("a golden key of exactly 32 bytes").toString("base64");

export function goldenFile(schema: number): string {
  return fileURLToPath(new URL(`schema-${schema}.sql`, import.meta.url));
}

/** Restores the database of that schema as its program left it. */
export function restore(schema: number, file: string): DatabaseSync {
  const raw = new DatabaseSync(file);
  raw.exec(readFileSync(goldenFile(schema), "utf8"));
  return raw;
}
