import { expect, test } from "vitest";
import { campaign } from "./campaign.ts";

test("none of a thousand mutated and unsigned requests is accepted, and every valid one among them is", async () => {
  const { sent, controls, controlsTaken, kinds, passed, effects } = await campaign({ size: 1_000, seed: 4 });
  expect(sent).toBeGreaterThanOrEqual(1_000);
  expect(controlsTaken).toBe(controls);
  expect(passed).toBe(controls);
  expect(effects).toBe(0);
  for (const [kind, answers] of kinds) {
    expect(`${kind}: ${answers.size > 0 ? "tried" : "never tried"}`).toBe(`${kind}: tried`);
    for (const answer of answers.keys()) expect(`${kind}: ${answer}`).toMatch(/: 4\d\d$/);
  }
});
