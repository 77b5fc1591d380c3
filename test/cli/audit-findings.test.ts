// `npm run audit -- acknowledge`, as a shell runs it, and what `verify` says about findings before and after.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { runCommand } from "../make/run-command.ts";
import { spoil } from "../make/spoil.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-findings-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const audit = (...args: readonly string[]) =>
  runCommand("audit", args, { env: { DATABASE_URL: `sqlite:${file}` } });

async function stored(): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit(Array.from({ length: 6 }, () => anAuditEntry(aRun())));
  await store.close();
}

const change = (sql: string): void => spoil(file, sql);

/** What the command says about a wrong code. */
async function currentCode(): Promise<string> {
  const { code, err } = await audit("acknowledge", "0000000000", "--reason", "a test");
  expect(code).toBe(2);
  return /Their code is ([0-9a-f]{10}):/.exec(err)?.[1] ?? "none";
}

describe("changes outside the audit", () => {
  test("are reported by verify: what the bot found, and what has no valid seal", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
    const run = aRun();
    await store.insert(run, { audit: [anAuditEntry(run)] });
    await store.close();
    expect((await audit("verify")).code).toBe(0);
    change("update runs set requester = 'U0SOMEONE'");
    const seen = await audit("verify");
    expect(seen.code).toBe(1);
    expect(seen.out).toContain("Intact: 1 entry");
    expect(seen.err).toContain(`TAMPERED: the stored run ${run.key} was changed outside Countersign`);
    expect((await audit("acknowledge", await currentCode(), "--reason", "a test")).code).toBe(0);
    const after = await audit("verify");
    expect(after).toMatchObject({ code: 0, err: "" });
    expect(after.out).toContain(`Acknowledged by an admin: the stored run ${run.key}`);
  });
});

test("each finding is printed on one line, without control characters, whatever an entry says", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const outcome = "a stored decision (approval apr\u001B[2J\nIntact) is not confirmed";
  await store.audit([{ ...anAuditEntry(aRun()), what: "tampering-found", outcome, findings: ["one"] }]);
  await store.close();
  const shown = "a stored decision (approval apr⟨U+001B⟩[2J Intact) is not confirmed";
  const before = await audit("verify");
  const done = await audit("acknowledge", await currentCode(), "--reason", "a test");
  const after = await audit("verify");
  expect(before.err).toContain(`TAMPERED: ${shown} (reported in entry 1)\n`);
  expect(done.out).toContain(`- ${shown}`);
  expect(after.out).toContain(`Acknowledged by an admin: ${shown}`);
});

test("of an audit that was changed, verify names the first fault, and everything that the bot reported", async () => {
  await stored();
  for (const seq of [2, 3])
    change(`update audit set entry = replace(entry, 'stored', 'other') where seq = ${seq}`);
  await audit("acknowledge", "0000000000", "--reason", "a test");
  const seen = await audit("verify");
  expect(seen.code).toBe(1);
  expect(seen.err).toContain("TAMPERED at entry 2: ");
  for (const seq of [2, 3]) expect(seen.err).toContain(`audit entry ${seq}: it does not match its link.`);
  expect(seen.err).toMatch(/^REPORTED, not verified: .* \(reported in entry \d+\)$/m);
  change(
    "insert into audit (seq, at, what, entry, link, key, signature) values (8, 1, 'tampering-found', 'x', 'x', 'x', 'x')",
  );
  expect(await audit("verify")).toMatchObject({ code: 1, err: seen.err });
});

describe("acknowledge", () => {
  test("with a wrong code, names the current one and lists its findings, each once", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
    const found = { ...anAuditEntry(aRun()), what: "tampering-found" } as const;
    await store.audit([{ ...found, outcome: "two rows were changed", findings: ["one", "two"] }]);
    await store.audit([{ ...found, outcome: "a row is gone", findings: ["three"] }]);
    await store.close();
    const listed = ["- two rows were changed", "- a row is gone"];
    const wrong = await audit("acknowledge", "0000000000", "--reason", "a test");
    expect(wrong).toMatchObject({ code: 2, out: "" });
    expect(wrong.err).toMatch(
      /^Nothing was acknowledged: this code is not for the current findings\. Their code is [0-9a-f]{10}:\n/,
    );
    expect(wrong.err.trim().split("\n").slice(1)).toEqual(listed);
    const done = await audit("acknowledge", await currentCode(), "--reason", "a test");
    expect(done.out.trim().split("\n").slice(1)).toEqual(listed);
  });

  test.for([
    ["changed", 3, "update audit set entry = replace(entry, 'stored', 'other') where seq = 3"],
    ["removed", 4, "delete from audit where seq = 3"],
  ] as const)(
    "lets approvals leave again after an entry was %s, and verify says so",
    async ([, seq, sql]) => {
      await stored();
      change(sql);
      const wrong = await audit("acknowledge", "0000000000", "--reason", "a disk fault");
      expect(wrong.code).toBe(2);
      const code = /Their code is ([0-9a-f]{10}):/.exec(wrong.err)?.[1] ?? "";
      const seen = await audit("acknowledge", code, "--reason", "a disk fault");
      expect(seen).toMatchObject({ code: 0, err: "" });
      expect(seen.out).toContain(`audit entry ${seq}: `);
      const again = await audit("acknowledge", code, "--reason", "a disk fault");
      expect(again.err).toContain("There is nothing to acknowledge");
      expect((await audit("verify")).err).toContain(`TAMPERED at entry ${seq}`);
    },
  );
});
