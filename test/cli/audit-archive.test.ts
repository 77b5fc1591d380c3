// `npm run audit -- archive`: old entries move into a signed file, the rest stays verifiable, and a removal cannot be hidden behind it.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { headWords } from "#src/domain/audit/hash-chain.ts";
import { RunId } from "#src/domain/ids.ts";
import { createAuditStream } from "#src/notifications/audit-stream.ts";
import type { Store } from "#src/ports/store.ts";
import { sha256 } from "../audit/tampering.ts";
import { spoil } from "../make/spoil.ts";
import { createHandClock } from "../make/clock.ts";
import { quietLog } from "../make/quiet.ts";
import { runCommand } from "../make/run-command.ts";
import { anApproval, anAuditEntry, aRun, aWatchedRun, NOON } from "../make/run.ts";
import { eventually } from "../make/eventually.ts";

const DAY_MS = 86_400_000;
/** The entries of a test are one day apart, starting on the first of November. */
const at = (day: number): number => Date.UTC(2026, 10, day, 12);
const POLICY = "rules:\n  - { name: all, approvers: anyone }\n";

let folder = "";
let file = "";
let out = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-archive-"));
  [file, out] = [join(folder, "bot.db"), join(folder, "old.jsonl")];
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = aRun();
const text = (id: string): string => JSON.stringify(["run_7", id, { action: `do ${id}` }]);
const about = (id: string) => ({ approval: anApproval(id).id, digest: sha256(text(id)), text: text(id) });

async function inStore<Answer>(act: (store: Store) => Promise<Answer>): Promise<Answer> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  try {
    return await act(store);
  } finally {
    await store.close();
  }
}

/** Writes entries 1 to 6 on the first days of November, then these. Entry 5 loads the newest policy. */
async function write(...more: readonly AuditEntry[]): Promise<void> {
  const loaded = anAuditEntry(run, {
    what: "policy-loaded",
    run: null,
    digest: sha256(POLICY),
    text: POLICY,
  });
  const opened = (id: string) => anAuditEntry(run, { what: "opened", runId: RunId("run_7"), ...about(id) });
  const entries = [
    loaded,
    opened("apr_1"),
    opened("apr_2"),
    opened("apr_3"),
    loaded,
    opened("apr_3"),
    ...more,
  ];
  await inStore((store) => store.audit(entries.map((entry, index) => ({ ...entry, at: at(index + 1) }))));
}

type Seen = { readonly code: number | null; readonly words: string };

const audit = (...args: readonly string[]): Promise<Seen> => seenOf(args);

async function seenOf(args: readonly string[], limit: { readonly filesUpTo?: number } = {}): Promise<Seen> {
  const place = { env: { DATABASE_URL: `sqlite:${file}` }, cwd: folder, ...limit };
  const { code, out: printed, err } = await runCommand("audit", args, place);
  return { code, words: printed + err };
}

const archive = (before = "2026-11-04", ...more: readonly string[]): Promise<Seen> =>
  audit("archive", "--before", before, ...more, out);

const change = (sql: string): void => spoil(file, sql);

const saying = (words: string): unknown => expect.stringContaining(words);

const numbers = (): number[] => {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare("select seq from audit order by seq").all();
  db.close();
  return rows.map(({ seq }) => Number(seq));
};

describe("an archived audit", () => {
  test("continues from the archive's head, and is intact both alone and together with its file", async () => {
    await write();
    const old = await inStore(async (store) => headWords({ seq: 2, link: (await store.auditLink(2)) ?? "" }));
    expect((await archive()).words).toContain("Archived: entries 1 to 3 are now in ");
    expect(numbers()).toEqual([4, 5, 6, 7]);
    expect(await audit("verify")).toMatchObject({ code: 0 });
    expect((await audit("verify")).words).toContain("Intact: 4 entries");
    expect((await audit("verify")).words).toContain("Entries 1 to 3 are archived.");
    const both = await audit("verify", "--archive", out, "--head", old);
    expect(both.words).toContain("Intact: 7 entries");
    expect(both.code).toBe(0);
    const alone = await audit("verify", "--head", old);
    expect(alone.words).toContain(
      "NOT VERIFIED at entry 2: a head that you gave, or that a stored run keeps, is older than the first entry here.",
    );
    expect(alone.code).toBe(2);
    expect((await audit("show", "run_7", "--archive", out)).words).toContain("do apr_1");
    const november = ["report", "--from", "2026-11-01", "--to", "2026-11-30"];
    expect((await audit(...november)).words).toContain("Archived entries, not counted | 3 |");
    expect((await audit(...november, "--archive", out)).words).not.toContain("Archived entries");
  });

  test("does not keep verify from finding what else was changed, if a given head is in the archive", async () => {
    await write();
    await archive();
    change("pragma foreign_keys = off; insert into buttons values ('n', 'r', 'a', 1, 'x')");
    const seen = await audit("verify", "--head", `audit 2 · ${"0".repeat(16)}`);
    expect(seen).toMatchObject({ code: 1, words: saying("a stored button was changed outside Countersign") });
  });

  test("causes no finding in the bot, which appends to it", async () => {
    await write();
    const third = await inStore((store) => store.auditLink(3));
    await archive();
    await inStore(async (store) => {
      expect(await store.checkAudit()).toEqual([]);
      expect(await store.walkAudit()).toBeNull();
      expect(await store.provenEntry(4)).toMatchObject({ ok: true });
      await store.audit([anAuditEntry(run)]);
      expect((await store.auditHead())?.seq).toBe(8);
      expect(await store.auditLink(3)).toBe(third);
    });
    expect((await audit("verify")).code).toBe(0);
  });

  test("keeps the texts of its entries, and the database refuses removals as before", async () => {
    await write();
    await archive();
    await inStore(async (store) => {
      expect(await store.auditText(sha256(text("apr_1")))).toBeNull();
      expect(await store.auditText(sha256(text("apr_3")))).toBe(text("apr_3"));
    });
    const db = new DatabaseSync(file);
    expect(() => db.exec("delete from audit where seq = 4")).toThrow("audit is append-only");
    expect(() => db.exec("delete from audit_texts")).toThrow("audit_texts is append-only");
    db.close();
  });

  test("can be archived again, and both files are verified in sequence", async () => {
    await write();
    await archive("2026-11-03");
    const second = join(folder, "newer.jsonl");
    expect((await audit("archive", "--before", "2026-11-04", second)).words).toContain("entries 3 to 3");
    const both = await audit("verify", "--archive", second, "--archive", out);
    expect(both.words).toContain("Intact: 8 entries");
    const later = await audit("verify", "--archive", second);
    expect(later.words).toContain("Intact: 6 entries");
    const gap = await audit("verify", "--archive", out);
    expect(gap.words).toContain("An archive file is missing");
    expect(gap.code).toBe(2);
  });
});

describe("the archive command", () => {
  test.each([
    [
      "a freeze",
      anAuditEntry(run, { what: "frozen", run: null, channel: null }),
      "a freeze in force follows from it",
    ],
    [
      "an open dispute",
      anAuditEntry(run, { what: "disputed", refers: 1 }),
      "it opens a dispute that is not closed. Start Countersign, and close it in Slack with /agent audit close <run id> <what",
    ],
    ["a finding", anAuditEntry(run, { what: "tampering-found", findings: ["x"] }), "it is about tampering"],
    [
      "half a decision",
      anAuditEntry(run, { what: "decided", ...about("apr_9") }),
      "the decision that it belongs to",
    ],
  ])("keeps an entry that still has an effect: %s", async (_, entry, because) => {
    const loaded = anAuditEntry(run, { what: "policy-loaded", run: null, digest: null });
    const later = anAuditEntry(run, { what: "closed", approval: anApproval("apr_9").id, by: null });
    await write(entry, loaded, later);
    const { words } = await archive("2026-11-09");
    expect(words).toContain("Archived: entries 1 to 6 are now in");
    expect(words).toContain(`Entry 7 must stay: ${because}`);
    expect((await audit("verify")).words).toContain("Intact: 4 entries");
  });

  test("keeps the freeze in force if two began at once and one was lifted", async () => {
    const frozen = anAuditEntry(run, { what: "frozen", run: null, channel: null });
    const lifted = anAuditEntry(run, { what: "freeze-lifted", run: null, channel: null, refers: 7 });
    const loaded = anAuditEntry(run, { what: "policy-loaded", run: null, digest: null });
    const later = anAuditEntry(run, { what: "closed", approval: anApproval("apr_9").id, by: null });
    await write(frozen, frozen, lifted, loaded, later);
    expect((await archive("2026-11-11")).words).toContain(
      "Entry 8 must stay: a freeze in force follows from it",
    );
  });

  test("keeps the policy in force, entries of stored runs, and entries that AUDIT_SINK has not received", async () => {
    await write();
    expect((await archive("2026-12-01")).words).toContain(
      "Entry 5 must stay: the policy in force follows from it",
    );
    const stored = aWatchedRun();
    await inStore((store) => store.insert(stored, { audit: [anAuditEntry(stored, { at: at(8) })] }));
    await inStore((store) => store.putDocument("audit stream", { to: "stdout", seq: 5, link: "x" }));
    const loaded = anAuditEntry(run, { what: "policy-loaded", run: null, at: at(9) });
    await inStore((store) => store.audit([loaded]));
    rmSync(out);
    expect((await archive("2026-12-01")).words).toContain(
      "Entry 6 must stay: AUDIT_SINK (stdout) has not taken it yet",
    );
    await inStore((store) => store.putDocument("audit stream", { to: "stdout", seq: 9, link: "x" }));
    expect((await archive("2026-12-01")).code).toBe(2);
    rmSync(out);
    expect((await archive("2026-12-01")).words).toContain(
      "must stay: its run is still stored (finished runs",
    );
    const disputed = anAuditEntry(stored, { what: "disputed", runId: RunId("run_7"), refers: 1 });
    await inStore((store) => store.audit([disputed]));
    expect((await archive("2026-12-01")).words).toMatch(
      /its run is still stored, and stays while it has an open dispute\. .*\/agent audit close run_7 <what you found>/,
    );
  });

  test("keeps what a removed AUDIT_SINK has not received, unless that copy is given up, which is recorded", async () => {
    await write();
    await inStore((store) => store.putDocument("audit stream", { to: "file:/x.jsonl", seq: 0, link: "x" }));
    expect((await archive()).words).toMatch(
      /Entry 1 must stay: AUDIT_SINK \(file:\/x\.jsonl\) has not taken it yet\. .*--without-sink/,
    );
    expect((await archive("2026-11-04", "--without-sink")).words).toContain("entries 1 to 3 are now in");
    await inStore(async (store) => {
      const said = await store.auditEntry(7);
      expect(said?.entry.outcome).toMatch(
        /^entries 1 to 3, archived at the shell by .*; AUDIT_SINK \(file:\/x\.jsonl\) was given up, and has taken none of them from entry 1 on$/,
      );
      expect(await store.document("audit stream")).toBeNull();
    });
    expect((await audit("verify", "--archive", out)).code).toBe(0);
  });

  test("keeps what AUDIT_SINK has not received since its copy was given up, while it keeps failing", async () => {
    await write();
    await inStore((store) => store.putDocument("audit stream", { to: "file:/x.jsonl", seq: 0, link: "x" }));
    await archive("2026-11-03", "--without-sink");
    await inStore(async (store) => {
      const clock = createHandClock();
      let failures = 0;
      const stream = createAuditStream({
        store,
        auditSink: {
          name: "file:/x.jsonl",
          write: () => Promise.reject(new Error("away")),
          close: () => Promise.resolve(),
        },
        engine: { holdsShard: () => true },
        integrity: { found: () => undefined },
        metrics: { auditSinkFailed: () => void (failures += 1), auditSinkLag: () => undefined },
        clock,
        log: quietLog([], []),
      });
      stream.start();
      await eventually(async () => {
        await clock.pass(1);
        expect(failures).toBe(1);
      });
      await stream.stop(1_000);
    });
    const newer = join(folder, "newer.jsonl");
    expect((await audit("archive", "--before", "2026-11-04", newer)).words).toContain(
      "There is nothing to archive. Entry 3 must stay: AUDIT_SINK (file:/x.jsonl) has not taken it yet",
    );
  });

  test("masks control characters in the name of a sink that was written into the database", async () => {
    await write();
    const to = "file:/x\u001b[2J\n) has taken all of them";
    await inStore((store) => store.putDocument("audit stream", { to, seq: 0, link: "x" }));
    const refused = await archive();
    expect(refused.words).not.toContain("\u001b");
    expect(refused.words).toContain("AUDIT_SINK (file:/x⟨U+001B⟩");
    await archive("2026-11-04", "--without-sink");
    await inStore(async (store) => {
      expect((await store.auditEntry(7))?.entry.outcome).toContain("AUDIT_SINK (file:/x⟨U+001B⟩");
    });
  });

  test("does not mention a sink that has received everything", async () => {
    await write();
    const cursor = { to: "stdout", seq: 3, link: "x" };
    await inStore((store) => store.putDocument("audit stream", cursor));
    await archive("2026-11-04", "--without-sink");
    await inStore(async (store) => {
      expect((await store.auditEntry(7))?.entry.outcome).not.toContain("AUDIT_SINK");
      expect(await store.document("audit stream")).toEqual(cursor);
    });
  });

  test("says that the entries are in the file, also if the database cannot be shrunk afterwards", async () => {
    const texts = Array.from("abcdefghijklmnopqrst", (letter) => letter.repeat(30_000));
    await write(...texts.map((each) => anAuditEntry(run, { digest: sha256(each), text: each })));
    const { code, words } = await seenOf(["archive", "--before", "2026-11-04", out], { filesUpTo: 400 });
    expect(words).toContain("Archived: entries 1 to 3 are now in ");
    expect(words).toContain("Keep the file: ");
    expect(words).toContain("The database file could not be shrunk (");
    expect(code).toBe(0);
    expect(numbers()).toEqual(Array.from({ length: 24 }, (_, index) => index + 4));
    expect((await audit("verify", "--archive", out)).words).toContain("Intact: 27 entries");
  });

  test("removes nothing if the file exists, the bot runs, or the audit was tampered with", async () => {
    await write();
    writeFileSync(out, "mine");
    expect(await archive()).toMatchObject({ code: 2, words: saying("already exists") });
    expect(readFileSync(out, "utf8")).toBe("mine");
    rmSync(out);
    const nowhere = await audit("archive", "--before", "2026-11-04", join(folder, "no", "old.jsonl"));
    expect(nowhere).toMatchObject({ code: 2, words: saying("folder does not exist. Nothing was archived") });
    const store = await openStore({ url: `sqlite:${file}`, owner: "the bot" });
    expect((await archive()).words).toContain("is using it");
    await store.close();
    expect(existsSync(out)).toBe(false);
    change("update audit set entry = replace(entry, 'apr_1', 'apr_8') where seq = 2");
    const seen = await archive();
    expect(seen.words).toContain("Nothing was archived.");
    expect(seen.code).toBe(1);
    expect(numbers()).toEqual([1, 2, 3, 4, 5, 6]);
  });
});

describe("an attacker with the database and the files, but without the key, is detected", () => {
  test("who removes entries without archiving them", async () => {
    await write();
    change("delete from audit where seq < 3");
    expect((await audit("verify")).code).toBe(1);
    await inStore(async (store) => expect(await store.checkAudit()).not.toEqual([]));
  });

  test("who makes the entry about the archive cover more", async () => {
    await write();
    await archive();
    const row = new DatabaseSync(file, { readOnly: true });
    const link = String(row.prepare("select link from audit where seq = 5").get()?.["link"]);
    const old = String(row.prepare("select link from audit where seq = 4").get()?.["link"]);
    row.close();
    change(`update audit set entry = json_set(entry, '$.archive.seq', 5, '$.archive.link', '${link}') where seq = 7;
      delete from audit where seq < 6`);
    expect(old).not.toBe(link);
    expect((await audit("verify")).words).toContain("TAMPERED at entry 7");
    await inStore(async (store) => {
      expect(await store.checkAudit()).not.toEqual([]);
      expect(await store.walkAudit()).not.toBeNull();
    });
  });

  test.each([
    ["an entry", "do apr_1", "do apr_8"],
    ["an entry's fields", "opened", "closed"],
    ["the signature", '"signature":"', '"signature":"A'],
    ["its end", /\n[^\n]*\n$/, "\n"],
    ["a line", /\n[^\n]*apr_2[^\n]*/, ""],
  ])("who changes %s in the file", async (_, from, to) => {
    await write();
    await archive();
    writeFileSync(out, readFileSync(out, "utf8").replace(from, to));
    const { code, words } = await audit("verify", "--archive", out);
    expect(code).not.toBe(0);
    expect(words).toMatch(/is not a complete archive|is not signed with a key|TAMPERED/);
  });

  test("who presents the archive of another audit", async () => {
    await write();
    await archive();
    const [mine, theirs] = [file, out];
    [file, out] = [join(folder, "other.db"), join(folder, "other.jsonl")];
    await write(anAuditEntry(run, { reason: "another audit" }));
    await archive();
    file = mine;
    const { code, words } = await audit("verify", "--archive", out);
    expect(code).toBe(2);
    expect(words).toContain("belongs to another audit");
    expect((await audit("verify", "--archive", theirs)).code).toBe(0);
  });
});

test("--before accepts a time as well as a day", async () => {
  await write();
  const { words } = await archive(new Date(NOON - 18 * DAY_MS + 1).toISOString());
  expect(words).toContain("entries 1 to 2");
});
