import { expect, test } from "vitest";
import { createQuietWarnings, createRunFailureLog } from "#src/engine/logging.ts";
import { failure } from "../make/bot.ts";
import { createHandClock } from "../make/clock.ts";
import { aRun } from "../make/run.ts";

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

test("runs that the same failure of the store meets share one error a minute; each fault of Countersign has its own", () => {
  const lines: string[] = [];
  const add = (level: string) => (_fields: object, message: string) => void lines.push(`${level} ${message}`);
  const log = { error: add("error"), warn: add("warn"), info: add("info"), debug: add("debug") };
  const logFailure = createRunFailureLog({ log, clock: createHandClock() });
  for (let runs = 0; runs < 100; runs += 1)
    logFailure({ run: aRun().key, error: failure("store_full") }, "not reconciled");
  logFailure({ run: aRun().key, error: failure("store_down") }, "not reconciled");
  for (let runs = 0; runs < 2; runs += 1)
    logFailure({ run: aRun().key, error: new TypeError("no") }, "not reconciled");
  expect(lines.filter((each) => each.startsWith("error"))).toHaveLength(4);
  expect(lines).toHaveLength(103);
});
