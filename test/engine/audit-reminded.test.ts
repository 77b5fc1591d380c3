// Reminders have entries that no person caused. They do not replace the entry about the end of a request, and do not
// count as closed approvals.

import { expect, test } from "vitest";
import { NO_FOLLOW_UP, type Reminders } from "#src/domain/policy/follow-up-rule.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { sent } from "../make/receipts.ts";
import { APPROVER, REQUESTER } from "../make/run.ts";

const MIN = 60_000;

async function waiting(remind: Reminders, afterMs: number): Promise<Bench> {
  const bench = await createBench();
  const expiry = { afterMs, outcome: "nothing" } as const;
  const followUp = { ...NO_FOLLOW_UP, remind };
  bench.policy = aPolicy({ approvers: these([APPROVER]), expiry, followUp });
  const { id } = await bench.withCard();
  await bench.clock.pass(afterMs + 2 * MIN);
  bench.agents.pending.set(id, []);
  bench.agents.statuses.set(id, "succeeded");
  await bench.clock.pass(MIN);
  return bench;
}

const recordedEntries = async ({ store }: Bench) =>
  (await store.auditAfter(0, ["reminded", "closed", "coalesced"], 100)).map(({ entry }) => entry);

test("a request that expires after its reminders has an entry of its own, and its requester is told", async () => {
  // At 5, 15 and 35 minutes, and the last one a quarter of an hour before the end.
  const bench = await waiting({ afterMs: 5 * MIN, doubles: true, atMost: 4 }, 60 * MIN);
  expect((await recordedEntries(bench)).map(({ what, outcome }) => `${what} ${outcome}`)).toEqual([
    ...Array<string>(3).fill("reminded it still waits"),
    "reminded the last one before the deadline",
    "closed expired",
  ]);
  expect(sent(bench, "expired").map(({ to }) => to)).toEqual([REQUESTER]);
});

test("reminders beyond the limit of an hour are not counted as approvals that closed", async () => {
  const bench = await waiting({ afterMs: 5 * MIN, doubles: false, atMost: 20 }, 58 * MIN);
  const entries = await recordedEntries(bench);
  expect(entries.filter(({ what }) => what === "closed")).toHaveLength(1);
  expect(entries.filter(({ what }) => what === "coalesced")).toEqual([]);
});
