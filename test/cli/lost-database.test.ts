// The doctor never advises what loses a database that is deleted while the bot runs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { diagnose } from "#src/cli/doctor/examine.ts";

const OTHER_PROCESS = fileURLToPath(new URL("../adapters/store/other-process.ts", import.meta.url));

let world: World;
let folder: string;
let database: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-lost-"));
  database = join(folder, "bot.db");
  world = await startWorld({ databaseUrl: `sqlite:${database}` });
});
afterEach(async () => {
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Resolves to everything that the doctor prints. */
async function toldBy(env: World["env"]): Promise<string> {
  return (await diagnose(env)).lines.join("\n");
}

/** Advice that ends the bot for good, whatever it has open. */
const RESTART =
  /(?<!someone moved the database there: |save the database\. Otherwise, )restart (it|the bot)/i;

/** The bot looks at most once a second. */
async function unready(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
}

async function withBot(work: (bot: BotProcess) => Promise<void>): Promise<void> {
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" });
  await bot.ready();
  try {
    await work(bot);
  } finally {
    await bot.end("SIGKILL");
  }
}

test.each([
  ["deleted", () => rmSync(database)],
  ["deleted with its key", () => [database, `${database}.audit-key`].forEach((each) => rmSync(each))],
  ["moved away with all files beside it", () => renameSync(folder, `${folder}-moved`)],
  [
    "replaced by something else",
    () => {
      renameSync(database, `${database}.kept`);
      writeFileSync(database, "not a database ".repeat(99));
    },
  ],
])("a bot whose database was %s is not to be stopped", async (_, lose) => {
  await withBot(async ({ url }) => {
    lose();
    await unready(url);
    const told = await toldBy(world.env);
    expect(told).toContain(`the bot at ${url} reports that its database file was deleted or replaced`);
    expect(told).toContain("Do not stop the bot");
    expect(told).not.toMatch(RESTART);
    expect(told).not.toContain("set PORT");
  });
  rmSync(`${folder}-moved`, { recursive: true, force: true });
});

test("a bot whose database was moved to DATABASE_URL is to be restarted only if it has that file open", async () => {
  const [moved, path] = [`${folder}-moved`, `${folder}-moved/bot.db`];
  await withBot(async ({ url }) => {
    renameSync(folder, moved);
    await unready(url);
    const told = await toldBy({ ...world.env, DATABASE_URL: `sqlite:${path}` });
    expect(told).not.toContain("gone from");
    expect(told).toContain("Do not stop the bot");
    expect(told).toContain(`shows that the bot has ${path} and ${path}-wal open, and neither as deleted`);
    expect(told).not.toMatch(RESTART);
  });
  const { code } = await diagnose({ ...world.env, DATABASE_URL: `sqlite:${path}` });
  rmSync(moved, { recursive: true, force: true });
  expect(code).toBe(0);
});

test("a bot whose lock file was deleted is to be restarted, because its database is in place", async () => {
  await withBot(async ({ url }) => {
    rmSync(`${database}.lock`);
    await unready(url);
    const says = `the bot at ${url} records nothing, because its lock file was deleted or replaced`;
    expect(await toldBy(world.env)).toContain(says);
    const told = await toldBy({ ...world.env, DATABASE_URL: `sqlite:${folder}/other.db` });
    expect(told).toContain(says);
    expect(told).toContain("Restart the bot with the DATABASE_URL that it has");
    expect(told).not.toContain("other.db.lock");
  });
  expect((await diagnose(world.env)).code).toBe(0);
});

/** Resolves to what the doctor prints about a process that holds the database and answers no one on its port. */
async function toldOfStuck(lose: () => void): Promise<string> {
  const other = spawn(process.execPath, [OTHER_PROCESS, "hold", `sqlite:${database}`]);
  await once(other.stdout, "data");
  const port = createServer((socket) => socket.destroy()).listen(0, "127.0.0.1");
  await once(port, "listening");
  lose();
  const { port: number } = port.address() as AddressInfo;
  const told = await toldBy({ ...world.env, PORT: String(number) });
  port.close();
  other.kill("SIGKILL");
  await once(other, "close");
  expect(told).toContain("a bot that does not answer");
  return told;
}

test("a process that answers no one, and whose database was deleted, is not to be stopped", async () => {
  const told = await toldOfStuck(() => rmSync(database));
  expect(told).toMatch(/the file that (process \d+|another process) has open as its database is gone from/);
  expect(told).toContain("Do not stop the bot");
  expect(told).not.toMatch(/restart/i);
});

test("a process that answers no one, and whose database and lock file were deleted, is not to be stopped", async () => {
  const told = await toldOfStuck(() => [database, `${database}.lock`].forEach((each) => rmSync(each)));
  expect(told).toContain("do not stop it");
  expect(told).not.toMatch(/restart/i);
});

test("a process that answers no one is to be restarted only if it has the files of its database open in their place", async () => {
  const told = await toldOfStuck(() => {
    copyFileSync(database, `${database}.backup`);
    renameSync(`${database}.backup`, database);
  });
  expect(
    told.match(/First run `ls -l \/proc\/PID\/fd`.*do not stop the bot:.*Otherwise, restart the bot\./g),
  ).toHaveLength(2);
  expect(told).not.toMatch(RESTART);
});

test("a database that is missing beside its key is to be put back, and a start is refused until then", async () => {
  await withBot(() => Promise.resolve());
  rmSync(database);
  const told = await toldBy(world.env);
  expect(told).toContain("is missing or empty, but its audit key");
  expect(told).toContain("If a bot that used it still runs, do not stop it");
  expect(told).toContain("until then, a start is refused");
});
