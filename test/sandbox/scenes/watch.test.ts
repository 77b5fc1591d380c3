import { expect, test } from "vitest";
import { countRefused } from "#sandbox/scenes/watch.ts";
import { createTraffic } from "#sandbox/slack/traffic.ts";

test("refused calls are counted from beginning to end, including those that the log has dropped", () => {
  const traffic = createTraffic({ now: () => 0, secrets: [] });
  traffic.add("app", "before", {}, "ratelimited");
  const tooFast = countRefused(traffic, "ratelimited");
  traffic.add("app", "first", {}, "ratelimited");
  traffic.add("app", "another", {}, "no_text");
  for (let line = 0; line < 2_500; line += 1) traffic.add("app", "fine", {});
  traffic.add("app", "second", {}, "ratelimited");
  expect(traffic.lines().map(({ what }) => what)).not.toContain("first");
  tooFast.end();
  traffic.add("app", "after", {}, "ratelimited");
  expect(tooFast.count()).toBe(2);
});
