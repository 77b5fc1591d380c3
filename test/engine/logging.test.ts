import { expect, test } from "vitest";
import { createQuietWarnings } from "#src/engine/logging.ts";
import { createHandClock } from "../make/clock.ts";

test("each cause is logged once a minute, with the number of omitted messages", async () => {
  const clock = createHandClock();
  const logged: object[] = [];
  const log = { warn: (fields: object) => void logged.push(fields), debug: () => undefined };
  const warn = createQuietWarnings({ log, clock });
  for (let time = 0; time < 3; time += 1) warn("down", { time }, "failed");
  warn("full", {}, "failed");
  expect(logged).toEqual([{ time: 0 }, {}]);
  await clock.pass(60_000);
  warn("down", { time: 9 }, "failed");
  warn("full", {}, "failed");
  expect(logged.slice(2)).toEqual([{ time: 9, unlogged: 2 }, {}]);
});
