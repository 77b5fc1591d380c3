// The doctor never advises what loses a database that is deleted while the bot runs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
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

/** Resolves to the doctor's line about the database, and its advice. */
async function toldAboutDatabase(): Promise<string> {
  const { lines } = await diagnose(world.env);
  return lines.find((line) => /^(ok {5}|WRONG {2})Database /.test(line)) ?? lines.join("\n");
}

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
    const told = await toldAboutDatabase();
    expect(told).toContain(
      `the file that the bot at ${url} has open as its database is gone from ${database}`,
    );
    expect(told).toContain("Do not stop the bot");
    expect(told).not.toContain("PORT");
  });
  rmSync(`${folder}-moved`, { recursive: true, force: true });
});

test("a bot whose lock file was deleted is to be restarted, because its database is in place", async () => {
  await withBot(async ({ url }) => {
    rmSync(`${database}.lock`);
    await unready(url);
    const told = await toldAboutDatabase();
    expect(told).toContain(
      `the bot at ${url} records nothing, because its lock file ${database}.lock was deleted`,
    );
    expect(told).toContain("Restart the bot");
  });
  expect((await diagnose(world.env)).code).toBe(0);
});

test("a process that answers no one, and whose database was deleted, is not to be stopped", async () => {
  const other = spawn(process.execPath, [OTHER_PROCESS, "hold", `sqlite:${database}`]);
  await once(other.stdout, "data");
  rmSync(database);
  const told = await toldAboutDatabase();
  other.kill("SIGKILL");
  await once(other, "close");
  expect(told).toMatch(/the file that (process \d+|another process) has open as its database is gone from/);
  expect(told).toContain("Do not stop the bot");
});

test("a database that is missing beside its key is to be put back, and a start is refused until then", async () => {
  await withBot(() => Promise.resolve());
  rmSync(database);
  const told = await toldAboutDatabase();
  expect(told).toContain("is missing or empty, but its audit key");
  expect(told).toContain("If a bot that used it still runs, do not stop it");
  expect(told).toContain("until then, a start is refused");
});
