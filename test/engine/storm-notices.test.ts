// When a channel gets the notice that many requests wait for their cards, and when the notice ends.

import { expect, test } from "vitest";
import { ChannelId, type RunKey } from "#src/domain/ids.ts";
import { isStorming } from "#src/domain/storm.ts";
import { ROW_UNREADABLE } from "#src/ports/store.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

/** Watches `many` runs and opens their threads. */
async function followed(bench: Bench, many: number, channel = CHANNEL) {
  const ids = Array.from({ length: many }, () => aRunId());
  for (const id of ids) await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel }, id);
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

const carriers = async (bench: Bench, channel = CHANNEL) =>
  (await bench.store.list({ channels: [channel], only: "all", limit: 1_000 })).filter(
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

test("a run that cannot be read keeps neither another run of its channel nor another channel from a notice", async () => {
  const bench = await createBench();
  const other = ChannelId("C0OTHER");
  const [here, there] = [await followed(bench, 12), await followed(bench, 12, other)];
  holdCards(bench);
  const { store } = bench;
  const [load, save] = [store.load.bind(store), store.save.bind(store)];
  // The first run that is to carry a notice.
  let spoilt: RunKey | null = null;
  bench.store.load = (key) => (key === spoilt ? Promise.reject(failure(ROW_UNREADABLE)) : load(key));
  bench.store.save = async (stored, next, facts) => {
    if (next.storm !== undefined) spoilt ??= next.key;
    return next.key === spoilt ? "lost" : save(stored, next, facts);
  };
  ask(bench, [...here, ...there]);
  await bench.clock.pass(60_000);
  expect(await carriers(bench)).toHaveLength(1);
  expect(await carriers(bench, other)).toHaveLength(1);
});
