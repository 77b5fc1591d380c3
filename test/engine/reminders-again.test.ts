import { expect, test } from "vitest";
import type { Hours } from "#src/domain/policy/hours.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { When } from "#src/domain/policy/policy.ts";
import { createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { NOON } from "../make/run.ts";

const MIN = 60_000;
const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

test("the last reminder before an earlier end silences no reminder before a later one", async () => {
  const bench = await createBench();
  const hours: Hours = { tz: "UTC", days: DAYS, from: "00:00", to: "12:55" };
  const followUp = { ...NO_FOLLOW_UP, remind: { afterMs: 30 * MIN, doubles: false, atMost: 20 } };
  const denyAfter = (minutes: number) => ({ afterMs: minutes * MIN, outcome: "deny" }) as const;
  bench.policy = aPolicy(
    { name: "day", when: { ...ALWAYS, hours: [hours] }, expiry: denyAfter(60), followUp },
    { name: "night", expiry: denyAfter(240), followUp },
  );
  const { id } = await bench.withCard();
  for (let minutes = 0; minutes < 235; minutes += 5) await bench.clock.pass(5 * MIN);
  const [approval] = (await bench.run(id)).approvals;
  expect(approval?.appliedRule.rule.name).toBe("night");
  const reminders = (approval?.calls ?? []).map(({ says, at }) => ({ says, minute: (at - NOON) / MIN }));
  expect(reminders.filter(({ minute }) => minute > 60).at(-1)).toMatchObject({ says: "last" });
  expect(reminders.filter(({ says }) => says === "last")).toHaveLength(2);
});
