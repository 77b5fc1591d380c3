// A reader that may not write to the lock file still notices a bot, and keeps a bot out while it copies the database.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { inheritedEnv } from "../../make/child-env.ts";
import { SERVER_USER as ORDINARY_USER } from "../../make/postgres.ts";
import { anAuditEntry, aRun } from "../../make/run.ts";

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
const AUDIT = at("../../../src/cli/audit.ts");
const MIGRATE = at("../../../src/cli/migrate-store.ts");
const OTHER_PROCESS = at("other-process.ts");
const READ_LOCK = fileURLToPath(new URL("read-lock.ts", import.meta.url));

let folder: string;
let file: string;
let children: ChildProcess[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-read-"));
  file = join(folder, "bot.db");
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit([anAuditEntry(aRun())]);
  await store.close();
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child);
  rmSync(folder, { recursive: true, force: true });
});

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "close");
  child.kill("SIGKILL");
  await gone;
}

/** Resolves to the process, and to what it printed first. */
async function started(args: string[], user = {}): Promise<{ child: ChildProcess; said: string }> {
  const child = spawn(process.execPath, args, {
    env: inheritedEnv(),
    stdio: ["ignore", "pipe", "inherit"],
    ...user,
  });
  children.push(child);
  const [said] = (await once(child.stdout, "data")) as [Buffer];
  return { child, said: said.toString().trim() };
}

const bot = (task: "hold" | "write") => started([OTHER_PROCESS, task, `sqlite:${file}`]);
const reader = () => started([READ_LOCK, file], ORDINARY_USER);

/** Gives everything to the ordinary user, but lets nobody write to the lock. */
function closeLock(mode: number): void {
  const { uid, gid } = ORDINARY_USER;
  if (uid !== undefined && gid !== undefined)
    for (const name of [".", ...readdirSync(folder)]) chownSync(join(folder, name), uid, gid);
  chmodSync(`${file}.lock`, mode);
}

/** Windows has no ordinary user for this. */
describe.runIf(process.platform !== "win32")("a reader that may not write to the lock", () => {
  test("keeps a bot out as long as it reads, and lets other readers in", async () => {
    closeLock(0o444);
    const first = await reader();
    expect(first.said).toBe("free");
    const second = await reader();
    expect(second.said).toBe("free");
    // Root may write to every file. Another user's bot would be refused already because of the mode.
    chmodSync(`${file}.lock`, 0o600);
    const opening = () => openStore({ url: `sqlite:${file}`, owner: "test" });
    await expect(opening()).rejects.toThrow("is using it");
    await end(first.child);
    await expect(opening()).rejects.toThrow("is using it");
    await end(second.child);
    await (await opening()).close();
  });

  test("notices a bot", async () => {
    await bot("hold");
    closeLock(0o444);
    expect((await reader()).said).toBe("in use");
  });

  test("and not read it either is told which file refuses, and what to do", () => {
    closeLock(0);
    const { status, stderr } = spawnSync(process.execPath, [AUDIT, "verify"], {
      env: { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}` },
      encoding: "utf8",
      ...ORDINARY_USER,
    });
    expect(status).toBe(2);
    expect(stderr.trim()).toBe(
      `cannot read the database ${file}: this user may not read ${file}.lock, which shows whether a bot uses it. Run the command as the bot's user, or let this user read that file`,
    );
  });
});

/** Linux gives a process mounts of its own; root needs no user namespace for them. */
const unshareOptions = process.getuid?.() === 0 ? ["--mount"] : ["--mount", "--map-root-user"];
const canMount =
  spawnSync("unshare", [...unshareOptions, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).status === 0;

describe.runIf(canMount)("on a mount of its own", () => {
  let room: string;
  beforeEach(() => (room = mkdtempSync(join(tmpdir(), "countersign-room-"))));
  afterEach(() => rmSync(room, { recursive: true }));

  function verify(): { readonly status: number | null; readonly out: string } {
    const script = `mount --bind ${folder} ${folder} && mount -o remount,bind,ro ${folder} && "$0" "$@"`;
    const args = [...unshareOptions, "sh", "-c", script, process.execPath, AUDIT, "verify"];
    const env = { ...inheritedEnv(), DATABASE_URL: `sqlite:${file}` };
    const { status, stdout, stderr } = spawnSync("unshare", args, { env, encoding: "utf8" });
    return { status, out: stdout + stderr };
  }

  test("the audit of a read-only database is verified, and nothing is created", () => {
    const before = readdirSync(folder);
    expect(verify()).toEqual({
      status: 0,
      out: expect.stringContaining("Intact: 1 entry, in its place and signed.") as unknown,
    });
    expect(readdirSync(folder)).toEqual(before);
  });

  test("the audit of a read-only database is verified while a bot writes", async () => {
    await bot("write");
    for (const _ of [1, 2, 3])
      expect(verify()).toEqual({ status: 0, out: expect.stringContaining("Intact: ") as unknown });
  });

  test("a move that finds no room for its copy names the temporary folder, not the database", () => {
    const script = `mount -t tmpfs -o size=16k tmpfs ${room} && "$0" "$@"`;
    const to = "postgres://user:word@127.0.0.1:1/none?sslmode=disable";
    const args = [...unshareOptions, "sh", "-c", script, process.execPath, MIGRATE, `sqlite:${file}`, to];
    const env = { ...inheritedEnv(), TMPDIR: room };
    const { status, stderr } = spawnSync("unshare", args, { env, encoding: "utf8" });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: `cannot copy the database to the temporary folder ${room}: its disk is full. Set TMPDIR to a folder with room that this user may write to\n`,
    });
  });
});
