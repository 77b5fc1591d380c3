// When a channel gets the notice that many requests wait for their cards, and when the notice ends.

import { expect, test } from "vitest";
import { isStorming } from "#src/domain/storm.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

/** Watches `many` runs and opens their threads. */
async function followed(bench: Bench, many: number) {
  const ids = Array.from({ length: many }, () => aRunId());
  for (const id of ids)
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.pass(3_000);
  return ids;
}

/** Holds back all cards, as if the channel's turn never came. */
function holdCards(bench: Bench): () => void {
  const waitForTurn = bench.chat.waitForTurn.bind(bench.chat);
  const held: (() => void)[] = [];
  bench.chat.waitForTurn = (effect) =>
    effect.kind === "post" && effect.urgency > 0
      ? new Promise((resolve) => void held.push(resolve))
      : waitForTurn(effect);
  return () => {
    bench.chat.waitForTurn = waitForTurn;
    for (const go of held) go();
  };
}

const ask = (bench: Bench, ids: readonly ReturnType<typeof aRunId>[]): void => {
  for (const id of ids) bench.agents.pending.set(id, [`apr_${id}`]);
};

const carriers = async (bench: Bench) =>
  (await bench.store.list({ channels: [CHANNEL], only: "all", limit: 1_000 })).filter(
    ({ storm }) => storm !== undefined,
  );

test("more than eight waiting requests get one notice, with their number; it ends once when they have cards", async () => {
  const bench = await createBench();
  const ids = await followed(bench, 12);
  const release = holdCards(bench);
  ask(bench, ids);
  await bench.clock.pass(60_000);
  const [carrier, ...more] = await carriers(bench);
  expect(more).toEqual([]);
  expect(carrier?.storm).toMatchObject({ waiting: 12, until: null });
  release();
  await bench.clock.pass(10_000);
  const ended = await carriers(bench);
  expect(ended.map((run) => [run.key, isStorming(run)])).toEqual([[carrier?.key, false]]);
});

test("eight waiting requests get none: their cards come within seconds", async () => {
  const bench = await createBench();
  const ids = await followed(bench, 8);
  holdCards(bench);
  ask(bench, ids);
  await bench.clock.pass(60_000);
  expect(await carriers(bench)).toEqual([]);
});

test("a restart adds no second notice, and ends the first", async () => {
  const bench = await createBench();
  const ids = await followed(bench, 12);
  const release = holdCards(bench);
  ask(bench, ids);
  await bench.clock.pass(60_000);
  const [before] = await carriers(bench);
  await bench.restart();
  await bench.clock.pass(60_000);
  expect((await carriers(bench)).map((run) => [run.key, isStorming(run)])).toEqual([[before?.key, true]]);
  release();
  await bench.clock.pass(60_000);
  const after = await carriers(bench);
  expect(after.map((run) => [run.key, isStorming(run)])).toEqual([[before?.key, false]]);
});
