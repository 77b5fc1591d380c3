// `npm run audit -- rotate-key`: the old key hands over to a new one, and no moment leaves the audit without its key.

import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditKeyFile, auditKeyOf, readAuditKey } from "#src/adapters/store/audit-key.ts";
import { backUp } from "#src/adapters/store/back-up.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { type Ended, runCommand } from "../make/run-command.ts";
import { anAuditEntry, aRun } from "../make/run.ts";
import { spoil } from "../make/spoil.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rotate-key-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const audit = (...args: readonly string[]): Promise<Ended> => auditUnder(null, ...args);

/** `key`: AUDIT_KEY. */
function auditUnder(key: string | null, ...args: readonly string[]): Promise<Ended> {
  const env = { DATABASE_URL: `sqlite:${file}`, ...(key === null ? {} : { AUDIT_KEY: key }) };
  return runCommand("audit", args, { env, cwd: folder });
}

/** A key in a file, as `--new-key` takes it. */
function newKey(byte: number): { readonly seed: string; readonly file: string } {
  const made = { seed: Buffer.alloc(32, byte).toString("base64"), file: join(folder, `key-${byte}`) };
  writeFileSync(made.file, made.seed);
  return made;
}

/** Writes two entries, signed with this key, or else with one beside the database. */
async function write(auditKey: string | null = null): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test", auditKey });
  await store.audit([anAuditEntry(aRun()), anAuditEntry(aRun())]);
  await store.close();
}

test.each([
  [".", /^--new-key names the file .*, which cannot be read: it is a folder\. The key was not changed\.$/],
  [
    "nowhere",
    /^--new-key names the file .*, which cannot be read: there is no such file\. The key was not changed\.$/,
  ],
])("says what is wrong with the file of the new key: %s", async (name, says) => {
  const seen = await audit("rotate-key", "--new-key", join(folder, name));
  expect([seen.code, seen.err.trim()]).toEqual([2, expect.stringMatching(says)]);
});

test("switches to a new key beside the database, and auditors may pin either key", async () => {
  await write();
  const before = readAuditKey(file);
  const seen = await audit("rotate-key");
  const after = readAuditKey(file);
  expect(seen).toMatchObject({ code: 0, err: "" });
  expect(after?.id).not.toBe(before?.id);
  expect(seen.out).toContain(after?.publicKey);
  for (const key of [before, after])
    expect((await audit("verify", "--public-key", key?.publicKey ?? "")).code).toBe(0);
  expect((await audit("verify")).out).toContain("Intact: 4 entries");
  const entries = (await audit("export")).out.trim().split("\n");
  expect(entries.map((line) => (JSON.parse(line) as { entry: object }).entry)).toContainEqual(
    expect.objectContaining({
      what: "key-changed",
      outcome: `${before?.id ?? ""} → ${after?.id ?? ""}, exchanged at the shell by ${userInfo().username} on ${hostname()}`,
    }),
  );
});

test("makes no key and leaves the old one in place while another process has the database", async () => {
  await write();
  const key = readAuditKey(file);
  const other = await openStore({ url: `sqlite:${file}`, owner: "another process" });
  const before = readdirSync(folder).toSorted();
  const seen = await audit("rotate-key");
  expect(seen).toMatchObject({ code: 2, out: "" });
  expect(seen.err).toMatch(/: (process \d+.*|another process) is using it/);
  expect(readdirSync(folder).toSorted()).toEqual(before);
  await other.close();
  expect(readAuditKey(file)).toMatchObject({ id: key?.id });
  expect((await audit("verify")).out).toContain("Intact: 2 entries");
});

test("makes no key and leaves the one in place if that does not sign the audit", async () => {
  await write();
  writeFileSync(auditKeyFile(file), newKey(1).seed);
  const before = readdirSync(folder).toSorted();
  const seen = await audit("rotate-key");
  expect(seen).toMatchObject({ code: 2, out: "" });
  expect(seen.err).toContain("the key here is");
  expect(readdirSync(folder).toSorted()).toEqual(before);
  expect(readAuditKey(file)?.id).toBe(auditKeyOf(newKey(1).seed).id);
});

test("run twice at once, leaves the key that signs the audit beside the database", async () => {
  await write();
  await Promise.all([audit("rotate-key"), audit("rotate-key")]);
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  expect(await store.walkAudit()).toBeNull();
  await store.close();
  expect(existsSync(`${auditKeyFile(file)}.next`)).toBe(false);
});

test("keeps the old key, with which a back-up from before is restored", async () => {
  await write();
  const copy = join(folder, "copy.db");
  const at = Date.now();
  await backUp(file, copy, { at, check: () => Promise.resolve() });
  const old = readAuditKey(file);
  const seen = await audit("rotate-key");
  const kept = `${auditKeyFile(file)}.${old?.id ?? ""}`;
  expect(seen.out).toContain(`The old key stays in ${kept}, `);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  file = copy;
  renameSync(kept, auditKeyFile(file));
  expect(await audit("verify")).toMatchObject({ code: 0 });
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  expect(store.auditPublicKey()).toBe(old?.publicKey);
  await store.close();
});

describe.runIf(process.getuid?.() === 0)("run by root", () => {
  const owner = 65_534;
  const giveAll = () => {
    for (const name of ["", ...readdirSync(folder)]) chownSync(join(folder, name), owner, owner);
  };
  const owners = () => readdirSync(folder).map((name) => [name, statSync(join(folder, name)).uid]);
  const allTheirs = () => readdirSync(folder).map((name) => [name, owner]);

  test("leaves the key to the owner of the database", async () => {
    await write();
    giveAll();
    expect(await audit("rotate-key")).toMatchObject({ code: 0 });
    expect(owners()).toEqual(allTheirs());
  });

  test.each([
    ["rotate-key", 0],
    ["acknowledge", 2],
  ])("leaves the lock to the owner of a restored database: %s", async (command, code) => {
    await write();
    rmSync(`${file}.lock`);
    giveAll();
    const what = command === "acknowledge" ? ["abc123", "--reason", "seen"] : [];
    expect(await audit(command, ...what)).toMatchObject({ code });
    expect(statSync(`${file}.lock`)).toMatchObject({ uid: owner, gid: owner, size: 0 });
    expect(statSync(`${file}.lock`).mode & 0o777).toBe(0o600);
    expect(owners()).toEqual(allTheirs());
  });
});

test("changes nothing if the new key is the current one, or already signs the audit", async () => {
  const [current, next] = [newKey(1), newKey(2)];
  await write(current.seed);
  const same = await auditUnder(current.seed, "rotate-key", "--new-key", current.file);
  expect(same).toMatchObject({ code: 2, out: "" });
  expect(same.err).toContain("holds the current key, so nothing was changed");
  const first = await auditUnder(current.seed, "rotate-key", "--new-key", next.file);
  expect(first.out).toMatch(/^The key [0-9a-f]{32} replaces [0-9a-f]{32}/);
  const again = await auditUnder(current.seed, "rotate-key", "--new-key", next.file);
  expect(again).toMatchObject({ code: 0, err: "" });
  expect(again.out).toContain("already signs the audit, so nothing was changed");
  expect((await auditUnder(next.seed, "verify")).out).toContain("Intact: 4 entries");
});

test("warns of an audit that was changed, because the new key vouches for no entry before it", async () => {
  await write();
  spoil(file, "update audit set entry = replace(entry, 'stored', 'other') where seq = 1");
  const seen = await audit("rotate-key");
  expect(seen).toMatchObject({ code: 0, err: expect.stringContaining("TAMPERED at entry 1: ") as string });
  expect(seen.out).toContain(`The key ${readAuditKey(file)?.id} replaces`);
});

test("run again on an audit that was changed, still warns, and does not say that the key was replaced", async () => {
  const [current, next] = [newKey(1), newKey(2)];
  await write(current.seed);
  await auditUnder(current.seed, "rotate-key", "--new-key", next.file);
  spoil(file, "update audit set entry = replace(entry, 'stored', 'other') where seq = 1");
  const again = await auditUnder(current.seed, "rotate-key", "--new-key", next.file);
  expect(again.code).toBe(0);
  expect(again.out).toContain("already signs the audit, so nothing was changed");
  expect(again.err).toMatch(/^TAMPERED at entry 1: [^]*\nThis does not affect the key\.\n$/);
});

test("says if the audit could not be verified, and that the key is replaced nevertheless", async () => {
  await write();
  const env = { DATABASE_URL: `sqlite:${file}`, TMPDIR: join(folder, "nowhere") };
  const seen = await runCommand("audit", ["rotate-key"], { env, cwd: folder });
  expect(seen.out).toContain(`The key ${readAuditKey(file)?.id} replaces`);
  expect(seen.err).toMatch(/^The audit was not verified: .*\. This does not affect the key\.\n$/);
  expect(seen.code).toBe(0);
});

test("creates no database", async () => {
  const [current, next] = [newKey(1), newKey(2)];
  const before = readdirSync(folder);
  file = join(folder, "data", "bot.db");
  const seen = await auditUnder(current.seed, "rotate-key", "--new-key", next.file);
  expect([seen.code, seen.err]).toEqual([2, expect.stringContaining("there is no such file")]);
  expect(readdirSync(folder)).toEqual(before);
});

test("refuses a database of a newer Countersign, and of an older one", async () => {
  await write();
  const before = readdirSync(folder);
  for (const [version, says] of [
    [99, "a newer Countersign has written it"],
    [0, "an older Countersign has written it"],
  ] as const) {
    const raw = new DatabaseSync(file);
    raw.exec(`update schema_version set version = ${version}`);
    raw.close();
    const seen = await audit("rotate-key");
    expect([seen.code, seen.err]).toEqual([2, expect.stringContaining(says)]);
    expect(readdirSync(folder)).toEqual(before);
  }
});

test("continues after an interruption", async () => {
  await write();
  await audit("rotate-key");
  const [key, next] = [auditKeyFile(file), `${auditKeyFile(file)}.next`];
  renameSync(key, next);
  writeFileSync(key, `${Buffer.alloc(32, 5).toString("base64")}\n`);
  const again = await audit("rotate-key");
  expect(again.code).toBe(0);
  expect(existsSync(next)).toBe(false);
  expect((await audit("verify")).out).toContain("Intact: 4 entries");
});
