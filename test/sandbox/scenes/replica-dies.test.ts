import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { startPostgres } from "#sandbox/bot/own-postgres.ts";
import { QUICK, startControlled } from "../control/controlled.ts";
import { PATIENT } from "../../make/patient.ts";

test(
  "a replica dies with an unsent decision, another replica sends it once, and the sandbox is in order afterwards",
  { timeout: 180_000 },
  async ({ onTestFinished }) => {
    const postgres = await startPostgres(() => undefined);
    onTestFinished(postgres.stop);
    const env = { ...QUICK.env, AUDIT_KEY: randomBytes(32).toString("base64") };
    const { act, read, stop, world } = await startControlled({
      databaseUrl: postgres.url,
      slack: { timing: PATIENT },
      bot: { env, replicas: 3 },
    });
    onTestFinished(stop);
    await world.bot?.ready();
    await act("scene.play", { name: "replica-dies" });
    const [played] = await read("/control/scenes", { playing: "false", wait: "60" });
    const { ended, captions } = played as { ended: string; captions: { text: string }[] };
    expect(ended === "done" ? [] : captions).toEqual([]);
    expect(captions.map(({ text }) => text).join("\n")).toMatch(/Replica \d is killed: kill -9/);
    expect((await read("/control/replicas")).map(({ state }) => state)).toEqual([
      "running",
      "running",
      "running",
    ]);
    expect(await read("/control/requests", { route: "decide" })).toHaveLength(1);
  },
);

test("the scene is not offered with a single process", async ({ onTestFinished }) => {
  const { refusal, stop } = await startControlled({ bot: QUICK });
  onTestFinished(stop);
  expect(await refusal("scene.play", { name: "replica-dies" })).toMatch(/^400 /);
});
