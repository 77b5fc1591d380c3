import { expect, test } from "vitest";
import { QUICK, startControlled } from "../control/controlled.ts";

test(
  "a storm of 50 approvals comes about on the real bot, at the pace that Slack allows",
  { timeout: 400_000 },
  async ({ onTestFinished }) => {
    const { act, read, stop, world } = await startControlled({ bot: QUICK });
    onTestFinished(stop);
    await world.bot?.ready();
    await act("scene.play", { name: "storm" });
    let scenes: Record<string, unknown>[] = [];
    while (scenes.length === 0) scenes = await read("/control/scenes", { playing: "false", wait: "60" });
    const [{ captions, ended } = {}] = scenes;
    expect(JSON.stringify(captions)).toContain("50 cards, 50 decisions");
    expect(ended).toBe("done");
    expect(await read("/control/traffic", { contains: "chat.", refused: "true" })).toEqual([]);
  },
);
