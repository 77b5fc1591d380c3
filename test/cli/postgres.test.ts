// `npm run audit`, `npm run policy -- explain` and `npm run doctor` on a PostgreSQL database, while bots use it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startWorld } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { canonicalJson } from "#src/domain/json.ts";
import type { Store } from "#src/ports/store.ts";
import { sha256 } from "../audit/tampering.ts";
import { type PostgresServer, startPostgres } from "../make/postgres.ts";
import { runCommand } from "../make/run-command.ts";
import { anApproval, anAuditEntry, aRun, aWatchedRun, withApprovals } from "../make/run.ts";

const AUDIT_KEY = Buffer.alloc(32, "key").toString("base64");
const TEXT = JSON.stringify(["run_7", "apr_1", { action: "delete it" }]);

let server: PostgresServer;
let folder = "";
let url = "";
let store: Store;

beforeAll(async () => {
  server = await startPostgres({ settings: ["fsync=on"] });
  folder = mkdtempSync(join(tmpdir(), "commands-"));
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});
beforeEach(async () => {
  url = await server.database();
  store = await openStore({ url, owner: "bot 7", auditKey: AUDIT_KEY });
});
afterEach(() => store.close());

type Seen = { readonly code: number | null; readonly out: string };

/** The URL contains a password, which the server does not request. No command may print it. */
async function command(
  name: string,
  env: { readonly [name: string]: string },
  ...args: string[]
): Promise<Seen> {
  const secret = url.replace("postgres@", "postgres:canary@");
  const all = { AUDIT_KEY, ...env, DATABASE_URL: secret };
  const { code, out, err } = await runCommand(name, args, { env: all, cwd: folder });
  expect(out + err).not.toContain("canary");
  return { code, out: out + err };
}

const saying = (words: string): unknown => expect.stringContaining(words);

const audit = (...args: string[]) => command("audit", {}, ...args);

async function decided(): Promise<void> {
  const run = aRun();
  const about = { runId: RunId("run_7"), approval: anApproval("apr_1").id, digest: sha256(TEXT), text: TEXT };
  await store.audit([
    anAuditEntry(run),
    anAuditEntry(run, { what: "decided", verdict: "approve", ...about }),
  ]);
}

/** Databases of other programs, some with names that Countersign uses too. */
const OTHERS: readonly (readonly [what: string, statements: string])[] = [
  ["another program's runs", "create table runs (id text)"],
  ["another program's schema_version", "create table schema_version (version text)"],
  ["another program's songs", "create table songs (title text)"],
  ["another program's view", "create view audit as select 1 as seq"],
];
const TABLES = "select 1 from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v')";

/** Releases the store, like a bot that stops. */
const stopped = () => store.release();

describe("npm run audit -- archive", () => {
  test("moves old entries into a file once no replica runs, and the audit continues", async () => {
    const run = aRun();
    const loaded = anAuditEntry(run, { what: "policy-loaded", run: null });
    const old = anAuditEntry(run, { what: "opened", digest: sha256(TEXT), text: TEXT });
    await store.audit([loaded, old, loaded]);
    const file = join(folder, "old.jsonl");
    await store.renew(Date.now(), 60_000);
    const beside = await audit("archive", "--before", "2030-01-01", file);
    expect(beside).toEqual({
      code: 2,
      out: saying("may still need entries that would be removed: stop all of them first"),
    });
    await stopped();
    const done = await audit("archive", "--before", "2030-01-01", file);
    expect(done).toEqual({ code: 0, out: saying("Archived: entries 1 to 2 are now in") });
    expect(await audit("verify")).toEqual({ code: 0, out: saying("Intact: 2 entries") });
    expect(await audit("verify", "--archive", file)).toEqual({ code: 0, out: saying("Intact: 4 entries") });
    expect(await store.checkAudit()).toEqual([]);
    expect(await store.auditText(sha256(TEXT))).toBeNull();
    await store.audit([anAuditEntry(run)]);
    expect(await audit("verify", "--archive", file)).toEqual({ code: 0, out: saying("Intact: 5 entries") });
    await expect(server.run(url, "delete from audit")).rejects.toThrow("audit is append-only");
  });
});

describe("npm run policy -- replay", () => {
  test("judges the requests of the audit", async () => {
    await decided();
    const policy = join(folder, "nobody.yaml");
    writeFileSync(policy, "rules:\n  - { name: alone, approvers: { users: [U0REQUESTER] } }\n");
    const seen = await command("policy", {}, "replay", policy, "--since", "2020-01-01");
    expect(seen).toEqual({
      code: 0,
      out: saying(
        "Of 1 request, 0 would fall under another rule; 0 would need more people, 1 would have too few approvers.",
      ),
    });
  });
});

describe("npm run audit", () => {
  test("verifies, exports and shows entries while a bot writes", async () => {
    await decided();
    const writing = new AbortController();
    const bot = (async () => {
      while (!writing.signal.aborted) await store.audit([anAuditEntry(aRun())]);
    })();
    const [verified, exported, shown] = await Promise.all([
      audit("verify"),
      audit("export"),
      audit("show", "run_7"),
    ]);
    writing.abort();
    await bot;
    expect(verified).toMatchObject({ code: 0, out: saying("each in its place and signed") });
    expect(exported.out).toContain('"runId":"run_7"');
    expect(shown).toMatchObject({ code: 0, out: saying("run_7") });
  });

  test("detects changes that bypassed the bot", async () => {
    await decided();
    await server.run(
      url,
      "alter table audit disable trigger user; update audit set what = 'x' where seq = 1",
    );
    expect(await audit("verify")).toMatchObject({
      code: 1,
      out: saying("TAMPERED at entry 1"),
    });
    expect((await audit("export")).out).toContain("Nothing was printed");
  });

  test("erases a text while a bot runs, and the bot continues the chain", async () => {
    await decided();
    const erased = await audit("redact", sha256(TEXT), "--reason", "It held a secret.");
    expect(erased).toMatchObject({ code: 0, out: saying("Audit entry 3 records this") });
    expect(erased.out).toContain("VACUUM FULL");
    expect(await store.auditText(sha256(TEXT))).toBeNull();
    await store.audit([anAuditEntry(aRun())]);
    expect(await store.walkAudit()).toBeNull();
    expect(await audit("verify")).toMatchObject({
      code: 0,
      out: saying("1 text was erased"),
    });
  });

  test("erases nothing that an open run uses", async () => {
    const run = withApprovals(aWatchedRun(), anApproval());
    const digest = run.approvals[0]?.request.digest ?? "";
    await store.insert(run, {
      audit: [anAuditEntry(run, { digest, text: canonicalJson(run.approvals[0]?.request.content ?? null) })],
    });
    expect(await audit("redact", digest)).toMatchObject({
      code: 2,
      out: saying("An unfinished run still holds this text"),
    });
  });

  test("replaces the key once all replicas are stopped, and no replica starts with the old key", async () => {
    await decided();
    const file = join(folder, "new-key");
    const next = Buffer.alloc(32, "next").toString("base64");
    writeFileSync(file, next);
    expect(await audit("rotate-key", "--new-key", file)).toMatchObject({
      code: 2,
      out: saying("would sign with the old key: stop all of them first"),
    });
    await stopped();
    expect(await audit("rotate-key", "--new-key", file)).toMatchObject({ code: 0 });
    await expect(openStore({ url, owner: "late", auditKey: AUDIT_KEY })).rejects.toThrow(
      "is signed with the key",
    );
    const renewed = await openStore({ url, owner: "bot 8", auditKey: next });
    expect(await renewed.walkAudit()).toBeNull();
    expect(await renewed.checkSeals()).toEqual([]);
    await renewed.close();
  });

  test("says where to acknowledge while replicas run", async () => {
    expect(await audit("acknowledge", "abc123", "--reason", "seen")).toMatchObject({
      code: 2,
      out: saying("Use /agent audit acknowledge in Slack"),
    });
    await stopped();
    expect((await audit("acknowledge", "abc123", "--reason", "seen")).out).toContain(
      "nothing to acknowledge",
    );
  });

  test("says that a database is empty, or another program's, and changes neither", async () => {
    url = await server.database();
    const policy = join(folder, "empty.yaml");
    writeFileSync(policy, "rules:\n  - name: all\n    approvers: anyone\n");
    const explain = () => command("policy", { POLICY_FILE: policy }, "explain", "run_7");
    const empty = saying("it is empty: Countersign has written nothing to it yet");
    expect(await audit("verify")).toEqual({ code: 2, out: empty });
    expect((await explain()).out).toEqual(empty);
    expect(await server.run(url, TABLES)).toEqual([]);
    for (const [, statements] of OTHERS) {
      url = await server.database();
      await server.run(url, statements);
      const foreign = saying("it is the database of another program");
      expect(await audit("verify")).toEqual({ code: 2, out: foreign });
      expect((await explain()).out).toEqual(foreign);
      expect((await server.run(url, TABLES)).length).toBe(1);
    }
  });

  test("says that the key is required", async () => {
    await decided();
    const seen = await command("audit", { AUDIT_KEY: "" }, "verify");
    expect(seen).toMatchObject({
      code: 2,
      out: saying("set AUDIT_KEY, or give --public-key"),
    });
  });
});

test("a policy is explained for a stored run", async () => {
  const run = withApprovals(aWatchedRun(RunId("run_7")), anApproval());
  await store.insert(run, {});
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "rules:\n  - name: all\n    approvers: anyone\n");
  const { code, out } = await command("policy", { POLICY_FILE: policy }, "explain", "run_7");
  expect(code).toBe(0);
  expect(out).toContain("run_7");
});

describe("npm run doctor", () => {
  /** Resolves to what the doctor says about the database. */
  async function doctor(about = "Database", env: { readonly [name: string]: string } = {}): Promise<string> {
    const world = await startWorld({ databaseUrl: "sqlite::memory:" });
    try {
      const { out } = await command("doctor", { ...world.env, ...env });
      return out.split("\n").find((line) => line.includes(` ${about} `)) ?? out;
    } finally {
      await world.stop();
    }
  }

  test("says that the server is usable, and how many processes use it", async () => {
    expect(await doctor()).toMatch(/^ok .*postgres:.* can be read and written; 1 process uses it$/);
    await stopped();
    expect(await doctor()).toContain("; 0 processes use it");
  });

  test("says what the first start will do, and changes nothing", async () => {
    url = await server.database();
    expect(await doctor()).toMatch(/^note .*the first start will create its tables/);
    expect(
      await server.run(url, "select table_name from information_schema.tables where table_schema = 'public'"),
    ).toEqual([]);
  });

  test.each([
    ["synchronous_commit = off", "acknowledges what is not on its disk yet (synchronous_commit = off)"],
    ["default_transaction_read_only = on", "takes no writes"],
  ])("finds a server with %s wrong", async (setting, words) => {
    await server.run(url, `alter database ${new URL(url).pathname.slice(1)} set ${setting}`);
    const said = await doctor();
    expect(said).toMatch(/^WRONG/);
    expect(said).toContain(words);
  });

  test("says that a key other than the audit's would be refused", async () => {
    await decided();
    expect(await doctor("Audit key")).toMatch(/^ok .*AUDIT_KEY holds [0-9a-f]{32}$/);
    const other = { AUDIT_KEY: Buffer.alloc(32, 3).toString("base64") };
    expect(await doctor("Audit key", other)).toMatch(/^WRONG .*signed with the key .*, but AUDIT_KEY holds/);
  });

  test.each([
    [0, /^ok .*the next start will migrate its schema from 0 to \d+/],
    [99, /^WRONG .*a newer Countersign has written it \(schema 99/],
  ])("says what a start would do with the schema %i", async (version, words) => {
    await server.run(url, `update schema_version set version = ${version}`);
    expect(await doctor()).toMatch(words);
  });

  test.each(OTHERS)("refuses %s, as a start does", async (_what, statements) => {
    url = await server.database();
    await server.run(url, statements);
    const said = await doctor();
    expect(said).toMatch(/^WRONG .*it is the database of another program/);
    await expect(openStore({ url, owner: "late", auditKey: AUDIT_KEY })).rejects.toThrow(
      /^cannot use the database postgres:.*: it is the database of another program/,
    );
    expect((await server.run(url, TABLES)).length).toBe(1);
  });

  test.each([
    ["an extension", "create extension pg_stat_statements"],
    ["another schema", "create schema theirs; create table theirs.runs (id text)"],
  ])("and a start are not troubled by what belongs to %s", async (_what, statements) => {
    url = await server.database();
    await server.run(url, statements);
    expect(await doctor()).toMatch(/^note .*the first start will create its tables/);
    await (await openStore({ url, owner: "late", auditKey: AUDIT_KEY })).close();
    expect(await doctor()).toMatch(/^ok .*can be read and written; \d process/);
  });

  test("notes that processes on several machines would each hold only a part of the audit's copy", async () => {
    const said = await doctor("Audit sink", { AUDIT_SINK: `file:${join(folder, "copy.jsonl")}` });
    expect(said).toMatch(/^note .*copy\.jsonl can be written; if Countersign runs on several machines, each/);
  });

  test("reports a server that cannot be reached", async () => {
    url = url.replace(/host=.*/, "host=/nowhere");
    expect(await doctor()).toMatch(/^WRONG .*the server cannot be reached/);
  });
});
