// Two installations use one Slack app. Slack distributes the clicks over both, so the second one logs a warning.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { freePort } from "#sandbox/bot/free-port.ts";
import { startWorld } from "#sandbox/world/world.ts";

vi.setConfig({ testTimeout: 60_000 });

test("a bot that detects another socket on its app logs it, and a bot without competition does not", async ({
  onTestFinished,
}) => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-two-"));
  const world = await startWorld({ databaseUrl: `sqlite:${join(folder, "one.db")}` });
  const first = startBot(world.env);
  onTestFinished(async () => {
    await Promise.all([first.end("SIGKILL"), second.end("SIGKILL")]);
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  await first.ready();
  const other = { DATABASE_URL: `sqlite:${join(folder, "two.db")}`, PORT: String(await freePort()) };
  const second = startBot({ ...world.env, ...other });
  await second.ready();
  expect(second.printed()).toMatch(/"level":"warn".*"sockets":2,.*other sockets on this app/);
  expect(first.printed()).not.toContain("other sockets on this app");
});
