// A replica with more than its fair share of the runs hands some over: which ones, and what it still does for them.

import { expect, test } from "vitest";
import { MessageTs, shardOf } from "#src/domain/ids.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { ALONE } from "#src/engine/lease-keeper.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const SHARD = shardOf({ team: TEAM, channel: CHANNEL });

/** From the next renewal on, every shard is surplus. Returns the shards that the replica has handed back. */
function tooMany({ store }: Bench): Set<number> {
  const renew = store.renew.bind(store);
  const giveBack = store.giveBack.bind(store);
  const handedBack = new Set<number>();
  store.renew = async (now, leaseMs) => {
    const shards = (await renew(now, leaseMs)).shards.filter((shard) => !handedBack.has(shard));
    return { shards, surplus: shards.length, replicas: 2, nextEndMs: null };
  };
  store.giveBack = async (shards) => {
    for (const shard of shards) handedBack.add(shard);
    await giveBack(shards);
  };
  return handedBack;
}

async function adopted(bench: Bench) {
  const id = aRunId();
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.rest();
  return id;
}

test("runs whose messages wait for Slack's turn are handed over at once, and none of the messages is sent here", async () => {
  const bench = await createBench();
  const turns: (() => void)[] = [];
  bench.chat.waitForTurn = () => new Promise((resolve) => void turns.push(resolve));
  const id = await adopted(bench);
  const handedBack = tooMany(bench);
  await bench.clock.pass(ALONE.renewEveryMs);
  expect(handedBack.has(SHARD)).toBe(true);
  for (const turn of turns) turn();
  await bench.clock.rest();
  expect(bench.chat.posts).toEqual([]);
  expect((await bench.run(id)).posts).toEqual({});
  expect(bench.errors).toEqual([]);
});

test("a run with a message on its way to Slack is followed until Slack has answered, and then handed over", async () => {
  const bench = await createBench();
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const post = bench.chat.post.bind(bench.chat);
  bench.chat.post = async (run, slot) => (await promise, post(run, slot));
  const id = await adopted(bench);
  const handedBack = tooMany(bench);
  await bench.clock.pass(ALONE.renewEveryMs);
  expect([handedBack.size, handedBack.has(SHARD)]).toEqual([255, false]);
  const looks = bench.agents.looks.length;
  await bench.clock.pass(ALONE.renewEveryMs);
  expect(bench.agents.looks.length).toBeGreaterThan(looks);
  resolve(undefined);
  await bench.clock.pass(ALONE.renewEveryMs);
  expect(handedBack.has(SHARD)).toBe(true);
  expect((await bench.run(id)).posts).toMatchObject({ opening: { type: "up" } });
  expect(bench.errors).toEqual([]);
});

test("a deleted card that Slack reports here, of a run that another replica follows, is recorded for that replica", async () => {
  const bench = await createBench();
  const { id, approval, click } = await bench.withCard();
  tooMany(bench);
  await bench.clock.pass(ALONE.renewEveryMs);
  const before = await bench.revision(id);
  await bench.flow.cards.deleted(CHANNEL, MessageTs("1700000000.999999"));
  expect(await bench.revision(id)).toBe(before);
  await bench.flow.cards.deleted(CHANNEL, click.ts);
  expect((await bench.run(id)).posts[cardSlot(approval)]).toMatchObject({ type: "unsure" });
  expect(bench.errors).toEqual([]);
});
