// The errors for files that cannot be used name the file and the reason. A user without root's rights opens the
// store, in a process of its own.

import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { inheritedEnv } from "../../make/child-env.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";
import { SERVER_USER as ORDINARY_USER } from "../../make/postgres.ts";

const OPEN = fileURLToPath(new URL("open-once.ts", import.meta.url));
const cli = (name: string): string => fileURLToPath(new URL(`../../../src/cli/${name}.ts`, import.meta.url));
const DOCTOR = cli("doctor");
const AUDIT = cli("audit");

let folder: string;
let file: string;
/** A folder for what a command writes. */
let elsewhere: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-closed-"));
  file = join(folder, "bot.db");
  elsewhere = mkdtempSync(join(tmpdir(), "countersign-elsewhere-"));
  await (await openStore({ url: `sqlite:${file}`, owner: "test" })).close();
  const { uid, gid } = ORDINARY_USER;
  if (uid === undefined || gid === undefined) return;
  for (const name of [".", ...readdirSync(folder)]) chownSync(join(folder, name), uid, gid);
  chownSync(elsewhere, uid, gid);
});
afterEach(() => {
  chmodSync(folder, 0o700);
  for (const each of [folder, elsewhere]) rmSync(each, { recursive: true, force: true });
});

type Env = { readonly [name: string]: string };

const run = (env: Env, args: readonly string[]) =>
  spawnSync(process.execPath, args, {
    env: { ...inheritedEnv(), ...env },
    encoding: "utf8",
    ...ORDINARY_USER,
  });

const backUp = (...args: readonly string[]) =>
  run({ DATABASE_URL: `sqlite:${file}` }, [cli("backup"), ...args]);

/** Returns the output of a process that opens the store: "open", or why not. */
function opening(env: Env = {}, args = [OPEN, `sqlite:${file}`]): string {
  const { stdout, stderr } = run(env, args);
  return `${stdout}${stderr}`.trim();
}

/** Windows has no ordinary user for this, and in some checkouts that user cannot read this program. */
const canTry = process.platform !== "win32";

describe.runIf(canTry)("a file that this user may not use", () => {
  test("is named: the database", () => {
    chmodSync(file, 0o400);
    expect(opening()).toBe(`cannot use the database ${file}: this user may not write to ${file}`);
  });

  test("is named: a file beside the database, left by an earlier try", () => {
    writeFileSync(`${file}-wal`, "");
    chmodSync(`${file}-wal`, 0o444);
    expect(opening()).toContain(`may not write to ${file}-wal`);
  });

  test("is named: the folder", () => {
    chmodSync(folder, 0o500);
    expect(opening()).toBe(`cannot use the database ${file}: this user may not write to ${folder}`);
  });

  test.for([
    ["rotate-key"],
    ["archive", "--before", "2100-01-01", "/nowhere/old.jsonl"],
    ["redact", "a".repeat(64)],
  ])("is named by a command that writes: the folder, by %s", (args) => {
    chmodSync(folder, 0o500);
    const says = opening({ DATABASE_URL: `sqlite:${file}` }, [AUDIT, ...args]);
    expect(says).toBe(`cannot use the database ${file}: this user may not write to ${folder}`);
  });

  test("is named: the audit's key, which is not the database", () => {
    chmodSync(`${file}.audit-key`, 0);
    expect(opening()).toBe(`cannot read the audit's key ${file}.audit-key: permission denied`);
  });

  test("is named: an audit's key that holds something else", () => {
    writeFileSync(`${file}.audit-key`, "not a key\n");
    expect(opening()).toBe(
      `cannot use the audit's key ${file}.audit-key: it does not hold 32 bytes in base64`,
    );
  });

  test("is named: the lock, which must be writable to keep another process out", () => {
    chmodSync(`${file}.lock`, 0o400);
    expect(opening()).toBe(`cannot use the database ${file}: this user may not write to ${file}.lock`);
  });

  test("is to be made writable, the doctor says, because another address would begin an empty database", () => {
    chmodSync(`${file}.lock`, 0o400);
    const nowhere = "http://127.0.0.1:1";
    const says = opening(
      {
        DATABASE_URL: `sqlite:${file}`,
        SLACK_BOT_TOKEN: "xoxb-1-test",
        SLACK_APP_TOKEN: "xapp-1-A1-1-test",
        SLACK_API_URL: `${nowhere}/api/`,
        AGENT_BASE_URL: nowhere,
        AGENT_API_KEY: "test",
      },
      [DOCTOR],
    );
    expect(says).toContain(`may not write to ${file}.lock`);
    expect(says).toContain(`chmod u+rw ${file}.lock`);
  });

  test.for([
    ["audit", "verify"],
    ["audit", "acknowledge", "abc123", "--reason", "seen"],
    ["backup", "copy.db"],
    ["policy", "explain", "run_1"],
    ["migrate-store", "the database", "postgres://countersign:0123abcd@localhost/countersign"],
  ])("is not called missing by %s %s", ([name = "", ...args]) => {
    const paths = new Map([
      ["copy.db", join(elsewhere, "copy.db")],
      ["the database", `sqlite:${file}`],
    ]);
    const env = { DATABASE_URL: `sqlite:${file}`, AUDIT_KEY: Buffer.alloc(32, 7).toString("base64") };
    const says = () => opening(env, [cli(name), ...args.map((each) => paths.get(each) ?? each)]);
    for (const closed of [file, folder]) {
      chmodSync(closed, 0);
      expect(says()).toContain(`cannot use the database ${file}: permission denied`);
    }
  });

  test("is no failure of a verification under a pinned key: the key with which auditors could write", async () => {
    const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
    await store.audit([anAuditEntry(aRun())]);
    const publicKey = store.auditPublicKey();
    await store.close();
    const why = `cannot read the audit's key ${file}.audit-key: permission denied`;
    const verify = (...args: readonly string[]) =>
      run({ DATABASE_URL: `sqlite:${file}` }, [AUDIT, "verify", ...args]);
    chmodSync(`${file}.audit-key`, 0);
    expect(verify()).toMatchObject({ status: 2, stderr: `${why}\n` });
    const seen = verify("--public-key", publicKey);
    expect(seen).toMatchObject({ status: 0, stderr: "" });
    expect(seen.stdout.trim().split("\n").at(-1)).toBe(
      `NOT CHECKED: runs, forms and buttons. This user may not read the key: ${why}. To check them, run this as a user who may.`,
    );
    chmodSync(`${file}.audit-key`, 0o600);
    writeFileSync(`${file}.audit-key`, "not a key\n");
    expect(verify("--public-key", publicKey)).toMatchObject({ status: 2 });
  });

  test.for([
    [
      "may not be read",
      () => chmodSync(`${file}.audit-key`, 0),
      "cannot read the audit's key",
      "permission denied",
    ],
    [
      "holds something else",
      () => writeFileSync(`${file}.audit-key`, "not a key\n"),
      "cannot use the audit's key",
      "it does not hold 32 bytes in base64",
    ],
  ] as const)(
    "leaves no backup: the audit's key that %s, also under --public-key",
    async ([, spoil, what, why]) => {
      const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
      await store.audit([anAuditEntry(aRun())]);
      const publicKey = store.auditPublicKey();
      await store.close();
      spoil();
      for (const pinned of [[], ["--public-key", publicKey]]) {
        const seen = backUp(join(elsewhere, "copy.db"), ...pinned);
        expect(seen).toMatchObject({
          status: 2,
          stdout: "",
          stderr: `${what} ${file}.audit-key: ${why}. Without it, the copy cannot be verified, so there is no copy. Put the key back so that this user can read it, or set AUDIT_KEY.\n`,
        });
        expect(readdirSync(elsewhere)).toEqual([]);
      }
    },
  );

  test("is not called missing by backup: the folder of the copy, if this user may not enter it", () => {
    const closed = join(elsewhere, "closed");
    const copy = join(closed, "inner", "copy.db");
    mkdirSync(join(closed, "inner"), { recursive: true });
    const says = (to: string) => backUp(to).stderr.trim();
    expect(says(join(elsewhere, "none", "copy.db"))).toContain("/none/copy.db: its folder does not exist");
    chmodSync(closed, 0);
    expect(says(copy)).toBe(`cannot write the backup ${copy}: permission denied`);
    expect(says(join(closed, "copy.db"))).toContain("/closed/copy.db: permission denied");
  });

  test("is not called missing: the temporary folder, if this user may not enter its parent", () => {
    const closed = join(elsewhere, "closed");
    const inner = join(closed, "inner");
    mkdirSync(inner, { recursive: true });
    chmodSync(closed, 0);
    const output = opening({ TMPDIR: inner, DATABASE_URL: `sqlite:${file}` }, [AUDIT, "verify"]);
    expect(output).toContain(`to the temporary folder ${inner}: permission denied. Set TMPDIR`);
  });

  test("is named: the temporary folder, where the audit's commands copy the database", () => {
    const nowhere = join(folder, "nowhere");
    const output = opening({ TMPDIR: nowhere, DATABASE_URL: `sqlite:${file}` }, [AUDIT, "verify"]);
    expect(output).toBe(
      `cannot copy the database to the temporary folder ${nowhere}: there is no such folder. Set TMPDIR to a folder with room that this user may write to`,
    );
  });
});

/** Linux gives a process mounts of its own; root needs no user namespace for them. */
const unshareOptions = process.getuid?.() === 0 ? ["--mount"] : ["--mount", "--map-root-user"];
const canMount =
  spawnSync("unshare", [...unshareOptions, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

describe.runIf(canMount)("a disk", () => {
  /** Opens the store on a disk of 1 MiB that exists only for this call. */
  const onSmallDisk = (shell: string): string => {
    const script = `mount -t tmpfs -o size=1M tmpfs ${folder} && ${shell}`;
    const { stdout } = spawnSync(
      "unshare",
      [...unshareOptions, "sh", "-c", script, process.execPath, OPEN, `sqlite:${file}`],
      {
        env: inheritedEnv(),
        encoding: "utf8",
      },
    );
    return stdout.trim();
  };

  test.each([4, 20, 60, 200])("with %i KiB of room is reported as full at the first start", (room) => {
    const output = onSmallDisk(`head -c ${(1024 - room) * 1024} /dev/zero > ${folder}/other; "$0" "$@"`);
    expect(output).toBe(`cannot use the database ${file}: the disk is full`);
  });

  test("that became full after the first start is reported as full", () => {
    const output = onSmallDisk(`"$0" "$@"; head -c 1M /dev/zero > ${folder}/other 2>/dev/null; "$0" "$@"`);
    expect(output.split("\n")).toEqual(["open", `cannot use the database ${file}: the disk is full`]);
  });

  test("that is read-only is reported as such", () => {
    const output = onSmallDisk(`"$0" "$@"; mount -o remount,ro ${folder}; "$0" "$@"`);
    expect(output.split("\n")).toEqual([
      "open",
      `cannot use the database ${file}: the file system is read-only`,
    ]);
  });
});
