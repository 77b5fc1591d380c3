// A bot on a database file that someone else can write to.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { type Bench, createBench } from "./bot.ts";
import { spoil } from "./spoil.ts";

/** A bot whose database the test can change behind its back. */
export async function withFile(): Promise<{
  bench: Bench;
  spoil: (...statements: readonly string[]) => void;
}> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-spoilt-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "bot.db");
  return { bench: await createBench({}, 0, file), spoil: (...statements) => spoil(file, ...statements) };
}

/** Statements that append a row of this kind that is no entry. The audit must have a decision. */
export const rowThatIsNoEntry = (what: AuditEntry["what"] = "decided"): readonly string[] => [
  "create temp table one as select * from audit where what = 'decided' order by seq desc limit 1",
  `update one set seq = (select max(seq) from audit) + 1, what = '${what}', entry = '{}'`,
  "insert into audit select * from one",
];
