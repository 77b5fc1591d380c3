// `npm run audit`, as a shell runs it: its output and exit codes, and that it changes nothing.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { headWords } from "#src/domain/audit/hash-chain.ts";
import { RunId } from "#src/domain/ids.ts";
import { auditKeyBeside, auditKeyFile } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { type Ended, runCommand } from "../make/run-command.ts";
import { spoil } from "../make/spoil.ts";
import { anApproval, anAuditEntry, aRun } from "../make/run.ts";
import { relink, sha256 } from "../audit/tampering.ts";

const COMMAND = fileURLToPath(new URL("../../src/cli/audit.ts", import.meta.url));
const MONDAY = Date.UTC(2026, 10, 2, 12);
const DAY_MS = 24 * 60 * 60_000;

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-command-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const audit = (...args: readonly string[]) =>
  runCommand("audit", args, { env: { DATABASE_URL: `sqlite:${file}` }, cwd: folder });

const RUN = RunId("run_7");
const TEXT = JSON.stringify(["run_7", "apr_1", { action: "delete it\u202E" }]);

/** Writes six entries on six days, one of them about a request. Resolves to the heads, oldest first. */
async function write(): Promise<readonly string[]> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const run = aRun();
  const about = { approval: anApproval("apr_1").id, digest: sha256(TEXT), text: TEXT };
  for (let day = 0; day < 6; day += 1) {
    const decided = {
      what: "decided",
      verdict: "approve",
      reason: '=HYPERLINK("x")\nI may',
      ...about,
    } as const;
    const facts = day === 2 ? { ...decided, runId: RUN } : {};
    await store.audit([anAuditEntry(run, { at: MONDAY + day * DAY_MS, ...facts })]);
  }
  const heads: string[] = [];
  for (let seq = 1; seq <= 6; seq += 1) {
    const entry = await store.auditEntry(seq);
    if (entry !== null) heads.push(headWords(entry));
  }
  await store.close();
  return heads;
}

const change = (sql: string): void => spoil(file, sql);

const bytes = (): string => createHash("sha256").update(readFileSync(file)).digest("hex");

describe("verify", () => {
  test("reports that an audit is intact, prints its head, and finds the witnessed heads", async () => {
    const heads = await write();
    const before = bytes();
    const plain = await audit("verify");
    expect(plain).toMatchObject({ code: 0, err: "" });
    expect(plain.out).toContain(`Intact: 6 entries, each in its place and signed. Head: ${heads[5] ?? ""}`);
    expect(plain.out).toContain("No head was given with --head.");
    const proven = await audit("verify", "--head", heads[2] ?? "", "--head", heads[5] ?? "");
    expect(proven.code).toBe(0);
    expect(proven.out).toContain("2 given heads were found in it");
    expect(bytes()).toBe(before);
  });

  test("works while the bot has the file locked", async () => {
    await write();
    const store = await openStore({ url: `sqlite:${file}`, owner: "the bot" });
    await store.audit([anAuditEntry(aRun())]);
    const seen = await audit("verify");
    await store.close();
    expect(seen).toMatchObject({ code: 0, err: "" });
    expect(seen.out).toContain("Intact: 7 entries");
  });

  test("reports a changed entry, with exit code 1", async () => {
    await write();
    change("update audit set entry = replace(entry, 'approve', 'deny') where seq = 3");
    const seen = await audit("verify");
    expect(seen).toMatchObject({ code: 1, out: "" });
    expect(seen.err).toContain("TAMPERED at entry 3: it does not match its link.");
  });

  test("detects entries that were cut off if a head is passed", async () => {
    const heads = await write();
    change("delete from audit where seq > 4");
    expect((await audit("verify")).code).toBe(0);
    const seen = await audit("verify", "--head", heads[5] ?? "");
    expect(seen.code).toBe(1);
    expect(seen.err).toContain(
      "TAMPERED at entry 6: a head that you gave, or that a stored run keeps, is not in the audit.",
    );
  });

  test("needs only the public key, and accepts no other key", async () => {
    await write();
    const { key } = auditKeyBeside(file);
    rmSync(auditKeyFile(file));
    const without = await audit("verify");
    expect(without.code).toBe(2);
    expect(without.err).toContain("There is no key to check signatures with");
    expect((await audit("verify", "--public-key", key.publicKey)).code).toBe(0);
    const other = Buffer.alloc(32, 1).toString("base64");
    const stranger = await audit("verify", "--public-key", other);
    expect(stranger.code).toBe(1);
    expect(stranger.err).toContain("an unknown key");
  });

  test("accepts only the keys that are passed, and ignores the key beside the database", async () => {
    await write();
    const { key } = auditKeyBeside(file);
    rmSync(auditKeyFile(file));
    // The attacker rewrites everything under their own key, and puts that key beside the database.
    const thief = auditKeyBeside(file).key;
    change(`update audit set key = '${thief.id}'`);
    const db = new DatabaseSync(file);
    relink(db, 1, thief);
    db.close();
    expect((await audit("verify")).code).toBe(0);
    const pinned = await audit("verify", "--public-key", key.publicKey);
    expect(pinned.code).toBe(1);
    expect(pinned.err).toContain("an unknown key");
  });

  test("detects an unsigned row with an impossible number", async () => {
    await write();
    for (const seq of ["-9007199254740991", "0", "9223372036854775807"]) {
      change(
        `delete from audit where seq < 1 or seq > 1000; insert into audit select ${seq}, at, what, run, run_id, approval, by_user, entry, link, key, '', asked from audit where seq = 1`,
      );
      const seen = await audit("verify");
      expect(seen.code).toBe(1);
      expect(seen.err).toContain("TAMPERED: there are rows with impossible numbers");
    }
  });

  test("names the entry whose time is beyond all numbers", async () => {
    await write();
    change("update audit set at = 9223372036854775807 where seq = 2");
    const seen = await audit("verify");
    expect(seen.code).toBe(1);
    expect(seen.err).toContain("TAMPERED at entry 2: its columns differ from the entry.");
  });

  test("detects that the audit was emptied if stored runs refer to it", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
    const run = aRun();
    await store.insert(run, { audit: [anAuditEntry(run)] });
    await store.close();
    expect((await audit("verify")).code).toBe(0);
    change("delete from audit");
    const seen = await audit("verify");
    expect(seen.code).toBe(1);
    expect(seen.err).toContain(
      "TAMPERED at entry 1: a head that you gave, or that a stored run keeps, is not in the audit.",
    );
  });

  test("detects a decision that was sent without an entry, although the bot itself signed it", async () => {
    await write();
    const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
    await store.audit([anAuditEntry(aRun(), { what: "sent", runId: RUN, approval: anApproval("apr_1").id })]);
    await store.close();
    const seen = await audit("verify");
    expect(seen.code).toBe(1);
    expect(seen.err).toContain("TAMPERED at entry 7: something was sent without a matching decision.");
  });
});

describe("export", () => {
  const seqs = ({ out }: Ended): number[] =>
    out
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { seq: number }).seq);

  test("prints the entries of these days, including the last day, with the full texts", async () => {
    await write();
    const all = await audit("export");
    expect(all).toMatchObject({ code: 0, err: "" });
    expect(seqs(all)).toEqual([1, 2, 3, 4, 5, 6]);
    const some = await audit("export", "--from", "2026-11-03", "--to", "2026-11-05");
    expect(seqs(some)).toEqual([2, 3, 4]);
    const moment = await audit("export", "--from", "2026-11-03T12:00:00Z", "--to", "2026-11-04T11:59:59Z");
    expect(seqs(moment)).toEqual([2]);
    expect(JSON.parse(some.out.split("\n")[1] ?? "")).toMatchObject({ content: TEXT });
  });

  test("prints a table in which no cell is a formula", async () => {
    await write();
    const { out, code } = await audit("export", "--format", "csv");
    expect(code).toBe(0);
    expect(out.split("\r\n")[0]).toMatch(/^"number","at","what","who","run","run key","channel","requester"/);
    expect(out).toContain(`"'=HYPERLINK(""x"")\nI may"`);
    expect(out.trim().split("\r\n")).toHaveLength(7);
  });

  test("writes a file that others cannot read, and never overwrites one", async () => {
    await write();
    const out = join(folder, "audit.jsonl");
    expect(await audit("export", "--out", out)).toMatchObject({ code: 0, out: "" });
    const written = readFileSync(out, "utf8");
    expect(written.trim().split("\n")).toHaveLength(6);
    const again = await audit("export", "--out", out);
    expect(again.code).toBe(2);
    expect(again.err).toContain("EEXIST");
    expect(readFileSync(out, "utf8")).toBe(written);
  });

  test("writes nothing if the name of its file is empty, as of a variable that is not set", async () => {
    await write();
    const before = readdirSync(folder);
    const { code, out, err } = await audit("export", "--out", "");
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("--out is empty");
    expect(readdirSync(folder)).toEqual(before);
  });

  test("prints nothing of an audit that was tampered with, and says why, unless asked with --tampered", async () => {
    await write();
    change("delete from audit_texts");
    const out = join(folder, "audit.jsonl");
    const refused = await audit("export", "--out", out);
    expect(refused).toMatchObject({ code: 1, out: "" });
    expect(refused.err).toContain("a text that it names by its digest was removed");
    expect(refused.err).toContain("Nothing was printed.");
    expect(existsSync(out)).toBe(false);
    const seen = await audit("export", "--tampered");
    expect(seqs(seen)).toHaveLength(6);
    expect(seen.code).toBe(1);
    expect(seen.err).toContain("a text that it names by its digest was removed");
  });
});

describe("show", () => {
  test("describes a run in words, including what was requested, from before the service had named it", async () => {
    await write();
    const seen = await audit("show", "run_7");
    expect(seen).toMatchObject({ code: 0, err: "" });
    expect(seen.out).toContain("approved · approval apr_1");
    expect(seen.out).toContain("2026-11-04T12:00:00.000Z");
    expect(seen.out).toContain("delete it");
    expect(seen.out).not.toContain("\u202E");
    expect(seen.out.match(/asked for the run/g)).toHaveLength(5);
  });

  test("says if a run is unknown", async () => {
    await write();
    const seen = await audit("show", "run_8");
    expect(seen).toMatchObject({ code: 2, out: "" });
    expect(seen.err).toContain("The audit has no entry about this run.");
  });
});

test.each(["SIGINT", "SIGTERM"] as const)("%s leaves no copy of the database behind", async (signal) => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  // More than the pipe holds, so the command is not done when its first words arrive.
  await store.audit(Array.from({ length: 3_000 }, () => anAuditEntry(aRun())));
  await store.close();
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  const env = { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}`, TMPDIR: temporary };
  const child = spawn(process.execPath, [COMMAND, "export"], { env, cwd: folder });
  child.stdout.once("data", () => {
    expect(readdirSync(temporary)).toHaveLength(1);
    child.kill(signal);
  });
  expect(await once(child, "close")).toEqual([2, null]);
  expect(readdirSync(temporary)).toEqual([]);
});

test("a missing database is not created", async () => {
  const written = [["acknowledge", "0000000000", "--reason", "a test"]];
  for (const asked of [["verify"], ["export"], ["show", "run_7"], ...written]) {
    const seen = await audit(...asked);
    expect(seen.code).toBe(2);
    expect(seen.err).toContain("bot.db");
  }
  expect(readdirSync(folder)).toEqual([]);
});

test("an empty file is not another program's, and is not changed", async () => {
  writeFileSync(file, "");
  const seen = await audit("verify");
  expect(seen).toMatchObject({ code: 2, out: "" });
  expect(seen.err).toContain("it is empty: Countersign has written nothing to it yet");
  expect(readdirSync(folder)).toEqual(["bot.db"]);
  expect(readFileSync(file, "utf8")).toBe("");
});

test("a file of another program is refused and not changed", async () => {
  const db = new DatabaseSync(file);
  db.exec("create table audit (seq)");
  db.close();
  const before = bytes();
  const seen = await audit("verify");
  expect(seen.code).toBe(2);
  expect(seen.err).toContain("the database of another program");
  expect(bytes()).toBe(before);
  expect(existsSync(auditKeyFile(file))).toBe(false);
});

test.for([
  [[], "No command given"],
  [["verifyy"], 'There is no command "verifyy"'],
  [["verify", "--head", "audit 12"], '"audit 12" is not an audit head'],
  [["verify", "now"], 'verify does not take the argument "now"'],
  [["export", "--format", "xml"], 'export takes --format jsonl or csv, not "xml"'],
  [["export", "--from", "2026-02-31"], "--from and --to must be a day"],
  [["export", "--to", "2026-11-31T23:59:59Z"], "--from and --to must be a day"],
  [["export", "--from", "2026-03-02", "--to", "2026-03-01"], "--to is before --from"],
  [["show"], "show needs the id of one run"],
  [["verify", "--colour"], "--colour"],
  [["verify", "--tampered"], "verify does not take --tampered"],
  [["show", "run_7", "--head", "audit 5 · 0000000000000000"], "show does not take --head"],
  [["report", "--against", "copy.jsonl"], "report does not take --against"],
  [["acknowledge", "0000000000", "--new-key", "key.pem"], "acknowledge does not take --new-key"],
] as const)("invalid arguments are reported with the usage: %j", async ([args, words]) => {
  const seen = await audit(...args);
  expect(seen).toMatchObject({ code: 2, out: "" });
  expect(seen.err).toContain(words);
  expect(seen.err).toContain("npm run audit -- verify");
});

test("names the database whose pages are damaged, and says so in words", async () => {
  await write();
  const raw = new DatabaseSync(file);
  const { rootpage } = raw.prepare("select rootpage from sqlite_schema where name = 'audit'").get() ?? {};
  const { page_size: size } = raw.prepare("pragma page_size").get() ?? {};
  raw.close();
  const bytes = readFileSync(file);
  writeFileSync(
    file,
    bytes.fill(0xff, (Number(rootpage) - 1) * Number(size), Number(rootpage) * Number(size)),
  );
  expect(await audit("verify")).toEqual({
    code: 2,
    out: "",
    err: `cannot use the database ${file}: it is damaged\n`,
  });
});
