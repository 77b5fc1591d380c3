// A replica whose clock was ahead has stored a look at the run, so this process takes its own looks for older ones and ignores them.

import { expect, test } from "vitest";
import { createBench } from "../make/bot.ts";
import { APPROVER, TEAM } from "../make/run.ts";

const AHEAD_MS = 5 * 60_000;

async function decidedBehind(verdict: "approve" | "deny") {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, verdict);
  const key = await bench.store.byRunId(id);
  const stored = key === null ? null : await bench.store.load(key);
  if (!opened.ok || stored === null || stored.run.seen === null) throw new Error("nothing to decide");
  const seen = { ...stored.run.seen, askedAt: bench.clock.monotonic() + AHEAD_MS };
  await bench.store.save(stored, { ...stored.run, seen });
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
  return { bench, id };
}

test("an approval waits until it is compared with what the service lists", async () => {
  const { bench, id } = await decidedBehind("approve");
  await bench.clock.pass(60_000);
  expect(bench.agents.resolved).toEqual([]);
  expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "retry" } });
  bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete everything" } }]);
  await bench.clock.pass(2 * AHEAD_MS);
  expect(bench.agents.resolved).toEqual([]);
  expect((await bench.run(id)).approvals[0]?.state.type).toBe("pending");
});

test("an approval is sent once it is compared, if the request is the same", async () => {
  const { bench } = await decidedBehind("approve");
  await bench.clock.pass(2 * AHEAD_MS);
  expect(bench.agents.resolved).toMatchObject([{ verdict: "approve" }]);
});

test("a denial is sent at once, because it can only stop an agent", async () => {
  const { bench } = await decidedBehind("deny");
  await bench.clock.pass(5_000);
  expect(bench.agents.resolved).toMatchObject([{ verdict: "deny" }]);
});
