// What `npm run audit` prints, as a shell sees it: rows that are no entries, and what does not fit on the disk.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { sha256 } from "../audit/tampering.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

const COMMAND = fileURLToPath(new URL("../../src/cli/audit.ts", import.meta.url));
const RUN = RunId("run_7");

let folder = "";
let file = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "audit-prints-"));
  file = join(folder, "bot.db");
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const run = aRun();
  for (const at of [1, 2, 3, 4, 5, 6]) await store.audit([anAuditEntry(run, { at, runId: RUN })]);
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true }));

type Seen = { readonly code: number | null; readonly out: string; readonly err: string };

const audit = (...args: readonly string[]): Promise<Seen> => auditTo("pipe", ...args);

/** "closed": a pipe that nobody reads. */
async function auditTo(stdout: "pipe" | "closed" | number, ...args: readonly string[]): Promise<Seen> {
  const env = { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}` };
  const child = spawn(process.execPath, [COMMAND, ...args], {
    env,
    cwd: folder,
    stdio: ["ignore", stdout === "closed" ? "pipe" : stdout, "pipe"],
  });
  if (stdout === "closed") child.stdout?.destroy();
  const seen = { out: "", err: "" };
  child.stdout?.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (seen.err += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...seen };
}

describe("a row that is no entry", () => {
  beforeEach(() => {
    const db = new DatabaseSync(file);
    db.exec(`drop trigger audit_refuses_update; update audit set entry = '{"at":' where seq = 3`);
    db.close();
  });

  test("is exported as it is with --tampered, and so are the entries after it", async () => {
    const { code, out } = await audit("export", "--tampered", "--to", "1970-01-01T00:00:00.005Z");
    const rows = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { seq: number; entry: unknown; text: string });
    expect(rows.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(rows[2]).toMatchObject({ entry: null, text: '{"at":' });
    expect(code).toBe(1);
    const csv = await audit("export", "--tampered", "--format", "csv");
    expect(csv.code).toBe(1);
    expect(csv.out.trim().split("\r\n")).toHaveLength(7);
    expect(csv.out).toContain('"cannot be read: {""at"":"');
  });

  test("is shown as it is with --tampered, among the entries of its run", async () => {
    const seen = await audit("show", "run_7", "--tampered");
    expect(seen.code).toBe(1);
    expect(seen.out).toContain('Entry 3 cannot be read: {"at":');
    expect(seen.out.match(/asked for the run/g)).toHaveLength(5);
  });
});

describe("bytes in the place of a text", () => {
  beforeEach(() => {
    const db = new DatabaseSync(file);
    db.exec(
      "drop trigger audit_refuses_update; update audit set entry = x'7b7b', link = x'2b2b' where seq = 3",
    );
    db.close();
  });

  test("are printed as a text with --tampered", async () => {
    const csv = await audit("export", "--tampered", "--format", "csv");
    expect(csv.code).toBe(1);
    expect(csv.out.trim().split("\r\n")).toHaveLength(7);
    expect(csv.out).toContain('"cannot be read: {{"');
    const story = await audit("show", "run_7", "--tampered");
    expect(story.code).toBe(1);
    expect(story.out).toContain("Entry 3 cannot be read: {{");
  });
});

describe.skipIf(!existsSync("/dev/full"))("on a full disk", () => {
  const range = ["--from", "1970-01-01", "--to", "1970-01-02"];

  test.for([["verify"], ["show", "run_7"], ["export"], ["report", ...range]])(
    "%s fails, and says that its output could not be written",
    async (args) => {
      const full = openSync("/dev/full", "w");
      const seen = await auditTo(full, ...args);
      closeSync(full);
      expect(seen.code).toBe(2);
      expect(seen.err.match(/ENOSPC/g)).toHaveLength(1);
    },
  );
});

test.skipIf(!existsSync("/dev/full")).for([
  [["rotate-key"], "key-accepted"],
  [["archive", "--before", "2100-01-01", "old.jsonl"], "archived"],
] as const)(
  "%s says that what it did stands if its output is lost, and how to see it",
  async ([args, what]) => {
    const full = openSync("/dev/full", "w");
    const seen = await auditTo(full, ...args);
    closeSync(full);
    const stands =
      "What the command did stands: the newest entries of `npm run audit -- export` say what it was.";
    expect(seen).toMatchObject({ code: 2, err: expect.stringContaining(stands) as string });
    expect((await audit("export")).out.trim().split("\n").at(-1)).toContain(`"what":"${what}"`);
    expect((await auditTo("closed", "rotate-key")).err).toContain(stands);
  },
);

test.for([["show", "run_7"], ["export"]])(
  "%s says nothing if its reader ends early, as head does, but does not claim success",
  async (args) => {
    const seen = await auditTo("closed", ...args);
    expect(seen).toEqual({ code: 2, out: "", err: "" });
  },
);

test("an export into a folder that does not exist says so, and what to do", async () => {
  const out = join(folder, "none", "e.csv");
  expect(await audit("export", "--out", out)).toEqual({
    code: 2,
    out: "",
    err: `Cannot write ${out}: its folder does not exist. Correct this, or name another file with --out.\n`,
  });
  expect((await audit("export", "--out", join(file, "e.csv"))).err).toContain(
    "bot.db/e.csv: a part of its path is not a folder. Correct this",
  );
});

test.skipIf(process.platform === "win32")("an export that cannot be completed leaves no file", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const text = "x".repeat(300_000);
  const about = { digest: sha256(text), text };
  for (let entry = 0; entry < 20; entry += 1) await store.audit([anAuditEntry(aRun(), about)]);
  await store.close();
  const before = readdirSync(folder);
  // No file may become larger than this number of blocks (512 or 1,024 bytes). The database has one copy of the text, the export twenty.
  const limited = `ulimit -f 4000 && exec "$0" "$@"`;
  const args = ["-c", limited, process.execPath, COMMAND, "export", "--out", join(folder, "out.jsonl")];
  const env = { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}` };
  const child = spawn("sh", args, { env, cwd: folder, stdio: "ignore" });
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
  expect(readdirSync(folder)).toEqual(before);
});
