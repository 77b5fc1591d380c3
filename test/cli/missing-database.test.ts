// A mistyped DATABASE_URL is reported as what it is, and not as a lost audit key, for which someone would search in vain. A command that finds
// a lost database leaves it as it is, so that no start makes a new one in its place.

import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { runCommand } from "../make/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-missing-"));
afterAll(() => rmSync(folder, { recursive: true }));

const database = join(folder, "countresign.db");
const policy = join(folder, "policy.yaml");
writeFileSync(policy, "rules: [{ name: all, when: {}, approvers: { users: [U0123ABCD] } }]\n");
const newKey = join(folder, "new-key");
writeFileSync(newKey, Buffer.alloc(32, 7).toString("base64"));
const files = readdirSync(folder);

const OF_AUDIT: readonly [string, readonly string[]][] = [
  ["audit", ["verify"]],
  ["audit", ["acknowledge", "abc12345", "--reason", "a disk fault"]],
  ["audit", ["archive", "--before", "2026-01-01", join(folder, "old.jsonl")]],
  ["audit", ["redact", "a".repeat(64), "--reason", "a password"]],
  ["audit", ["rotate-key"]],
];

test.each([
  ...OF_AUDIT,
  ["audit", ["rotate-key", "--new-key", newKey]],
  ["backup", [join(folder, "copy.db")]],
  ["migrate-store", [`sqlite:${database}`, "postgres://countersign:0123abcd@localhost/countersign"]],
  ["policy", ["replay", policy]],
])("%s %s says that there is no such database, asks for no key and makes no file", async (name, args) => {
  const { code, out, err } = await runCommand(name, args, { env: { DATABASE_URL: `sqlite:${database}` } });
  expect(out + err).toContain(`cannot use the database ${database}: there is no such file`);
  expect(out + err).not.toMatch(/\bkey\b/i);
  expect(code).toBe(2);
  expect(readdirSync(folder)).toEqual(files);
});

test.each(OF_AUDIT)(
  "%s %s leaves a lost database, whose key is there, to the guard of a start",
  async (name, args) => {
    const lost = join(mkdtempSync(join(folder, "lost-")), "bot.db");
    writeFileSync(lost, "");
    writeFileSync(`${lost}.audit-key`, readFileSync(newKey));
    const { code, err } = await runCommand(name, args, { env: { DATABASE_URL: `sqlite:${lost}` } });
    expect([code, err]).toEqual([2, expect.stringContaining(`${lost}: it is empty`)]);
    expect(err).toContain("put the database or a backup back");
    expect(err).not.toMatch(/start the bot once/i);
    expect(statSync(lost).size).toBe(0);
  },
);

test("a start refuses a file without a table beside its key, whatever else is in the file", async () => {
  const lost = join(mkdtempSync(join(folder, "lost-")), "bot.db");
  writeFileSync(`${lost}.audit-key`, readFileSync(newKey));
  const raw = new DatabaseSync(lost);
  raw.exec("pragma journal_mode = wal; pragma application_id = 1129539438");
  raw.close();
  const bytes = readFileSync(lost);
  expect(bytes.length).toBeGreaterThan(0);
  const opening = openStore({ url: `sqlite:${lost}`, owner: "test" });
  await expect(opening).rejects.toThrow(`but its audit key ${lost}.audit-key is there`);
  expect(readFileSync(lost)).toEqual(bytes);
  rmSync(`${lost}.audit-key`);
  const store = await openStore({ url: `sqlite:${lost}`, owner: "test" });
  await store.close();
});

test("a refused start makes no file, and keeps the write-ahead log of a lost database", async () => {
  const place = mkdtempSync(join(folder, "lost-"));
  const lost = join(place, "bot.db");
  writeFileSync(`${lost}.audit-key`, readFileSync(newKey));
  const refused = () =>
    expect(openStore({ url: `sqlite:${lost}`, owner: "test" })).rejects.toThrow("it is missing or empty");
  await refused();
  expect(readdirSync(place)).toEqual(["bot.db.audit-key"]);
  writeFileSync(lost, "");
  writeFileSync(`${lost}-wal`, "the newest entries");
  await refused();
  expect(readFileSync(`${lost}-wal`, "utf8")).toBe("the newest entries");
});
