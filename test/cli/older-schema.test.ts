// The commands that read the audit, on a database that an older Countersign wrote, such as the copy that a roll-back restores.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GOLDEN_KEY, restore } from "../adapters/store/golden/load.ts";
import { runCommand } from "../make/run-command.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "older-schema-"));
  file = join(folder, "copy.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const audit = (...args: readonly string[]) =>
  runCommand("audit", args, { env: { DATABASE_URL: `sqlite:${file}`, AUDIT_KEY: GOLDEN_KEY } });

test.each([1, 2])("verify reads a database of schema %i, and leaves it as it is", async (schema) => {
  restore(schema, file).close();
  const before = readFileSync(file);
  const { code, out, err } = await audit("verify");
  expect(out).toMatch(/^Intact: \d+ entries/);
  // The golden databases contain a run that was tampered with, and the command says so.
  expect([code, err]).toEqual([1, expect.stringContaining("TAMPERED: the stored run")]);
  expect(readFileSync(file)).toEqual(before);
});

test.each([["export"], ["report", "--from", "2026-01-01", "--to", "2026-12-31"]])(
  "%s reads it too",
  async (...args) => {
    restore(2, file).close();
    const { code, out } = await audit(...args);
    expect([code, out]).toEqual([0, expect.stringContaining("decided")]);
  },
);

test("a command that writes says how to keep its schema", async () => {
  restore(2, file).close();
  const { code, err } = await audit("redact", "0".repeat(64), "--reason", "a test");
  expect([code, err]).toEqual([2, expect.stringContaining("(schema 2; this program writes 3): use that")]);
});
