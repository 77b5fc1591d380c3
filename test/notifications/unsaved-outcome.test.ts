// While the store takes no writes, nobody gets the same message again: what Slack answered is kept, and stored once the store takes it.

import { expect, test } from "vitest";
import { MessageTs } from "#src/domain/ids.ts";
import { PortError } from "#src/ports.ts";
import { ADMIN, AUDIT_CHANNEL, createBench, failure } from "../make/bot.ts";
import { BY, decided, receiptOf, sent } from "../make/receipts.ts";

const MIN = 60_000;
const QUARTER_MS = 15 * MIN;

/** A store that can lose its writes of notifications, while reads work. */
async function withStore() {
  const bench = await createBench();
  const { store } = bench;
  let takesWrites = true;
  const readOnly = { applied: "no", retry: "later", code: "store" } as const;
  bench.store = {
    ...store,
    saveNotification: (notification, toDo) =>
      takesWrites
        ? store.saveNotification(notification, toDo)
        : Promise.reject(new PortError("cannot execute UPDATE in a read-only transaction", readOnly)),
  };
  await bench.restart();
  return { bench, setWrites: (to: boolean) => void (takesWrites = to) };
}

test("a person gets one receipt while the store takes no writes, and it is settled afterwards", async () => {
  const { bench, setWrites } = await withStore();
  await decided(bench);
  setWrites(false);
  await bench.clock.pass(2 * QUARTER_MS);
  expect(sent(bench, "receipt")).toHaveLength(1);
  const errors = bench.errors.filter((each) => each.includes("notification"));
  expect(errors.length).toBeLessThan(32);
  expect(bench.waiting.all).toBeGreaterThan(0);
  setWrites(true);
  await bench.clock.pass(MIN);
  const [receipt] = sent(bench, "receipt");
  expect(sent(bench, "receipt")).toHaveLength(1);
  expect(await bench.store.notifications(100)).toEqual([]);
  expect(receipt && (await bench.store.notification(receipt.id))).toMatchObject({ post: { type: "up" } });
});

test("a person gets one message of several receipts while the store takes no writes", async () => {
  const { bench, setWrites } = await withStore();
  await decided(bench);
  await receiptOf(bench);
  await decided(bench, "deny");
  await decided(bench);
  setWrites(false);
  await bench.clock.pass(3 * QUARTER_MS);
  expect(bench.notificationSender.together.map((each) => each.length)).toEqual([2]);
  setWrites(true);
  await bench.clock.pass(QUARTER_MS + MIN);
  expect(sent(bench, "receipt")).toHaveLength(3);
  expect(await bench.store.notifications(100)).toEqual([]);
});

test("an admin gets one alarm while the store takes no writes, and the channel gets its own afterwards", async () => {
  const { bench, setWrites } = await withStore();
  await decided(bench);
  const receipt = await receiptOf(bench);
  setWrites(false);
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(10 * MIN);
  expect(sent(bench, "dispute").map(({ to }) => to)).toEqual([ADMIN]);
  setWrites(true);
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute").map(({ to }) => to)).toEqual([ADMIN, AUDIT_CHANNEL]);
  expect(await bench.store.notifications(100)).toEqual([]);
});

test("Slack is not asked every second while neither it nor the store takes anything", async () => {
  const { bench, setWrites } = await withStore();
  let asked = 0;
  const post = bench.notificationSender.post.bind(bench.notificationSender);
  bench.notificationSender.post = ({ kind }) => {
    if (kind === "receipt") asked += 1;
    return Promise.reject(failure("internal_error"));
  };
  await decided(bench);
  setWrites(false);
  await bench.clock.pass(10 * MIN);
  expect(asked).toBe(1);
  bench.notificationSender.post = post;
  setWrites(true);
  await bench.clock.pass(2 * MIN);
  expect(sent(bench, "receipt")).toHaveLength(1);
});

test("a replica forgets the answer once another replica sends for that person", async () => {
  const { bench, setWrites } = await withStore();
  await decided(bench);
  setWrites(false);
  await bench.clock.pass(MIN);
  const [receipt] = sent(bench, "receipt");
  expect(receipt).toBeDefined();
  const renew = bench.store.renew.bind(bench.store);
  bench.store.renew = async (...given) => ({ ...(await renew(...given)), shards: [] });
  await bench.clock.pass(2 * MIN);
  setWrites(true);
  await bench.clock.pass(2 * MIN);
  expect(receipt && (await bench.store.notification(receipt.id))).toMatchObject({
    post: { type: "planned" },
  });
});

test("what another replica stored meanwhile is not replaced", async () => {
  const { bench, setWrites } = await withStore();
  await decided(bench);
  setWrites(false);
  await bench.clock.pass(MIN);
  const [receipt] = sent(bench, "receipt");
  if (receipt === undefined) throw new Error("no receipt");
  const stored = await bench.store.notification(receipt.id);
  if (stored === null) throw new Error("no row");
  setWrites(true);
  const post = {
    type: "up",
    ts: MessageTs("1.1"),
    shows: "",
    sweepAt: null,
    notBefore: 0,
    tries: 0,
  } as const;
  await bench.store.saveNotification({ ...stored, post }, false);
  await bench.clock.pass(2 * MIN);
  expect(await bench.store.notification(receipt.id)).toMatchObject({ post });
});
