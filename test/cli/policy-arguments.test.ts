// What `npm run policy` does with its arguments and its output.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../make/run-command.ts";

let folder = "";
let good = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "policy-"));
  good = join(folder, "good.yaml");
  writeFileSync(good, "rules: []\n");
});
afterEach(() => rmSync(folder, { recursive: true }));

test("each file of a list is checked", async () => {
  const bad = join(folder, "bad.yaml");
  writeFileSync(bad, "rules: 5\n");
  const seen = await runCommand("policy", ["lint", good, bad]);
  expect(seen.code).toBe(2);
  expect(seen.out).toContain("bad.yaml:1");
});

test("arguments that no command reads are refused", async () => {
  expect((await runCommand("policy", ["schema", "extra"])).code).toBe(2);
  expect((await runCommand("policy", ["explain", good, good, "extra"])).code).toBe(2);
});

test.each(["schema", "lint"])("%s fails if its output is lost", async (command) => {
  const args = command === "lint" ? [command, good] : [command];
  const seen = await runCommand("policy", args, { to: "/dev/full" });
  expect(seen.code).toBe(2);
  expect(seen.err).toContain("ENOSPC");
});
