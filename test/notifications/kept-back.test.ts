// A notification that is due is sent, however many others wait that cannot be sent now, or that another replica sends.

import { expect, test } from "vitest";
import { shardOfName } from "#src/domain/ids.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import type { Notification } from "#src/ports/notification.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { decided, receiptOf, refuseKind, sent } from "../make/receipts.ts";
import { aNonce, APPROVER, REQUESTER } from "../make/run.ts";
import { SECOND } from "../make/voting.ts";

/** More than one round sends. */
const MANY = 600;

async function addOlder(bench: Bench, kind: Notification["kind"], to: Notification["to"]): Promise<void> {
  const older = Array.from({ length: MANY }, (_, nth): Notification => {
    return { id: aNonce(), kind, entry: 100_000 + nth, to, madeAt: 1, post: PLANNED };
  });
  await bench.store.addNotifications(older);
}

test("receipts of people whom another replica serves do not keep back the others", async () => {
  const bench = await createBench();
  const { store } = bench;
  const theirs = shardOfName(REQUESTER);
  bench.store = {
    ...store,
    renew: async (...given) => {
      const holding = await store.renew(...given);
      return { ...holding, shards: holding.shards.filter((shard) => shard !== theirs) };
    },
  };
  await bench.restart();
  await addOlder(bench, "receipt", REQUESTER);
  await decided(bench);
  await bench.clock.pass(5_000);
  expect(sent(bench, "receipt")).toHaveLength(1);
  const isTheirs = ({ to, kind }: Notification): boolean => to === REQUESTER && kind === "receipt";
  const theirReceipts = await store.notifications(2 * MANY, isTheirs);
  expect(theirReceipts.map(({ post }) => post)).toEqual(Array.from({ length: MANY }, () => PLANNED));
});

test("refused alarms do not keep back other notifications, and are all counted", async () => {
  const bench = await createBench();
  refuseKind(bench, "dispute");
  await addOlder(bench, "dispute", ADMIN);
  await decided(bench);
  await bench.clock.pass(5_000);
  expect(sent(bench, "receipt")).toHaveLength(1);
  expect(bench.waiting.alarms).toBe(MANY);
});

test("receipts that wait for their quarter of an hour do not keep back another person's first one", async () => {
  const bench = await createBench();
  await decided(bench);
  const { entry } = await receiptOf(bench);
  await addOlder(bench, "receipt", APPROVER);
  await bench.store.addNotifications([
    { id: aNonce(), kind: "receipt", entry, to: SECOND, madeAt: 2, post: PLANNED },
  ]);
  await bench.clock.pass(2_000);
  expect(sent(bench, "receipt").map(({ to }) => to)).toEqual([APPROVER, SECOND]);
});
