// What a replica does before it knows its share of the runs.

import { expect, test } from "vitest";
import { SHARDS } from "#src/domain/ids.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { decided, sent } from "../make/receipts.ts";

/** A second replica on the database of `first`, which holds every shard. `answerLease` answers its first request for a lease. */
async function startSecond(first: Bench) {
  const second = await createBench();
  const { promise: leased, resolve: answerLease } = Promise.withResolvers<void>();
  second.store = {
    ...first.store,
    release: () => Promise.resolve(),
    close: () => Promise.resolve(),
    claim: () => Promise.resolve([]),
    renew: async () => {
      await leased;
      return { shards: [], surplus: 0, replicas: 2, nextEndMs: null };
    },
  };
  return { second, started: second.restart(), answerLease };
}

test("a replica holds no shard and sends nothing before it has its lease", async () => {
  const first = await createBench();
  const answer = Promise.withResolvers<void>();
  const post = first.notificationSender.post.bind(first.notificationSender);
  let isSending = false;
  first.notificationSender.post = async (notification, facts) => {
    if (notification.kind === "receipt") {
      isSending = true;
      await answer.promise;
    }
    return post(notification, facts);
  };
  await decided(first);
  await first.clock.pass(2_000);
  expect(isSending).toBe(true);

  const { second, started, answerLease } = await startSecond(first);
  await second.clock.pass(5_000);
  const held = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) =>
    second.flow.holdsShard(shard),
  );
  expect(held).toEqual([]);
  answerLease();
  await started;
  await second.clock.pass(5_000);
  expect(sent(second, "receipt")).toEqual([]);
  answer.resolve();
  await first.clock.pass(2_000);
  expect(sent(first, "receipt")).toHaveLength(1);
});
