// Several replicas in HTTP mode: the sandbox distributes requests in turn, like a load balancer.

import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { startPostgres } from "#sandbox/bot/own-postgres.ts";
import { QUICK, startControlled } from "./controlled.ts";
import { PATIENT } from "../../make/patient.ts";

test("each request reaches a running replica, even after one has died", async ({ onTestFinished }) => {
  const postgres = await startPostgres(() => undefined);
  onTestFinished(postgres.stop);
  const env = { ...QUICK.env, AUDIT_KEY: randomBytes(32).toString("base64") };
  const { act, read, stop, world } = await startControlled({
    databaseUrl: postgres.url,
    entrance: "http",
    slack: { timing: PATIENT },
    bot: { env, replicas: 2 },
  });
  onTestFinished(stop);
  await world.bot?.ready();
  const help = async (): Promise<void> => {
    for (let times = 0; times < 4; times += 1)
      await act("person.command", { person: "ana", channel: "ops-agents", text: "/agent help" });
  };
  const lines = (contains: string): Promise<Record<string, unknown>[]> =>
    read("/control/traffic", { contains });
  await help();
  await act("bot.kill", { replica: "replica 2", back: false });
  await help();
  expect(await lines("acknowledges slash_commands")).toHaveLength(8);
  expect(await lines("no acknowledgement")).toEqual([]);
});
