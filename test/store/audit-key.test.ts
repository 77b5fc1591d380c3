// The key that signs the audit, and the entries that are older than the chain.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyAudit } from "#src/core/audit-verify.ts";
import { openAuditFile } from "#src/store/audit-file.ts";
import { auditKeyFile, auditKeyOf, auditSignatures, readAuditKey } from "#src/store/audit-key.ts";
import { type AuditKeyNews, openStore } from "#src/store/open.ts";
import { MIGRATIONS } from "#src/store/schema.ts";
import { SQLITE } from "#src/store/sqlite.ts";
import { sha256 } from "../audit/tampering.ts";
import { anAuditEntry, aRun } from "../make/run.ts";

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
  const tools = { hash: sha256, signature: auditSignatures(publicKeys), textOf: audit.textOf };
  const verdict = await verifyAudit(audit.rows(), tools);
  await audit.close();
  return verdict;
}

const seed = (byte: number): string => Buffer.alloc(32, byte).toString("base64");

test("without a key in the environment one is made beside the database, for its owner only, and kept", async () => {
  const where = auditKeyFile(file);
  expect(await write()).toEqual([{ is: "made", file: where }]);
  expect(statSync(where).mode & 0o777).toBe(0o600);
  const made = readFileSync(where, "utf8");
  expect(await write()).toEqual([]);
  expect(readFileSync(where, "utf8")).toBe(made);
  expect(await verify(readAuditKey(file)?.publicKey ?? "")).toMatchObject({ ok: true, entries: 2 });
});

test("with a key in the environment none is made", async () => {
  expect(await write(seed(1))).toEqual([]);
  expect(readAuditKey(file)).toBeNull();
  expect(await verify(auditKeyOf(seed(1)).publicKey)).toMatchObject({ ok: true, entries: 1 });
});

test("another key is an entry of its own, and both halves are needed to verify", async () => {
  const [one, two] = [auditKeyOf(seed(1)), auditKeyOf(seed(2))];
  await write(seed(1));
  expect(await write(seed(2))).toEqual([{ is: "changed", from: one.id, to: two.id }]);
  expect(await verify(one.publicKey, two.publicKey)).toMatchObject({ ok: true, entries: 3 });
  expect(await verify(two.publicKey)).toEqual({ ok: false, fault: "unknown-key", seq: 1 });
  expect(await verify(one.publicKey)).toEqual({ ok: false, fault: "unknown-key", seq: 2 });
});

test.for(["", "short", Buffer.alloc(31).toString("base64")])("%j is no key", (text) => {
  expect(() => auditKeyOf(text)).toThrow("not 32 bytes");
  expect(() => auditSignatures([text])).toThrow("32 bytes");
});

/** A database as the first version of the schema left it. */
function earlier(entries: readonly { seq: number; entry: object }[]): void {
  mkdirSync(join(folder, "data"));
  const raw = new DatabaseSync(file);
  raw.exec("pragma application_id = 0x4353676e");
  for (const statement of MIGRATIONS[0]?.(SQLITE) ?? []) raw.exec(String(statement));
  raw.exec("create table schema_version (version integer not null); insert into schema_version values (1)");
  const insert = raw.prepare(
    "insert into audit (seq, at, what, run, entry) values (?, 5, 'decided', 'k', ?)",
  );
  for (const { seq, entry } of entries) insert.run(seq, JSON.stringify(entry));
  raw.close();
}

test("entries of before the chain are chained as they are found, and said to be older", async () => {
  const entry = { what: "decided", run: "k", at: 5, reason: "“why” \u0000" };
  // A number is missing: the chain cannot mend what happened before it.
  earlier([1, 2, 4].map((seq) => ({ seq, entry: { ...entry, seq } })));
  await write(seed(1));
  const verdict = await verify(auditKeyOf(seed(1)).publicKey);
  expect(verdict).toMatchObject({ ok: true, entries: 4, migrated: 3, head: { seq: 5 } });
  const raw = new DatabaseSync(file);
  const texts = raw.prepare("select entry, origin from audit order by seq").all();
  expect(texts[0]).toEqual({ entry: JSON.stringify({ ...entry, seq: 1 }), origin: "migrated" });
  expect(() => raw.exec("delete from audit")).toThrow("audit is append-only");
  expect(() => raw.exec("update audit_texts set text = ''; delete from audit")).toThrow("append-only");
  raw.exec(
    "drop trigger audit_refuses_update; update audit set entry = replace(entry, 'why', 'who') where seq = 2",
  );
  raw.close();
  expect(await verify(auditKeyOf(seed(1)).publicKey)).toEqual({ ok: false, fault: "altered", seq: 2 });
});

test("an empty audit of before the chain becomes an empty chain", async () => {
  earlier([]);
  await write(seed(1));
  expect(await verify(auditKeyOf(seed(1)).publicKey)).toMatchObject({ ok: true, entries: 1, migrated: 0 });
});

test("an audit without a chain is not called broken: the bot brings the chain", async () => {
  earlier([]);
  await expect(openAuditFile(file)).rejects.toThrow("start the bot once");
});
