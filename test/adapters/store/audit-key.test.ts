// The key that signs the audit, and the changes that the database itself refuses.

import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditVerdict } from "#src/cli/audit/inspect.ts";
import { linkText, signedText } from "#src/domain/audit/hash-chain.ts";
import { canonicalJson } from "#src/domain/json.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import {
  type AuditKey,
  auditKeyFile,
  auditKeyOf,
  auditSignatures,
  readAuditKey,
} from "#src/adapters/store/audit-key.ts";
import { type AuditKeyNews, openStore, storeOn } from "#src/adapters/store/open.ts";
import { NO_SIGNALS } from "#src/adapters/store/postgres-signals.ts";
import { openSqlite, SQLITE } from "#src/adapters/store/sqlite.ts";
import { rotateKey } from "#src/adapters/store/audit-upkeep.ts";
import { KEY_RETIRED } from "#src/ports/store.ts";
import { sha256 } from "../../audit/tampering.ts";
import { anAuditEntry, aRun, NOON } from "../../make/run.ts";
import { spoil } from "../../make/spoil.ts";

let folder = "";
let file = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-"));
  file = join(folder, "data", "countersign.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

async function write(auditKey: string | null = null): Promise<AuditKeyNews[]> {
  const news: AuditKeyNews[] = [];
  const onAuditKey = (each: AuditKeyNews): void => void news.push(each);
  const store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey, onAuditKey });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
  return news;
}

async function verify(...publicKeys: string[]) {
  const audit = await openAuditFile(file);
  const verdict = await auditVerdict(audit, publicKeys, []);
  await audit.close();
  return verdict;
}

const seed = (byte: number): string => Buffer.alloc(32, byte).toString("base64");

test("without a key in the environment, one is created beside the database, for its owner only, and kept", async () => {
  const where = auditKeyFile(file);
  expect(await write()).toEqual([{ type: "made", file: where }]);
  expect(statSync(where).mode & 0o777).toBe(0o600);
  const made = readFileSync(where, "utf8");
  expect(await write()).toEqual([]);
  expect(readFileSync(where, "utf8")).toBe(made);
  expect(await verify(readAuditKey(file)?.publicKey ?? "")).toMatchObject({ ok: true, entries: 2 });
});

test("a start refuses an empty database whose key is still there, and creates none", async () => {
  await write();
  const database = readFileSync(file);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  await expect(write()).rejects.toThrow(/missing or empty, but its audit key/);
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, "");
  await expect(write()).rejects.toThrow(/missing or empty, but its audit key/);
  writeFileSync(file, database);
  expect(await write()).toEqual([]);
  expect(await verify(readAuditKey(file)?.publicKey ?? "")).toMatchObject({ ok: true, entries: 2 });
});

test("with a key in the environment, none is created", async () => {
  expect(await write(seed(1))).toEqual([]);
  expect(readAuditKey(file)).toBeNull();
  expect(await verify(auditKeyOf(seed(1)).publicKey)).toMatchObject({ ok: true, entries: 1 });
});

describe("another key", () => {
  const [one, two] = [auditKeyOf(seed(1)), auditKeyOf(seed(2))];
  const rotate = () => rotateKey(file, { from: one, to: two }, NOON);

  test("is refused at the start, and so is a retired one: only the old key can hand over", async () => {
    await write(seed(1));
    await expect(write(seed(2))).rejects.toThrow(
      `signed with the key ${one.id}, and the key here is ${two.id}`,
    );
    expect(await rotate()).toBe("rotated");
    await expect(write(seed(1))).rejects.toThrow(`signed with the key ${two.id}`);
    await write(seed(2));
    expect(await rotate()).toBe("already");
  });

  test("takes over with an entry that the old key signs, and one of its own", async () => {
    await write(seed(1));
    await rotate();
    await write(seed(2));
    const audit = await openAuditFile(file);
    const rows = await Array.fromAsync(audit.rows());
    await audit.close();
    const entries = rows.map(({ key, columns }) => [columns.what, key]);
    expect(entries).toEqual([
      ["started", one.id],
      ["key-changed", one.id],
      ["key-accepted", two.id],
      ["started", two.id],
    ]);
  });

  test("is accepted by a verifier who has any of the keys; a stranger's key does not count", async () => {
    await write(seed(1));
    await rotate();
    await write(seed(2));
    const [whole, stranger] = [{ ok: true, entries: 4 }, auditKeyOf(seed(3)).publicKey];
    expect(await verify(one.publicKey)).toMatchObject(whole);
    expect(await verify(two.publicKey)).toMatchObject(whole);
    expect(await verify(one.publicKey, two.publicKey)).toMatchObject(whole);
    expect(await verify(two.publicKey, stranger)).toMatchObject({ ok: false, fault: "not-pinned" });
  });

  test("keeps earlier seals and entries valid", async () => {
    const run = aRun();
    const first = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: seed(1) });
    await first.insert(run, { audit: [anAuditEntry(run)] });
    const before = await first.load(run.key);
    await first.close();
    await rotate();
    const second = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: seed(2) });
    expect(await second.load(run.key)).toEqual(before);
    expect(await second.checkAudit()).toEqual([]);
    expect(await second.provenEntry(1)).toMatchObject({ ok: true });
    await second.close();
  });

  test("that took over proves no earlier entry behind a changed one, and only the changed one is accused", async () => {
    for (let starts = 0; starts < 3; starts += 1) await write(seed(1));
    spoil(file, "update audit set entry = replace(entry, 'started', 'stopped') where seq = 2");
    await rotate();
    const store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: seed(2) });
    const findings = await store.checkAudit();
    expect(findings.map(({ words }) => words)).toEqual([expect.stringMatching(/^audit entry 2: /)]);
    for (const seq of [1, 2])
      expect(await store.provenEntry(seq)).toMatchObject({ ok: false, finding: findings[0] });
    expect(await store.provenEntry(3)).toMatchObject({ ok: true });
    await store.close();
  });

  const named = ({ id, publicKey }: AuditKey) => ({ id, publicKey });
  const forged = (key: AuditKey, entry: object, drop = 0): void => {
    const raw = new DatabaseSync(file);
    for (const { name } of raw.prepare("select name from sqlite_schema where type = 'trigger'").all())
      raw.exec(`drop trigger ${String(name)}`);
    const last = raw.prepare("select max(seq) - ? as seq from audit").get(drop) as { seq: number };
    raw.prepare("delete from audit where seq > ?").run(last.seq);
    const { link } = raw.prepare("select link from audit where seq = ?").get(last.seq) as { link: string };
    const [seq, text] = [last.seq + 1, canonicalJson({ at: 5, what: "refused", ...entry })];
    const next = sha256(linkText(link, { seq, key: key.id, text }));
    raw
      .prepare("insert into audit (seq, at, what, entry, link, key, signature) values (?, 5, ?, ?, ?, ?, ?)")
      .run(
        seq,
        "what" in entry ? String(entry.what) : "refused",
        text,
        next,
        key.id,
        key.sign(signedText({ seq, link: next })),
      );
    raw.close();
  };

  test("that was retired signs nothing more, even if an auditor pins it", async () => {
    await write(seed(1));
    await rotate();
    forged(one, {});
    expect(await verify(one.publicKey, two.publicKey)).toEqual({ ok: false, fault: "key-order", seq: 4 });
  });

  test("that was retired records nothing more in a process that still has it", async () => {
    await write(seed(1));
    await rotate();
    const parts = { file, owner: "test", key: one, now: () => NOON, signals: NO_SIGNALS };
    const timeOf = SQLITE.timeOf;
    const store = storeOn(openSqlite(file), { ...parts, timeOf, onCorrupt: () => undefined });
    await expect(store.audit([anAuditEntry(aRun())])).rejects.toMatchObject({ code: KEY_RETIRED });
    await expect(store.renew(NOON, 1_000)).rejects.toMatchObject({ code: KEY_RETIRED });
    await store.close();
    expect(await verify(two.publicKey)).toMatchObject({ ok: true, entries: 3 });
  });

  test("does not retire this program's by rows that this program did not sign", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: seed(1) });
    await store.audit([anAuditEntry(aRun())]);
    forged({ ...two, id: one.id }, { what: "key-changed", keys: { from: named(one), to: named(two) } });
    forged(two, { what: "key-accepted" });
    await store.audit([anAuditEntry(aRun())]);
    expect((await store.auditHead())?.seq).toBe(4);
    await store.close();
  });

  test("proves no entry that was put between those of this program", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey: seed(1) });
    await store.audit([anAuditEntry(aRun())]);
    forged(two, { what: "freeze-lifted", refers: 1 });
    await store.audit([anAuditEntry(aRun())]);
    const finding = { id: expect.stringMatching("^unknown-key 2 ") as string };
    expect(await store.provenEntry(2)).toMatchObject({ ok: false, finding });
    expect(await store.provenEntry(3)).toMatchObject({ ok: true });
    await store.close();
  });

  test("does not take over without an entry by the old key", async () => {
    await write(seed(1));
    forged(two, {});
    expect(await verify(one.publicKey, two.publicKey)).toEqual({ ok: false, fault: "key-order", seq: 2 });
    forged(two, { what: "key-changed", keys: { from: named(one), to: named(two) } }, 1);
    expect(await verify(one.publicKey, two.publicKey)).toEqual({ ok: false, fault: "key-order", seq: 2 });
  });
});

test("a missing key is not created again while an audit is signed with it", async () => {
  await write();
  rmSync(auditKeyFile(file));
  await expect(write()).rejects.toThrow("is gone: put it back");
  expect(readAuditKey(file)).toBeNull();
});

test.for(["", "short", Buffer.alloc(31).toString("base64")])("%j is not a key", (text) => {
  expect(() => auditKeyOf(text)).toThrow("not 32 bytes");
  expect(() => auditSignatures([text])).toThrow("32 bytes");
});

test("a database with a newer schema is not read as if it were known", async () => {
  await write(seed(1));
  const raw = new DatabaseSync(file);
  raw.exec("update schema_version set version = 99");
  raw.close();
  await expect(openAuditFile(file)).rejects.toThrow("a newer Countersign has written it (schema 99");
});

test("the audit and its texts refuse every change", async () => {
  await write(seed(1));
  const raw = new DatabaseSync(file);
  expect(() => raw.exec("delete from audit")).toThrow("audit is append-only");
  expect(() =>
    raw.exec("insert into audit_texts values ('d', 't'); update audit_texts set text = ''"),
  ).toThrow("append-only");
  raw.close();
});
