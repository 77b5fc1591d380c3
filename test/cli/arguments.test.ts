// What commands do with wrong arguments, and `npm run policy` with its output.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { runCommand } from "../make/run-command.ts";

/** Any file that is there. */
const NO_POLICY = fileURLToPath(import.meta.url);

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

test("policies are checked even if the settings for Slack cannot be used, and the command says what is wrong", async () => {
  const other = join(folder, "other.yaml");
  writeFileSync(other, "rules: []\n");
  const env = { SLACK_BOT_TOKEN: "xapp-1-abc" };
  const { code, out, err } = await runCommand("policy", ["lint", good, other], { env });
  expect(code).toBe(2);
  expect(err).toMatch(
    /^Countersign cannot start.*\n  SLACK_BOT_TOKEN .*xoxb-.*\nSo Slack was not asked about the ids\.\n$/,
  );
  for (const each of [good, other]) expect(out).toContain(each);
});

test.each([
  ["policy", ["schema", "extra"], 'does not take the argument "extra"'],
  ["policy", ["explain", "good.yaml", "good.yaml", "extra"], 'does not take the argument "extra"'],
  ["policy", ["lint"], "needs a policy file"],
  ["policy", ["explain", NO_POLICY, "run_7"], "explain takes the run first: explain RUN FILE"],
  ["backup", [""], "needs a file"],
  ["audit", ["archive", "--before", "2026-01-01", ""], "needs the name of one file"],
  ["doctor", ["--foo"], 'This command takes no arguments, so "--foo" was not understood.'],
  ["policy", ["check"], 'no command "check"'],
  ["backup", ["one.db", "two.db"], 'does not take the argument "two.db"'],
  ["backup", ["--to", "one.db"], "'--to'"],
  ["backup", [], "needs a file"],
  ["migrate-store", ["sqlite:one.db", "postgres://x", "extra"], 'does not take the argument "extra"'],
])("%s %j is refused, and the first line says why", async (command, args, why) => {
  const { code, err } = await runCommand(command, args, { env: { DATABASE_URL: "sqlite::memory:" } });
  expect(code).toBe(2);
  expect(err.split("\n")[0]).toContain(why);
  expect(err).toContain("Usage:");
});

test.each(["schema", "lint"])("%s fails if its output is lost", async (command) => {
  const args = command === "lint" ? [command, good] : [command];
  const seen = await runCommand("policy", args, { to: "/dev/full" });
  expect(seen.code).toBe(2);
  expect(seen.err).toContain("ENOSPC");
});

test.each([
  "NOT CHECKED",
  "outside the audit",
  "the copy of --against differs",
  "the copy of --against cannot be read",
])("audit --help says of its exit codes: %s", async (words) => {
  const { out } = await runCommand("audit", ["--help"]);
  expect(out.slice(out.indexOf("Exit code 0")).replaceAll(/\s+/g, " ")).toContain(words);
});
