import { expect, test } from "vitest";
import { QUICK, startControlled } from "../control/controlled.ts";
import { PATIENT } from "../../make/patient.ts";

test(
  "a storm of 50 approvals succeeds with the real bot, at the pace that Slack allows",
  { timeout: 400_000 },
  async ({ onTestFinished }) => {
    const { act, read, stop, world } = await startControlled({ bot: QUICK, slack: { timing: PATIENT } });
    onTestFinished(stop);
    await world.bot?.ready();
    await act("scene.play", { name: "storm" });
    let scenes: Record<string, unknown>[] = [];
    while (scenes.length === 0) scenes = await read("/control/scenes", { playing: "false", wait: "60" });
    const [{ captions, ended } = {}] = scenes;
    expect(ended === "done" ? [] : captions).toEqual([]);
    const words = JSON.stringify(captions);
    expect(words).toContain("50 cards, 50 decisions");
    const measured = [
      ...words.matchAll(/at the first press and within 15 seconds, the slowest after ([\d.]+) s/g),
    ];
    expect(measured).toHaveLength(5);
    for (const [, seconds] of measured) expect(Number(seconds)).toBeLessThan(15);
    expect(words).toContain("Slack refused 0 calls");
    expect(await read("/control/traffic", { contains: "chat.", refused: "true" })).toEqual([]);
  },
);

test("a storm fails if someone has to press again, and says so", async ({ onTestFinished }) => {
  // The test is about the second press, not about the three seconds.
  const { act, read, stop, world } = await startControlled({ bot: QUICK, slack: { timing: PATIENT } });
  onTestFinished(stop);
  await world.bot?.ready();
  await act("scene.play", { name: "storm" });
  await read("/control/runs", { task: "50 tenants", phase: "awaiting_approval", wait: "20" });
  await act("slack.fault", { method: "views.open", fault: { error: "expired_trigger_id" } });
  const [played] = await read("/control/scenes", { playing: "false", wait: "30" });
  expect(played).toMatchObject({ ended: "failed" });
  expect(JSON.stringify(played)).toContain("needed a second press");
});
