// What people ask for when the database has taken it, and the answer to the commit was lost.

import { expect, test } from "vitest";
import { createBench, failure } from "../make/bot.ts";
import { CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const TASK = { input: "rotate", intention: "a", answerUrl: null };
const LOST = failure("store_down", { applied: "maybe" });

test("a run that was stored is started, and its person is told so", async () => {
  const bench = await createBench();
  const { insert } = bench.store;
  bench.store.insert = async (...given) => {
    bench.store.insert = insert;
    await insert(...given);
    throw LOST;
  };
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(5_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});

test("a run that was stored is started when its command comes again", async () => {
  const bench = await createBench();
  const { insert } = bench.store;
  let tries = 0;
  bench.store.insert = async (...given) => {
    tries += 1;
    if (tries === 1) await insert(...given);
    throw LOST;
  };
  await expect(bench.flow.startRun.start(BY, TASK)).rejects.toBe(LOST);
  bench.store.insert = insert;
  const started = await bench.flow.startRun.start(BY, TASK);
  expect(started.ok).toBe(true);
  await bench.clock.pass(5_000);
  expect(bench.agents.created).toEqual(["rotate"]);
});
