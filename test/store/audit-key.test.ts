// The key that signs the audit, and what the database itself refuses.

import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { verifyAudit } from "#src/core/audit-verify.ts";
import { openAuditFile } from "#src/store/audit-file.ts";
import { auditKeyFile, auditKeyOf, auditSignatures, readAuditKey } from "#src/store/audit-key.ts";
import { type AuditKeyNews, openStore } from "#src/store/open.ts";
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

test("a database of another schema is not read as if it were known", async () => {
  await write(seed(1));
  const set = (version: number): void => {
    const raw = new DatabaseSync(file);
    raw.exec(`update schema_version set version = ${version}`);
    raw.close();
  };
  set(99);
  await expect(openAuditFile(file)).rejects.toThrow("a newer Countersign has written it (schema 99");
  set(0);
  await expect(openAuditFile(file)).rejects.toThrow("start the bot once");
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
