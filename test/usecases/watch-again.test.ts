// A run that the service no longer knows, unwatched and watched again: no message says that the service knows it before it does.

import { expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { MISSING, OPENING, type Slot } from "#src/domain/slot.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER, channel: CHANNEL };

async function missingRun() {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.pending.set(id, ["apr_1"]);
  await bench.flow.adoptRun.adopt(BY, id);
  await bench.clock.pass(5_000);
  bench.agents.statuses.set(id, "missing");
  await bench.clock.pass(60_000);
  return { bench, id };
}

/** Resolves to what the run's message says, once it shows it. */
async function says(bench: Bench, id: ReturnType<typeof aRunId>, slot: Slot): Promise<string> {
  await bench.clock.pass(30_000);
  return messageIn(await bench.run(id), slot).text;
}

test("a missing run that is unwatched and watched again is still missing", async () => {
  const { bench, id } = await missingRun();
  expect(await says(bench, id, MISSING)).toMatch(/no longer knows this run.* keeps asking for a day/);
  expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
  const asks = bench.agents.looks.length;
  expect(await says(bench, id, MISSING)).toMatch(/No longer watched/);
  expect((await bench.run(id)).posts[MISSING]).toMatchObject({ type: "up", shows: "unwatched" });
  expect(bench.agents.looks).toHaveLength(asks);
  const again = await bench.flow.adoptRun.adopt(BY, id);
  expect(again).toMatchObject({ ok: true, value: { watch: { type: "missing", absence: null } } });
  expect(await says(bench, id, MISSING)).toMatch(/no longer knows this run/);
  expect(await says(bench, id, OPENING)).toMatch(/^The service no longer knows this run/);
});

test("a missing run that is watched again is known again once the service says so", async () => {
  const { bench, id } = await missingRun();
  await bench.flow.adoptRun.unwatch(BY, id);
  bench.agents.statuses.delete(id);
  await bench.flow.adoptRun.adopt(BY, id);
  expect(await says(bench, id, MISSING)).toMatch(/knows this run again/);
  expect((await bench.run(id)).approvals).toMatchObject([{ state: { type: "pending" } }]);
});

test("a run that was not missing says nothing of it when it is unwatched and watched again", async () => {
  const { bench, id } = await missingRun();
  bench.agents.statuses.delete(id);
  await bench.clock.pass(120_000);
  expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).posts[MISSING]).toMatchObject({ shows: "back" });
  const again = await bench.flow.adoptRun.adopt(BY, id);
  expect(again).toMatchObject({ ok: true, value: { watch: { type: "on" } } });
});
