// `npm run audit -- verify --against FILE`: the database and the copy that AUDIT_SINK received are compared with each other.

import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Mapping, ocsfEvent, ocsfLine } from "#src/audit/ocsf.ts";
import { auditKeyBeside } from "#src/adapters/store/audit-key.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { compareWithCopy, openCopy } from "#src/cli/audit/against.ts";
import { NO_LINK } from "#src/domain/audit/hash-chain.ts";
import { relink } from "../audit/tampering.ts";
import { type Ended, runCommand } from "../make/run-command.ts";
import { spoil } from "../make/spoil.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

let folder = "";
let file = "";
let copy = "";
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "audit-copy-"));
  file = join(folder, "bot.db");
  copy = join(folder, "copy.jsonl");
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const run = aRun();
  await store.audit(Array.from({ length: 6 }, (_, at) => anAuditEntry(run, { reason: `because ${at}` })));
  const rows = await store.auditRows(0, 100);
  await store.close();
  writeFileSync(copy, rows.map((row, at) => ocsfLine(row, rows[at - 1]?.link ?? NO_LINK)).join(""));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function against(...files: readonly string[]): Promise<{ code: number | null; out: string }> {
  const env = { DATABASE_URL: `sqlite:${file}` };
  const parts = [copy, ...files].flatMap((part) => ["--against", part]);
  const { code, out, err } = await runCommand("audit", ["verify", ...parts], { env });
  return { code, out: out + err };
}

const lines = (): string[] => readFileSync(copy, "utf8").trimEnd().split("\n");
const put = (changed: readonly string[]): void => writeFileSync(copy, `${changed.join("\n")}\n`);

/** Bypasses the store, like an attacker with the database and the key. */
function rewrite(act: (db: DatabaseSync) => void): void {
  const db = new DatabaseSync(file);
  for (const { name } of db.prepare("select name from sqlite_schema where type = 'trigger'").all())
    db.exec(`drop trigger ${String(name)}`);
  act(db);
  relink(db, 1, auditKeyBeside(file).key);
  db.close();
}

test("a complete copy agrees, even with repeated entries and partial lines", async () => {
  const [first = "", ...others] = lines();
  put([first, first, ...others.slice(0, 2), '{"class_uid":30', ...others.slice(1)]);
  const { code, out } = await against();
  expect(out).toContain("The copy agrees: 6 entries are the same in both.");
  expect(out).toContain("1 of its lines is not an audit entry.");
  expect(code).toBe(0);
});

test("a copy agrees that was started by an older version and contains entries repeated by a newer one", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit([anAuditEntry(aRun(), { what: "settled", outcome: "refused" })]);
  const stage = anAuditEntry(aRun(), { what: "escalated", stageMs: 60_000, mentioned: ["U0ANN"] });
  await store.audit([stage]);
  const rows = await store.auditRows(0, 100);
  await store.close();
  const line = (at: number, mapping: Mapping): string => {
    const [row, before] = [rows[at], rows[at - 1]?.link ?? NO_LINK];
    if (row === undefined) throw new Error("there is no such entry");
    return JSON.stringify(ocsfEvent(row, before, mapping));
  };
  put([...rows.map((_, at) => line(at, at % 2 === 0 ? "1" : "2")), line(7, "2"), line(6, "3")]);
  expect((await against()).out).toContain("The copy agrees: 8 entries are the same in both.");
  put([...rows.map((_, at) => line(at, "1").replace('"sequence":8', '"sequence":9')), line(7, "2")]);
  expect((await against()).out).toContain("DIFFERS at entry 8");
});

test("if only the copy differs, the runs are checked, and findings count as verified", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const run = aRun();
  await store.insert(run, { audit: [anAuditEntry(run)] });
  await store.close();
  spoil(file, "update runs set requester = 'U0SOMEONE'");
  put(lines().toSpliced(2, 1));
  const { code, out } = await against();
  expect(out).toContain("Intact: 7 entries");
  expect(out).toContain("DIFFERS at entry 3");
  expect(out).toContain(`TAMPERED: the stored run ${run.key} was changed outside Countersign`);
  expect(out).not.toContain("not verified");
  expect(code).toBe(1);
});

test("a rewrite of the database by an attacker with its key is detected, although the database alone is intact", async () => {
  rewrite((db) => db.exec("update audit set entry = replace(entry, 'because 3', 'because 9')"));
  const { code, out } = await against();
  expect(out).toContain("Intact: 6 entries");
  expect(out).toContain(
    "DIFFERS at entry 4, 5, 6: the database differs from what was sent, and the copy's line is signed.",
  );
  expect(code).toBe(1);
});

/** Acts like a bot with AUDIT_SINK while the command runs. */
async function recordMore(): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const [head] = await store.auditRows(5, 1);
  await store.audit([anAuditEntry(aRun(), { reason: "meanwhile" })]);
  const [row] = await store.auditRows(6, 1);
  await store.close();
  if (head === undefined || row === undefined) throw new Error("there is no such entry");
  appendFileSync(copy, ocsfLine(row, head.link));
}

/** Resolves when the command opens the pipe. Rejects with what the command says if it ends before. */
async function opening(pipe: string, command: Promise<Ended>): Promise<void> {
  const ended = command.then(({ out, err }) => {
    throw new Error(`the command ended before it opened ${pipe}: ${out}${err}`);
  });
  try {
    await Promise.race([open(pipe, "w").then((writer) => writer.close()), ended]);
  } finally {
    // Without a reader, the open above would block its thread for ever.
    closeSync(openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK));
  }
}

test("an entry that reaches the copy before the command opens it is in the database that is compared", async () => {
  const [first, second] = [join(folder, "first"), join(folder, "second")];
  execFileSync("sh", ["-c", 'mkfifo "$0" "$1"', first, second]);
  const parts = [first, second, copy].flatMap((part) => ["--against", part]);
  const verified = runCommand("audit", ["verify", ...parts], { env: { DATABASE_URL: `sqlite:${file}` } });
  // The command opens the pipes one after the other, and waits until something writes to them.
  await opening(first, verified);
  await recordMore();
  await opening(second, verified);
  const { code, out, err } = await verified;
  expect(out + err).not.toContain("DIFFERS");
  expect(out).toContain("The copy agrees: 7 entries are the same in both.");
  expect(code).toBe(0);
});

test("an entry that reaches the copy after the command opened it is not compared", async () => {
  const parts = await openCopy([copy]);
  const audit = await openAuditFile(file);
  await recordMore();
  const { differs, words } = await compareWithCopy(audit, [auditKeyBeside(file).key.publicKey], parts);
  await audit.close();
  expect(words).toBe("The copy agrees: 6 entries are the same in both.");
  expect(differs).toBe(false);
});

test("a copy may differ in very many places", async () => {
  const places = 200_000;
  const lost = Array.from({ length: places }, (_, at) => `{"unmapped":{"seq":${2 * at + 10},"hash":""}}`);
  put([...lines(), ...lost]);
  const { code, out } = await against();
  expect(out).toContain(`DIFFERS at entry 10, 12, 14, `);
  expect(out).toContain(`and ${places - 20} more: in the copy, but not in the database.`);
  expect(code).toBe(1);
});

test("entries that were cut off the database are reported", async () => {
  rewrite((db) => db.exec("delete from audit where seq > 4"));
  const { code, out } = await against();
  expect(out).toContain("DIFFERS at entry 5 to 6: in the copy, but not in the database.");
  expect(code).toBe(1);
});

test("entries that are missing in the copy are reported, and those at its end may still be on their way", async () => {
  const all = lines();
  put([...all.slice(0, 1), ...all.slice(3, 5)]);
  const { code, out } = await against();
  expect(out).toContain("DIFFERS at entry 2 to 3: in the database, but not in the copy.");
  expect(out).toContain("The copy lacks the newest entries, 6: they were not sent yet, or were cut off.");
  expect(code).toBe(1);
  put(all.slice(0, 5));
  expect((await against()).code).toBe(0);
  put(all.slice(2));
  const later = await against();
  expect(later.out).toContain("The copy lacks the oldest entries, 1 to 2.");
  expect(later.code).toBe(0);
});

test("the files of several machines, of which each took turns in sending, are one complete copy together", async () => {
  const all = lines();
  put([...all.slice(0, 2), ...all.slice(4)]);
  const other = join(folder, "other.jsonl");
  writeFileSync(other, `${all.slice(1, 5).join("\n")}\n`);
  expect((await against()).out).toContain("DIFFERS at entry 3 to 4: in the database, but not in the copy.");
  const { code, out } = await against(other);
  expect(out).toContain("The copy agrees: 6 entries are the same in both.");
  expect(code).toBe(0);
});

test.each([
  ["who acted", "U0REQUESTER", "U0SOMEBODY"],
  ["the kind", '"message":"started"', '"message":"decided"'],
  ["the link", '"hash":"', '"hash":"00'],
])("a copy in which %s was changed is not what was sent", async (_, from, to) => {
  put(lines().map((line, at) => (at === 2 ? line.replaceAll(from, to) : line)));
  const { code, out } = await against();
  expect(out).toContain("DIFFERS at entry 3: the copy's line is not what was sent.");
  expect(code).toBe(1);
});

test("a forged line beside the true line is reported, whichever comes first", async () => {
  const all = lines();
  const forged = (all[2] ?? "").replaceAll("U0REQUESTER", "U0SOMEBODY");
  put([...all, forged]);
  expect((await against()).out).toContain(
    "DIFFERS at entry 3: the copy has different lines for the same entry.",
  );
  put([forged, ...all]);
  expect((await against()).code).toBe(1);
});

test("a copy without an entry of this audit proves nothing", async () => {
  put(['{"class_uid":30', "a line of some other file"]);
  const { code, out } = await against();
  expect(out).toContain("has no entry of this audit");
  expect(code).toBe(2);
});

test("a copy that cannot be read makes the command fail", async () => {
  rmSync(copy);
  const { code, out } = await against();
  const todo = "Give --against the file that AUDIT_SINK wrote.";
  expect(out).toContain(`Cannot read the copy ${copy}: there is no such file. ${todo}\n`);
  expect(code).toBe(2);
  copy = folder;
  expect((await against()).out).toContain(`Cannot read the copy ${folder}: it is a folder. ${todo}\n`);
});

test.for([
  ["is missing", () => rmSync(copy)],
  ["is empty", () => writeFileSync(copy, "")],
] as const)("a tampered audit is reported as such even if the copy %s", async ([, spoilCopy]) => {
  spoilCopy();
  rewrite((db) => db.exec("update audit set entry = replace(entry, 'because 3', 'because 9')"));
  const db = new DatabaseSync(file);
  db.exec("update audit set signature = '' where seq = 4");
  db.close();
  const { code, out } = await against();
  expect(out).toContain("TAMPERED at entry 4");
  expect(out).toMatch(/copy/);
  expect(code).toBe(1);
});

test("a database with findings is reported as such even if the copy is missing", async () => {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.insert(aRun(), {});
  await store.close();
  const db = new DatabaseSync(file);
  db.exec("update runs set requester = 'U0SOMEONE'");
  db.close();
  rmSync(copy);
  const { code, out } = await against();
  expect(out).toContain("was changed outside Countersign");
  expect(code).toBe(1);
});
