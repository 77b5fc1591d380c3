// Commands with a key that has been replaced since: they say what they cannot check, and never that it is well.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditKeyOf, readAuditKey } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { GOLDEN_KEY, restore } from "../adapters/store/golden/load.ts";
import { runCommand } from "../make/run-command.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

const NEW_SEED = Buffer.alloc(32, 7).toString("base64");
const NEW = auditKeyOf(NEW_SEED).id;

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "retired-key-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (command: string, args: readonly string[], env: { readonly [name: string]: string } = {}) =>
  runCommand(command, args, { env: { DATABASE_URL: `sqlite:${file}`, ...env } });

/** An audit whose new key is in a file, as `--new-key` takes it. The old one is still beside the database. */
async function rotated(): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
  const newKey = join(folder, "new-key");
  writeFileSync(newKey, NEW_SEED);
  expect(await run("audit", ["rotate-key", "--new-key", newKey])).toMatchObject({ code: 0 });
}

test("a verification says that the runs were not checked, and which key that takes", async () => {
  await rotated();
  const old = readAuditKey(file);
  const seen = await run("audit", ["verify"]);
  expect(seen.code).toBe(2);
  expect(seen.out).toContain("Intact");
  for (const id of [NEW, old?.id]) expect(seen.err).toContain(id);
  expect(await run("audit", ["verify"], { AUDIT_KEY: NEW_SEED })).toMatchObject({ code: 0, err: "" });
});

test("an auditor without a key is told the same, and the audit is verified for them", async () => {
  await rotated();
  const { publicKey = "" } = readAuditKey(file) ?? {};
  rmSync(`${file}.audit-key`);
  const seen = await run("audit", ["verify", "--public-key", publicKey]);
  expect(seen.code).toBe(0);
  expect(seen.out).toContain(NEW);
});

test("an archive is refused before anything is written, with the key that it takes", async () => {
  await rotated();
  const before = readdirSync(folder);
  const old = readAuditKey(file);
  const seen = await run("audit", ["archive", "--before", "2100-01-01", join(folder, "old.jsonl")]);
  expect(seen.code).toBe(2);
  expect(seen.err.trim()).toBe(
    `The audit is signed with the key ${NEW}, and the key here is ${old?.id}. Nothing was archived. Put the right key in place.`,
  );
  expect(readdirSync(folder)).toEqual(before);
});

test("an intact copy from before the rotation is refused with the id of the key that it takes", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
  const seen = await run("audit", ["verify"], { AUDIT_KEY: NEW_SEED });
  expect(seen.code).toBe(1);
  expect(seen.err).toContain(
    `TAMPERED at entry 1: it is signed with an unknown key, ${readAuditKey(file)?.id}.`,
  );
  expect(seen.err).toContain(
    "A copy from before rotate-key needs the key of that time: ….audit-key.<id> beside the database",
  );
});

test("a backup is made, is not called fully verified, and names the key that a restore needs", async () => {
  await rotated();
  const copy = join(folder, "copy.db");
  const seen = await run("backup", [copy]);
  expect(seen.code).toBe(2);
  expect(existsSync(copy)).toBe(true);
  expect(seen.out).not.toContain("and verified");
  expect(seen.out).toContain(`${NEW}, which is not here`);
  expect(seen.err).toContain("NOT CHECKED");
});

test.each([
  ["an older schema", (): void => restore(1, file).close(), "older Countersign"],
  ["nothing", (): void => writeFileSync(file, ""), "cannot use the database"],
])("an acknowledgement changes nothing in a database with %s", async (_what, make, says) => {
  make();
  const before = readdirSync(folder);
  const seen = await run("audit", ["acknowledge", "code", "--reason", "looked"], { AUDIT_KEY: GOLDEN_KEY });
  expect(seen.code).toBe(2);
  expect(seen.err).toContain(says);
  expect(readdirSync(folder).filter((name) => !name.endsWith(".lock"))).toEqual(before);
});
