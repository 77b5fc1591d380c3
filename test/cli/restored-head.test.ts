// `npm run audit -- verify` on a back-up's copy: a head that the copy lacks, or a difference to what AUDIT_SINK got, is no sign of tampering
// by itself.

import { appendFileSync, copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import { ocsfLine } from "#src/audit/ocsf.ts";
import { headWords, NO_LINK } from "#src/domain/audit/hash-chain.ts";
import { runCommand } from "../make/run-command.ts";
import { anAuditEntry, aRun, NOON } from "../make/run.ts";
import { spoil } from "../make/spoil.ts";

const MINUTE_MS = 60_000;
const moment = (minute: number): string => new Date(NOON + minute * MINUTE_MS).toISOString();
const restoreWords = (entry: number, restoredAt: number, copiedAt: number): string =>
  `Entry ${entry} records a restore at ${moment(restoredAt)} from a back-up made at ${moment(copiedAt)}. Heads published between these times are missing because of it.`;
const ANY_OTHER = "Any other missing head means tampering.";

let folder = "";
let file = "";
/** What AUDIT_SINK got. */
let sink = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "restored-head-"));
  [file, sink] = [join(folder, "bot.db"), join(folder, "sink.jsonl")];
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (minute: number): AuditEntry => anAuditEntry(aRun(), { at: NOON + minute * MINUTE_MS });

/** Resolves to the heads of the entries that this writes. */
async function write(...entries: readonly AuditEntry[]): Promise<readonly string[]> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit(entries);
  const seen = await store.auditAfter(0, [...new Set(entries.map(({ what }) => what))], 100);
  const rows = await store.auditRows(0, 100);
  await store.close();
  const lines = rows.map((row, index) => ocsfLine(row, rows[index - 1]?.link ?? NO_LINK));
  appendFileSync(sink, lines.slice(-entries.length).join(""));
  return seen.slice(-entries.length).map(headWords);
}

/** Writes two entries, copies the database, writes three more, and restores the copy, which then gets three of its own. */
async function restored(): Promise<{ readonly before: readonly string[]; readonly lost: readonly string[] }> {
  const before = await write(at(0), at(1));
  copyFileSync(file, join(folder, "copy.db"));
  const lost = await write(at(3), at(4), at(5), at(6));
  copyFileSync(join(folder, "copy.db"), file);
  await write(at(7));
  await write(restore(8, 2));
  await write(at(9));
  return { before, lost };
}

function restore(minute: number, copied: number): AuditEntry {
  const outcome = "restored from the back-up";
  const since = NOON + copied * MINUTE_MS;
  return anAuditEntry(aRun(), { at: NOON + minute * MINUTE_MS, what: "restored", run: null, outcome, since });
}

const verify = (head = "") =>
  runCommand("audit", ["verify", "--head", head], { env: { DATABASE_URL: `sqlite:${file}` } });

test("of a head from after the copy, verify names the time whose heads the restore explains, and keeps its exit code", async () => {
  const { before, lost } = await restored();
  expect(await verify(before[1])).toMatchObject({ code: 0, err: "" });
  for (const [head, fault] of [
    [lost[0], "TAMPERED at entry 3: a head that you gave, or that a stored run keeps, differs"],
    [lost[2], "TAMPERED at entry 5: a head that you gave, or that a stored run keeps, differs"],
    [lost[3], "TAMPERED at entry 6: a head that you gave, or that a stored run keeps, is not in the audit"],
  ] as const) {
    const seen = await verify(head);
    expect([seen.code, seen.err]).toEqual([1, expect.stringContaining(fault)]);
    expect(seen.err).toContain(`${restoreWords(4, 8, 2)} ${ANY_OTHER}\n`);
  }
});

test("of several restores, verify names each from whose time the head can be", async () => {
  const { lost } = await restored();
  await write(restore(12, 10), at(13));
  const [differs, missing] = [await verify(lost[0]), await verify(lost[3]?.replace("audit 6 ", "audit 9 "))];
  expect(differs.err).toContain(`${restoreWords(4, 8, 2)} ${ANY_OTHER}\n`);
  expect(differs.err).not.toContain("Entry 6");
  expect(missing.err).toContain(`${restoreWords(4, 8, 2)} ${restoreWords(6, 12, 10)} ${ANY_OTHER}\n`);
});

test("a restore explains no head from before the copy, and nothing if the audit itself was changed", async () => {
  const { before, lost } = await restored();
  expect((await verify(before[1]?.replace(/\S{16}$/, "0".repeat(16)))).err).not.toContain("back-up");
  spoil(file, "update audit set entry = replace(entry, 'stored', 'other') where seq = 5");
  expect((await verify(lost[0])).err).not.toContain("back-up");
});

const against = (...files: readonly string[]) =>
  runCommand("audit", ["verify", ...files.flatMap((each) => ["--against", each])], {
    env: { DATABASE_URL: `sqlite:${file}` },
  });

test("of a copy that has what a restore lost, verify names the restore and what to do, and keeps its exit code", async () => {
  await restored();
  const { code, err } = await against(sink);
  expect(err).toContain("DIFFERS at entry 3, 4, 5");
  expect(err).toContain(
    `Entry 4 records a restore at ${moment(8)} from a back-up made at ${moment(2)}. What AUDIT_SINK got between these times is not in this audit, and its numbers were given again. This explains the first difference. Any other means another restore or tampering. `,
  );
  expect(err).toContain("Give AUDIT_SINK a new file");
  expect(code).toBe(1);
  const since = join(folder, "since.jsonl");
  writeFileSync(since, readFileSync(sink, "utf8").split("\n").slice(6).join("\n"));
  expect(await against(since)).toMatchObject({ code: 0, err: "" });
});

test("a restore explains no difference from before the copy, and none if the audit itself was changed", async () => {
  await restored();
  const lines = readFileSync(sink, "utf8");
  writeFileSync(sink, lines.replace("started", "stopped"));
  const changed = await against(sink);
  expect([changed.code, changed.err]).toEqual([1, expect.stringContaining("DIFFERS at entry ")]);
  expect(changed.err).not.toContain("back-up");
  writeFileSync(sink, lines);
  spoil(file, "update audit set entry = replace(entry, 'stored', 'other') where seq = 5");
  expect((await against(sink)).err).not.toContain("back-up");
});

test("a restore explains no difference of a line that was written after it", async () => {
  await restored();
  rmSync(sink);
  const minute = 200 * 60;
  await write(at(minute), at(minute + 1), at(minute + 2));
  expect(await against(sink)).toMatchObject({ code: 0, err: "" });
  spoil(file, "delete from audit where seq > 6");
  const { code, err } = await against(sink);
  expect([code, err]).toEqual([
    1,
    expect.stringContaining("DIFFERS at entry 7 to 8: in the copy, but not in"),
  ]);
  expect(err).not.toContain("back-up");
});

test("a restore explains a lost line that has the number of a line from after it", async () => {
  await write(at(0), at(1));
  copyFileSync(file, join(folder, "copy.db"));
  await write(at(3));
  copyFileSync(join(folder, "copy.db"), file);
  await write(at(9), restore(8, 2));
  const { err } = await against(sink);
  expect(err).toContain("DIFFERS at entry 3: the copy has different lines for the same entry.");
  expect(err).toContain(`Entry 4 records a restore at ${moment(8)} from a back-up made at ${moment(2)}. `);
});
