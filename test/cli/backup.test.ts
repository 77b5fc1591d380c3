// `npm run backup`, as a shell runs it: what the copy contains, that the bot keeps running, and that a failure leaves nothing behind.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { auditKeyFile, readAuditKey } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { headWords } from "#src/domain/audit/hash-chain.ts";
import { BACKUP_MARK, EARLIER_MARK, type Store } from "#src/ports/store.ts";
import { GOLDEN_KEY, restore } from "../adapters/store/golden/load.ts";
import { inheritedEnv } from "../make/child-env.ts";
import { runCommand } from "../make/run-command.ts";
import { spoil } from "../make/spoil.ts";
import { anApproval, anAuditEntry, aRun, withApprovals } from "../make/run.ts";

const COMMAND = fileURLToPath(new URL("../../src/cli/backup.ts", import.meta.url));
const WRITER = fileURLToPath(new URL("../adapters/store/other-process.ts", import.meta.url));

let folder = "";
let file = "";
let copy = "";
const closers: (() => unknown)[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "backup-"));
  file = join(folder, "bot.db");
  copy = join(folder, "copy.db");
});
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
  rmSync(folder, { recursive: true });
});

type Seen = { readonly code: number | null; readonly out: string; readonly err: string };
type Env = { readonly [name: string]: string };

function started(args: readonly string[], env: Env = {}): ChildProcess {
  const allVariables = { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}`, ...env };
  return spawn(process.execPath, [COMMAND, ...args], { env: allVariables, cwd: folder });
}

async function backUp(args: readonly string[] = [copy], env: Env = {}): Promise<Seen> {
  const child = started(args, env);
  const seen = { out: "", err: "" };
  child.stdout?.on("data", (chunk: Buffer) => (seen.out += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (seen.err += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, ...seen };
}

async function open(path = file, auditKey: string | null = null): Promise<Store> {
  const store = await openStore({ url: `sqlite:${path}`, owner: "test", auditKey });
  closers.push(() => store.close());
  return store;
}

/** Writes two runs, one of which has ended, and two entries. */
async function written(): Promise<Store> {
  const store = await open();
  const [one, two] = [aRun(), withApprovals(aRun(), anApproval())];
  await store.insert(one, { audit: [anAuditEntry(one)] });
  await store.insert(two, { audit: [anAuditEntry(two)] });
  await store.save({ run: one, revision: 1 }, one, { finished: true });
  return store;
}

function rowsIn(path: string, sql: string): readonly unknown[] {
  const raw = new DatabaseSync(path);
  try {
    return raw.prepare(sql).all();
  } finally {
    raw.close();
  }
}

const files = (): readonly string[] => readdirSync(folder).toSorted();
const publicKey = (): string => readAuditKey(file)?.publicKey ?? "";

describe("the copy", () => {
  test("contains everything of a running bot in one file that only its owner can read, and says what it contains", async () => {
    const store = await written();
    const head = await store.auditHead();
    const { code, out, err } = await backUp();
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(files().filter((name) => name.startsWith("copy"))).toEqual(["copy.db"]);
    expect(statSync(copy).mode & 0o777).toBe(0o600);
    for (const table of ["runs", "audit", "buttons"])
      expect(rowsIn(copy, `select * from ${table}`)).toEqual(rowsIn(file, `select * from ${table}`));
    expect(out).toContain(headWords(head ?? { seq: 0, link: "" }));
    expect(out).toMatch(/\b2 runs\b/);
    expect(out).toContain(auditKeyFile(file));
  });

  test("records when it was made, and the original database is not marked as a copy", async () => {
    const store = await written();
    const before = Date.now();
    await backUp();
    const after = Date.now();
    const [row] = rowsIn(copy, `select doc from documents where name = '${BACKUP_MARK}'`) as {
      doc: string;
    }[];
    const at = JSON.parse(row?.doc ?? "null") as number;
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(after);
    expect(await store.document(BACKUP_MARK)).toBeNull();
  });

  describe("of a copy", () => {
    const times = (path: string): readonly unknown[] =>
      [BACKUP_MARK, EARLIER_MARK].map((name) => {
        const [row] = rowsIn(path, `select doc from documents where name = '${name}'`) as { doc: string }[];
        return JSON.parse(row?.doc ?? "null") as unknown;
      });
    const again = (): string => join(folder, "again.db");
    const backUpCopy = (): Promise<Seen> =>
      backUp([again()], {
        DATABASE_URL: `sqlite:${copy}`,
        AUDIT_KEY: readFileSync(auditKeyFile(file), "utf8"),
      });

    test("that was never started has the time of that copy", async () => {
      await written();
      await backUp();
      const [made] = times(copy);
      expect(await backUpCopy()).toMatchObject({ code: 0, err: "" });
      expect(times(again())).toEqual([made, null]);
    });

    test("whose restore is unfinished has both times", async () => {
      await written();
      await backUp();
      const [made] = times(copy);
      const restored = await open(copy, readFileSync(auditKeyFile(file), "utf8").trim());
      await restored.audit([anAuditEntry(aRun(), { what: "restored", since: Number(made) })]);
      expect(await backUpCopy()).toMatchObject({ code: 0, err: "" });
      const [newer, earlier] = times(again());
      expect(newer).toBeGreaterThan(Number(made));
      expect(earlier).toBe(made);
    });
  });

  test("of a stopped or killed bot does not change the database", async () => {
    await (await written()).close();
    const digest = (): string => createHash("sha256").update(readFileSync(file)).digest("hex");
    const before = digest();
    expect((await backUp()).code).toBe(0);
    expect(digest()).toBe(before);
    await open();
  });

  test("contains what was committed before a kill, even if it is only in the write-ahead log", async () => {
    const child = spawn(process.execPath, [WRITER, "write", `sqlite:${file}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: child.stdout });
    let last = "";
    for await (const line of lines) {
      last = line;
      if (line.endsWith(" 2")) break;
    }
    child.kill("SIGKILL");
    await once(child, "close");
    expect((await backUp()).code).toBe(0);
    const keys = rowsIn(copy, "select key from runs") as { key: string }[];
    expect(keys.map(({ key }) => key)).toContain(last.split(" ")[0]);
  });

  test("can be started as a database of its own, and continues the audit", async () => {
    await written();
    await backUp();
    const key = readFileSync(auditKeyFile(file), "utf8").trim();
    const restored = await open(copy, key);
    expect(await restored.checkAudit()).toEqual([]);
    expect(await restored.checkSeals()).toEqual([]);
  });

  test("can be made of a database with an older schema", async () => {
    restore(1, file).close();
    // The golden database contains a run that was tampered with, and the command says so.
    const { code, out } = await backUp([copy], { AUDIT_KEY: GOLDEN_KEY });
    expect(code).toBe(1);
    expect(out).toContain("schema 1");
    expect(rowsIn(copy, "select version from schema_version")).toEqual([{ version: 1 }]);
  });
});

describe("a running bot", () => {
  test("keeps writing while it is copied repeatedly, and every copy is complete", async () => {
    const child = spawn(process.execPath, [WRITER, "write", `sqlite:${file}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    closers.push(() => child.kill("SIGKILL"));
    const lines: { readonly key: string; readonly at: number }[] = [];
    const reader = createInterface({ input: child.stdout });
    reader.on("line", (line) => lines.push({ key: line.split(" ")[0] ?? "", at: Date.now() }));
    await once(reader, "line");
    let meanwhile = 0;
    for (const name of ["a.db", "b.db", "c.db"]) {
      const before = lines.length;
      const { code, err } = await backUp([join(folder, name)]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      meanwhile += lines.length - before;
      const kept = rowsIn(join(folder, name), "select key from runs") as { key: string }[];
      const known = new Set(kept.map(({ key }) => key));
      // Everything that was acknowledged before the command began is in its copy.
      expect(lines.slice(1, before).every(({ key }) => known.has(key))).toBe(true);
    }
    expect(child.exitCode).toBeNull();
    // How many depends on the machine, which may not run the writer during one copy. If copies kept it from writing, there would be none.
    expect(meanwhile).toBeGreaterThan(0);
  });

  test("can start while the copy is made, because the command does not lock it", async () => {
    await (await written()).close();
    const raw = new DatabaseSync(file);
    raw.exec("create table ballast (text); insert into ballast select hex(randomblob(60000)) from audit");
    for (let n = 0; n < 8; n += 1) raw.exec("insert into ballast select text from ballast");
    raw.close();
    const child = started([copy]);
    const ended = once(child, "close") as Promise<[number | null]>;
    let starts = 0;
    while (child.exitCode === null && starts < 20) {
      const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
      await store.close();
      starts += 1;
    }
    expect((await ended)[0]).toBe(0);
    expect(starts).toBeGreaterThan(0);
  });
});

describe("no copy is left, and the exit code says why, if", () => {
  async function nothingLeft(args: readonly string[], env: Env = {}): Promise<Seen> {
    const before = files();
    const seen = await backUp(args, env);
    expect(files()).toEqual(before);
    return seen;
  }

  test("a file of that name exists", async () => {
    await (await written()).close();
    writeFileSync(copy, "last week's");
    const { code, err } = await nothingLeft([copy]);
    expect(code).toBe(2);
    expect(err).toContain(copy);
    expect(readFileSync(copy, "utf8")).toBe("last week's");
  });

  test("another command is writing the file, or was interrupted", async () => {
    await (await written()).close();
    writeFileSync(`${copy}.partial`, "half");
    expect((await nothingLeft([copy])).err).toContain(`${copy}.partial`);
  });

  test("the folder or the database is missing, or the database belongs to another program", async () => {
    await (await written()).close();
    expect((await nothingLeft([join(folder, "nowhere", "copy.db")])).code).toBe(2);
    expect((await nothingLeft([copy], { DATABASE_URL: "sqlite:./none.db" })).code).toBe(2);
    const other = new DatabaseSync(join(folder, "other.db"));
    other.exec("create table notes (text)");
    other.close();
    const { code, err } = await nothingLeft([copy], {
      DATABASE_URL: `sqlite:${join(folder, "other.db")}`,
      AUDIT_KEY: GOLDEN_KEY,
    });
    expect(code).toBe(2);
    expect(err).toContain("another program");
  });

  test("Countersign has written nothing to the database yet", async () => {
    writeFileSync(join(folder, "none.db"), "");
    const { code, err } = await nothingLeft([copy], { DATABASE_URL: "sqlite:./none.db" });
    expect(code).toBe(2);
    expect(err).toMatch(/none\.db: it is empty: Countersign has written nothing to it yet/);
  });

  test("the audit was tampered with", async () => {
    await (await written()).close();
    spoil(file, "update audit set entry = replace(entry, 'stored', 'forged') where seq = 1");
    const { code, err } = await nothingLeft([copy]);
    expect(code).toBe(1);
    expect(err).toContain("TAMPERED at entry 1");
  });

  test("the database is damaged", async () => {
    await (await written()).close();
    const [root] = rowsIn(file, "select rootpage from sqlite_schema where name = 'runs'") as {
      rootpage: number;
    }[];
    const bytes = readFileSync(file);
    const page = bytes.readUInt16BE(16);
    bytes.fill(0xab, ((root?.rootpage ?? 1) - 1) * page, (root?.rootpage ?? 1) * page);
    writeFileSync(file, bytes);
    const { code, err } = await nothingLeft([copy]);
    expect(code).toBe(2);
    expect(err).toContain(`cannot use the database ${file}`);
  });

  test("there is no key to check signatures with", async () => {
    await (await written()).close();
    const pub = publicKey();
    rmSync(auditKeyFile(file));
    expect((await nothingLeft([copy])).code).toBe(2);
    expect((await backUp([copy, "--public-key", pub])).code).toBe(0);
  });

  test.for(["audit.pub", "not a key"])("--public-key does not give a key, but %s", async (given) => {
    await (await written()).close();
    const pub = publicKey();
    writeFileSync(join(folder, "audit.pub"), pub);
    const { code, out, err } = await nothingLeft([copy, "--public-key", pub, "--public-key", given]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    const [says = "", , usage = ""] = err.split("\n");
    expect(says).toBe(
      "--public-key takes a public key of the audit itself (32 bytes in base64), not a file. Nothing was checked. The key is in the bot's log and in evidence files.",
    );
    expect(usage).toMatch(/^Usage: npm run backup/);
  });

  test("the command is stopped", async () => {
    await (await written()).close();
    // Large enough that the copy takes a while, even if this process has to wait for the processor.
    const raw = new DatabaseSync(file);
    raw.exec("create table filler as select zeroblob(200000000) as bytes");
    raw.close();
    const child = started([copy]);
    const ended = once(child, "close") as Promise<[number | null]>;
    while (!files().includes("copy.db.partial") && child.exitCode === null)
      await new Promise((resolve) => setImmediate(resolve));
    child.kill("SIGTERM");
    expect((await ended)[0]).toBe(2);
    expect(files().filter((name) => name.startsWith("copy"))).toEqual([]);
  });

  test("the database is PostgreSQL, which is copied by its own program", async () => {
    const { code, err } = await nothingLeft([copy], {
      DATABASE_URL: "postgres://u:secret@h/bot?sslmode=disable",
    });
    expect(code).toBe(2);
    expect(err).toContain("pg_dump --format=custom");
    expect(err).toContain("&sslrootcert=");
    expect(err).not.toContain("secret");
  });

  test("no file is named, or several are", async () => {
    expect((await nothingLeft([])).code).toBe(2);
    expect((await nothingLeft([copy, "more"])).code).toBe(2);
  });
});

test("a run that was changed outside Countersign is reported, and copied unchanged", async () => {
  await (await written()).close();
  spoil(file, "update runs set requester = 'U0THIEF'");
  const { code, err } = await backUp();
  expect(code).toBe(1);
  expect(err).toContain("TAMPERED");
  expect(rowsIn(copy, "select requester from runs")).toEqual(rowsIn(file, "select requester from runs"));
});

test.skipIf(!existsSync("/dev/full"))(
  "a copy is complete although the output is lost, and the command says so",
  async () => {
    await (await written()).close();
    const env = { DATABASE_URL: `sqlite:${file}` };
    const { code, err } = await runCommand("backup", [copy], { env, to: "/dev/full" });
    expect([code, err]).toEqual([2, expect.stringContaining("if FILE is there, it is a complete copy.")]);
    expect(rowsIn(copy, "select key from runs")).toEqual(rowsIn(file, "select key from runs"));
  },
);
