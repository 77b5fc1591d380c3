// An archive file is read byte for byte, because its digest covers every byte.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openForArchive } from "#src/adapters/store/archive-audit.ts";
import { openArchive } from "#src/adapters/store/archive-file.ts";
import { auditKeyBeside } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { sha256 } from "../../audit/tampering.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";

/** Longer than what is read at once. */
const TEXT = "a long request\r\n".repeat(20_000);
const folder = mkdtempSync(join(tmpdir(), "archive-file-"));
const file = join(folder, "old.jsonl");

beforeAll(async () => {
  const database = join(folder, "bot.db");
  const store = await openStore({ url: `sqlite:${database}`, owner: "test" });
  const about = { digest: sha256(TEXT), text: TEXT };
  await store.audit([1, 2, 3].map((at) => anAuditEntry(aRun(), { at, ...about })));
  await store.close();
  const audit = await openForArchive(database, auditKeyBeside(database).key);
  await audit.archive(2, file, 4);
  await audit.close();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Writes a copy in which this was changed, and opens it. */
function opened(change: (content: string) => string) {
  const copy = join(folder, "copy.jsonl");
  writeFileSync(copy, change(readFileSync(file, "utf8")));
  return openArchive(copy);
}

test("it has its entries and texts, also without the end of its last line", async () => {
  for (const change of [String, (content: string) => content.trimEnd()]) {
    const archive = await opened(change);
    expect((await Array.fromAsync(archive.rows())).map(({ seq }) => seq)).toEqual([1, 2]);
    expect(archive.textOf(sha256(TEXT))).toBe(TEXT);
    archive.close();
  }
});

test.for([
  ["the ends of its lines", /\n/g, "\r\n"],
  ["the end of one line", /\n/, "\r\n"],
  ["a space", /:/, ": "],
] as const)("it is not complete once %s changed", async ([, from, to]) => {
  const opening = opened((content) => content.replace(from, to));
  await expect(opening).rejects.toThrow("is not a complete archive of an audit");
});
