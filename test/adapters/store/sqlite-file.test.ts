// What is true of the embedded database file alone.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface, type Interface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { copyDatabase } from "#src/adapters/store/examine-database.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { RunKey } from "#src/domain/ids.ts";
import type { PortError } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import {
  anApproval,
  anAuditEntry,
  aRun,
  aTicket,
  aWatchedRun,
  CHANNEL,
  withApprovals,
} from "../../make/run.ts";

let folder = "";
let file = "";
const closers: (() => unknown)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "store-"));
  file = join(folder, "data", "countersign.db");
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true });
});

async function open(onCorrupt?: (key: RunKey, error: PortError) => void): Promise<Store> {
  const store = await openStore({
    url: `sqlite:${file}`,
    owner: "test",
    ...(onCorrupt === undefined ? {} : { onCorrupt }),
  });
  closers.push(() => store.close());
  return store;
}

/** Changes the file past the store, while it is closed. */
function inFile<Answer>(work: (raw: DatabaseSync) => Answer): Answer {
  const raw = new DatabaseSync(file);
  try {
    return work(raw);
  } finally {
    raw.close();
  }
}

function otherProcess(task: "hold" | "write"): { child: ChildProcess; lines: Interface } {
  const script = fileURLToPath(new URL("other-process.ts", import.meta.url));
  const child = spawn(process.execPath, [script, task, `sqlite:${file}`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  closers.push(() => child.kill("SIGKILL"));
  return { child, lines: createInterface({ input: child.stdout }) };
}

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "close");
  child.kill("SIGKILL");
  await gone;
}

const modeOf = (path: string): number => statSync(path).mode & 0o777;

test("the file and its write-ahead log are accessible to their owner only, and missing folders are created", async () => {
  const store = await open();
  await store.insert(aRun(), {});
  expect(modeOf(file)).toBe(0o600);
  expect(modeOf(`${file}-wal`)).toBe(0o600);
  expect(modeOf(join(folder, "data"))).toBe(0o700);
});

test("a file that was open to others is closed to them", async () => {
  await (await open()).close();
  chmodSync(file, 0o644);
  await open();
  expect(modeOf(file)).toBe(0o600);
});

test("a restart finds everything, and the previous process's leases are void", async () => {
  const approval = anApproval();
  const run = withApprovals(aWatchedRun(), approval);
  const ticket = aTicket(run, approval);
  const before = await open();
  await before.insert(run, { intention: "command" });
  await before.saveForm(ticket);
  await before.putDocument("outages", [1, 2]);
  await before.close();

  const after = await open();
  expect(await after.load(run.key)).toEqual({ run, revision: 1 });
  expect(await after.byButton(approval.nonce)).toMatchObject({ run: run.key, approval: approval.id });
  expect(await after.form(ticket.nonce)).toEqual(ticket);
  expect(await after.document("outages")).toEqual([1, 2]);
  expect(await after.insert(aRun(), { intention: "command" })).toEqual({ known: run.key });
  // Even though both processes gave the same name.
  expect(await after.save({ run, revision: 1 }, run, { mustHold: true })).toBe("not-held");
  expect(await after.claim(10)).toEqual([{ run, revision: 2 }]);
});

test("a second process is refused while the first lives, and accepted after it was killed", async () => {
  const { child, lines } = otherProcess("hold");
  await once(lines, "line");
  await expect(open()).rejects.toThrow(
    `cannot use the database ${file}: process ${child.pid} (node) is using it`,
  );
  await kill(child);
  await expect(open()).resolves.toBeDefined();
});

test("a second opening inside the same process is refused too", async () => {
  await open();
  await expect(open()).rejects.toThrow(`process ${process.pid}`);
});

test("a program that reads the file blocks no one, and is not blocked", async () => {
  await (await open()).close();
  const reader = new DatabaseSync(file, { readOnly: true });
  closers.push(() => reader.close());
  reader.exec("begin; select * from runs");
  const store = await open();
  const run = aRun();
  expect(await store.insert(run, {})).toBe("stored");
  reader.exec("commit");
  expect(reader.prepare("select key from runs").all()).toEqual([{ key: run.key }]);
});

test("a program that writes to the file delays a write, and nothing is lost", async () => {
  const store = await open();
  const writer = new DatabaseSync(file);
  closers.push(() => writer.close());
  writer.exec("begin immediate");
  const run = aRun();
  await expect(store.insert(run, {})).rejects.toMatchObject({ code: "store_busy", applied: "no" });
  writer.exec("rollback");
  expect(await store.insert(run, {})).toBe("stored");
});

describe("a copy of the database", () => {
  async function keysInCopy(): Promise<readonly unknown[]> {
    const copy = await copyDatabase(file);
    closers.push(copy.remove);
    const raw = new DatabaseSync(copy.file);
    closers.push(() => raw.close());
    expect(raw.prepare("pragma integrity_check").get()).toEqual({ integrity_check: "ok" });
    return raw.prepare("select key from runs").all();
  }

  const filesBeside = (): Record<string, string> =>
    Object.fromEntries(
      readdirSync(join(folder, "data")).map((name) => [
        name,
        createHash("sha256")
          .update(readFileSync(join(folder, "data", name)))
          .digest("hex"),
      ]),
    );

  test("contains what is committed while the bot has the database open", async () => {
    const store = await open();
    const run = aRun();
    await store.insert(run, {});
    expect(await keysInCopy()).toEqual([{ key: run.key }]);
  });

  test("contains what is committed after the bot was killed, and changes no file", async () => {
    const { child, lines } = otherProcess("write");
    let acknowledged = 0;
    lines.on("line", () => (acknowledged += 1) === 20 && child.kill("SIGKILL"));
    await once(child, "close");
    const before = filesBeside();
    expect((await keysInCopy()).length).toBeGreaterThan(0);
    expect(filesBeside()).toEqual(before);
  });

  test("creates no file beside a database that was closed", async () => {
    await (await open()).close();
    const before = filesBeside();
    await keysInCopy();
    expect(filesBeside()).toEqual(before);
  });

  test("is whole while another process writes", async () => {
    const { lines } = otherProcess("write");
    await once(lines, "line");
    const seen = [];
    for (let round = 0; round < 5; round += 1) seen.push((await keysInCopy()).length);
    expect(seen.toSorted((a, b) => a - b)).toEqual(seen);
  });
});

describe("while the store is open, a file that is", () => {
  const gone = { code: "store_gone", applied: "no" };
  const change: Record<string, () => void> = {
    deleted: () => rmSync(file),
    "deleted with its log": () => [file, `${file}-wal`].forEach((each) => rmSync(each)),
    "robbed of its log": () => rmSync(`${file}-wal`),
    "robbed of its lock": () => rmSync(`${file}.lock`),
    replaced: () => {
      writeFileSync(`${file}.other`, "");
      renameSync(`${file}.other`, file);
    },
    "moved away with its folder": () => renameSync(join(folder, "data"), join(folder, "elsewhere")),
  };

  test.each(Object.keys(change))("%s accepts no more writes, and is reported as unhealthy", async (how) => {
    const store = await open();
    await store.insert(aRun(), {});
    await store.ping();
    change[how]?.();
    await expect(store.insert(aRun(), {})).rejects.toMatchObject(gone);
    const which = how === "robbed of its lock" ? "its lock file" : "its file";
    await expect(store.ping()).rejects.toThrow(`${which} was deleted or replaced`);
  });

  test("robbed of its lock has everything for the next start, which makes a lock again", async () => {
    const [store, run] = [await open(), aRun()];
    await store.insert(run, {});
    rmSync(`${file}.lock`);
    await store.close();
    const next = await open();
    expect(await next.load(run.key)).toMatchObject({ run });
    expect(await next.insert(aRun(), {})).toBe("stored");
  });

  test("moved away and back accepts writes again", async () => {
    const store = await open();
    await store.insert(aRun(), {});
    renameSync(file, `${file}.kept`);
    await expect(store.audit([anAuditEntry(aRun())])).rejects.toMatchObject(gone);
    renameSync(`${file}.kept`, file);
    const run = aRun();
    expect(await store.insert(run, {})).toBe("stored");
    await store.close();
    expect(await (await open()).load(run.key)).toMatchObject({ run });
  });
});

test("kill -9 at any moment loses nothing that was acknowledged", async () => {
  const acknowledged = new Map<RunKey, number>();
  for (const [round, atLeast] of [1, 40, 7, 120, 23].entries()) {
    const { child, lines } = otherProcess("write");
    let acknowledgedCount = 0;
    lines.on("line", (line) => {
      const [key = "", revision = ""] = line.split(" ");
      if (key === "open") return;
      acknowledged.set(RunKey(key), Number(revision));
      acknowledgedCount += 1;
      if (acknowledgedCount === atLeast) child.kill("SIGKILL");
    });
    await once(child, "close");
    const store = await open();
    for (const [key, revision] of acknowledged) {
      const found = await store.load(key);
      expect(found?.revision, `round ${round}, ${key}`).toBeGreaterThanOrEqual(revision);
      expect(await store.byButton(found?.run.approvals[0]?.nonce ?? anApproval().nonce)).not.toBeNull();
    }
    await store.close();
  }
  expect(inFile((raw) => raw.prepare("pragma integrity_check").get())).toEqual({ integrity_check: "ok" });
});

test("a newer schema is refused and left unchanged", async () => {
  await (await open()).close();
  inFile((raw) => raw.exec("update schema_version set version = 99"));
  await expect(open()).rejects.toThrow(
    /a newer Countersign has written it \(schema 99; this one knows \d+\)/,
  );
  expect(inFile((raw) => raw.prepare("select version from schema_version").get())).toEqual({ version: 99 });
});

test("the database of another program is refused and left unchanged", async () => {
  mkdirSync(join(folder, "data"));
  inFile((raw) => raw.exec("create table songs (title text)"));
  const mode = modeOf(file);
  await expect(open()).rejects.toThrow(
    `cannot use the database ${file}: it is the database of another program`,
  );
  expect(modeOf(file)).toBe(mode);
  expect(inFile((raw) => raw.prepare("select name from sqlite_schema").all())).toEqual([{ name: "songs" }]);
});

test.each([
  [
    "a text file",
    (): unknown => writeFileSync(file, "not a database at all, ".repeat(50)),
    "it is not a database",
  ],
  ["a folder", (): unknown => mkdirSync(file), "it cannot be opened"],
  [
    "a path below a file",
    (): unknown => {
      file = join(folder, "plain", "countersign.db");
      return writeFileSync(join(folder, "plain"), "");
    },
    "a part of its path is not a folder",
  ],
])("%s is refused in one line", async (_, prepare, words) => {
  mkdirSync(join(folder, "data"));
  prepare();
  await expect(open()).rejects.toThrow(new Error(`cannot use the database ${file}: ${words}`));
});

test.each([
  ["postgres://user:secret@db/countersign", "set AUDIT_KEY to what `openssl rand -base64 32` prints"],
  ["mysql:db", "its URL must be sqlite:PATH"],
  ["sqlite:", "its URL must be sqlite:PATH"],
  ["sqlite://data/countersign.db", "its URL must be sqlite:PATH"],
])("the URL %s is refused without being repeated", async (url, words) => {
  const opening = openStore({ url, owner: "test" });
  await expect(opening).rejects.toThrow(words);
  await expect(opening).rejects.not.toThrow("secret");
});

test.each([
  ["is not JSON", "update runs set doc = '{' where key = ?"],
  ["is not a record", "update runs set doc = '[]' where key = ?"],
  ["names another run", `update runs set doc = '{"key":"other"}' where key = ?`],
  ["is written in an unknown version", "update runs set doc_version = 99 where key = ?"],
])("a row that %s is reported and does not affect other runs", async (_, damage) => {
  const [bad, good] = [aRun(), aRun()];
  const before = await open();
  await before.insert(bad, {});
  await before.insert(good, {});
  await before.close();
  inFile((raw) => raw.prepare(damage).run(bad.key));

  const reported: [string, string][] = [];
  const store = await open((key, error) => reported.push([key, error.code]));
  const claimed = await store.claim(10);
  expect(claimed.map(({ run }) => run)).toEqual([good]);
  expect(reported).toEqual([[bad.key, "row_unreadable"]]);
  expect(await store.list({ channels: [CHANNEL], only: "all", limit: 10 })).toEqual([good]);
  expect(reported).toHaveLength(2);
  const loading = store.load(bad.key);
  await expect(loading).rejects.toMatchObject({ code: "row_unreadable", applied: "no", retry: "never" });
  // The row is held, so that it does not block every further claim.
  expect(await store.claim(10)).toEqual([]);
});

test("the audit is written with what it describes, stays when the run is deleted, and cannot be changed", async () => {
  const run = aRun();
  const store = await open();
  await store.insert(run, { audit: [anAuditEntry(run)] });
  await store.insert(run, { audit: [anAuditEntry(run, { outcome: "never" })] });
  const decided = anAuditEntry(run, { what: "decided", verdict: "deny", reason: "no\u0000 ‮way" });
  await store.save({ run, revision: 1 }, run, { audit: [decided], finished: true });
  await store.save({ run, revision: 1 }, run, { audit: [anAuditEntry(run, { outcome: "never" })] });
  await store.audit(Array.from({ length: 2_500 }, () => anAuditEntry(run, { what: "refused", run: null })));
  await store.audit([]);
  expect(await store.forget(Number.MAX_SAFE_INTEGER)).toBe(1);
  await store.close();

  const rows = inFile((raw) => raw.prepare("select * from audit order by seq").all());
  expect(rows).toHaveLength(2_502);
  expect(rows.slice(0, 2).map(({ entry }) => JSON.parse(String(entry)) as unknown)).toEqual([
    anAuditEntry(run),
    decided,
  ]);
  expect(rows[1]).toMatchObject({ what: "decided", run: run.key, by_user: run.requester, at: decided.at });
  expect(() => inFile((raw) => raw.exec("delete from audit"))).toThrow("audit is append-only");
  expect(() => inFile((raw) => raw.exec("update audit set at = 0"))).toThrow("audit is append-only");
});

test("rows that cannot be read do not count towards the limit of a list", async () => {
  const before = await open();
  for (let at = 0; at < 7; at += 1) await before.insert(aRun(), {});
  const list = (from: Store, limit: number) => from.list({ channels: [CHANNEL], only: "all", limit });
  const newest = (await list(before, 7)).map(({ key }) => key);
  await before.close();
  for (const bad of newest.slice(0, 4))
    inFile((raw) => raw.prepare("update runs set doc = '{' where key = ?").run(bad));
  const store = await open(() => undefined);
  expect((await list(store, 1)).map(({ key }) => key)).toEqual(newest.slice(4, 5));
  expect((await list(store, 3)).map(({ key }) => key)).toEqual(newest.slice(4));
  expect(await list(store, 4)).toHaveLength(3);
});
