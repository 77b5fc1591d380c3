// `archive`, `redact` and `rotate-key` when their transaction fails: they say what holds now, and what to do. Also a spoilt entry of an archive.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { sha256 } from "../audit/tampering.ts";
import { anAuditEntry, aRun } from "../make/run.ts";
import { runCommand } from "../make/run-command.ts";
import { spoil } from "../make/spoil.ts";

const TEXT = "the request";

let folder = "";
let file = "";
let out = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "audit-undone-"));
  [file, out] = [join(folder, "bot.db"), join(folder, "old.jsonl")];
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const opened = anAuditEntry(aRun(), { what: "opened", digest: sha256(TEXT), text: TEXT });
  await store.audit([opened, opened, opened]);
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

function change(sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

/** While these are in place, no transaction that writes an entry succeeds. */
const FAILS = "create trigger fails before insert on audit begin select raise(abort, 'no space'); end";
const COMMIT_FAILS = `create table parents (id integer primary key);
  create table children (parent integer references parents (id) deferrable initially deferred);
  create trigger fails after insert on audit begin insert into children values (7); end`;

async function audit(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly words: string }> {
  const seen = await runCommand("audit", args, { env: { DATABASE_URL: `sqlite:${file}` }, cwd: folder });
  return { code: seen.code, words: seen.out + seen.err };
}

const archive = () => audit("archive", "--before", "2100-01-01", out);
const redact = () => audit("redact", sha256(TEXT), "--reason", "Ana asked for it");
const rotate = () => audit("rotate-key");

test("a failed archive says that nothing was removed, and its advice works", async () => {
  change(FAILS);
  const { code, words } = await archive();
  expect(words).toContain(`Nothing was removed. Delete ${out} and run the command again.`);
  expect(code).toBe(2);
  change("drop trigger fails");
  rmSync(out);
  expect(await archive()).toMatchObject({ code: 0 });
});

test("an archive whose commit fails says to keep the file, and how to see what holds", async () => {
  change(COMMIT_FAILS);
  const { code, words } = await archive();
  expect(words).toContain("It is not known whether entries were removed");
  expect(words).toContain(`Keep ${out}, and run verify.`);
  expect(code).toBe(2);
  expect(existsSync(out)).toBe(true);
  change("drop trigger fails");
  expect((await audit("verify")).words).not.toContain("are archived");
});

test("an entry about an archive that cannot be read is reported as tampering, with the archive as well", async () => {
  expect(await archive()).toMatchObject({ code: 0 });
  spoil(file, "update audit set entry = json_remove(entry, '$.at') where what = 'archived'");
  const seen = await audit("verify", "--archive", out);
  expect(seen.words).toContain("TAMPERED at entry 4");
  expect(seen.code).toBe(1);
});

test.for([
  ["redact", redact, "Nothing was erased.", "It is not known whether the text was erased."],
  ["rotate-key", rotate, "The key was not changed.", "It is not known whether the key was changed."],
] as const)("a failed %s says what holds, and its advice works", async ([, command, nothing, unknown]) => {
  change(FAILS);
  expect(await command()).toMatchObject({ code: 2, words: expect.stringContaining(nothing) as unknown });
  change(`drop trigger fails; ${COMMIT_FAILS}`);
  expect(await command()).toMatchObject({ code: 2, words: expect.stringContaining(unknown) as unknown });
  change("drop trigger fails");
  expect(await command()).toMatchObject({ code: 0 });
  expect(await audit("verify")).toMatchObject({ code: 0 });
});
