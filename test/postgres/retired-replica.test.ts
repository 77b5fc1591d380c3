// A real replica is suspended, and the audit's key is replaced meanwhile.

import { expect, onTestFinished, test } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { auditKeyOf } from "#src/adapters/store/audit-key.ts";
import { rotateKey } from "#src/adapters/store/audit-upkeep.ts";
import { startPostgres } from "../make/postgres.ts";
import { NOON } from "../make/run.ts";

const seed = (byte: number): string => Buffer.alloc(32, byte).toString("base64");

test("it ends and says why, and its start under the old key is refused", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const databaseUrl = await server.database();
  const world = await startWorld({ databaseUrl });
  onTestFinished(() => world.stop());
  const env = { ...world.env, AUDIT_KEY: seed(1) };
  const bot = startBot(env);
  onTestFinished(async () => void (await bot.end("SIGKILL")));
  await bot.ready();
  const resume = bot.pause();
  await server.run(databaseUrl, "update owners set until = 0");
  await rotateKey(databaseUrl, { from: auditKeyOf(seed(1)), to: auditKeyOf(seed(2)) }, NOON);
  resume();
  expect(await bot.exited).toBe(1);
  expect(bot.printed()).toContain("start it again with the new key (AUDIT_KEY)");
  const again = startBot(env);
  expect(await again.exited).toBe(1);
  expect(again.printed()).toContain("Put the right key in place");
  const [last] = await server.run(databaseUrl, "select what from audit order by seq desc limit 1");
  expect(last).toEqual({ what: "key-accepted" });
});
