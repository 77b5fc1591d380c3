// Changes a database file behind the store's back, like an attacker with the file.

import { DatabaseSync } from "node:sqlite";

/** Drops the triggers that protect the audit, and executes the statements. */
export function spoil(file: string, ...statements: readonly string[]): void {
  const database = new DatabaseSync(file);
  const triggers = database.prepare("select name from sqlite_schema where type = 'trigger'").all();
  for (const { name } of triggers) database.exec(`drop trigger ${String(name)}`);
  for (const statement of statements) database.exec(statement);
  database.close();
}
