// A mistyped DATABASE_URL is reported as what it is, and not as a lost audit key, for which someone would search in vain.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCommand } from "../make/run-command.ts";

const folder = mkdtempSync(join(tmpdir(), "countersign-missing-"));
afterAll(() => rmSync(folder, { recursive: true }));

const database = join(folder, "countresign.db");
const policy = join(folder, "policy.yaml");
writeFileSync(policy, "rules: [{ name: all, when: {}, approvers: { users: [U0123ABCD] } }]\n");
const newKey = join(folder, "new-key");
writeFileSync(newKey, Buffer.alloc(32, 7).toString("base64"));
const files = readdirSync(folder);

test.each([
  ["audit", ["verify"]],
  ["audit", ["acknowledge", "abc12345", "--reason", "a disk fault"]],
  ["audit", ["archive", "--before", "2026-01-01", join(folder, "old.jsonl")]],
  ["audit", ["redact", "a".repeat(64), "--reason", "a password"]],
  ["audit", ["rotate-key"]],
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
