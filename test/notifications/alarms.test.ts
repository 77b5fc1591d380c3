// An alarm waits for no other notification.

import { expect, test } from "vitest";
import { PLANNED } from "#src/domain/posted-message.ts";
import type { Notification } from "#src/ports/notification.ts";
import { ADMIN, AUDIT_CHANNEL, type Bench, createBench, failure } from "../make/bot.ts";
import { BY, decided, receiptOf, refuseKind, sent } from "../make/receipts.ts";
import { aNonce, REQUESTER } from "../make/run.ts";

const MIN = 60_000;

const answers = (count: number, before: number): Notification[] =>
  Array.from({ length: count }, (_, nth) => ({
    id: aNonce(),
    kind: "answered",
    entry: before - 1 - nth,
    to: REQUESTER,
    madeAt: 1,
    post: PLANNED,
  }));

/** Slack makes every call to this person or channel wait for ten minutes. */
function holdBack(bench: Bench, who: Notification["to"]): void {
  const waitForTurn = bench.chat.waitForTurn.bind(bench.chat);
  bench.chat.waitForTurn = (turn, isWanted) =>
    turn.channel === who
      ? new Promise((resolve) => void bench.clock.after(10 * MIN, resolve))
      : waitForTurn(turn, isWanted);
}

test("however many older ones Slack refuses", async () => {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  refuseKind(bench, "answered");
  await bench.store.addNotifications(answers(600, 100_000));
  await bench.clock.pass(10_000);
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute")).toHaveLength(2);
});

test("although nobody can look up whether the decision has left", async () => {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  bench.store.auditOfRun = () => Promise.reject(failure("store_timeout"));
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute").map(({ facts }) => facts.reach)).toEqual(["maybe", "maybe"]);
});

test("while Slack holds back the messages to one person", async () => {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  holdBack(bench, REQUESTER);
  await bench.store.addNotifications(answers(2, receipt.entry));
  await bench.clock.pass(2_000);
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute")).toHaveLength(2);
});

test("while Slack holds back the alarms to one admin", async () => {
  const bench = await createBench();
  for (let times = 0; times < 3; times += 1) {
    await decided(bench);
    await bench.clock.pass(16 * MIN);
  }
  const receipts = sent(bench, "receipt");
  holdBack(bench, ADMIN);
  for (const { id } of receipts) {
    await bench.flow.dispute(BY, id);
    await bench.clock.pass(3_000);
  }
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute").filter(({ to }) => to !== ADMIN)).toHaveLength(3);
});

test("while an earlier one, whose answer was lost, is looked for", async () => {
  const bench = await createBench();
  for (let times = 0; times < 2; times += 1) {
    await decided(bench);
    await bench.clock.pass(16 * MIN);
  }
  const [first, second] = sent(bench, "receipt");
  if (first === undefined || second === undefined) throw new Error("the decisions caused no receipts");
  const { notificationSender } = bench;
  const post = notificationSender.post.bind(notificationSender);
  let lost = 0;
  notificationSender.post = (notification, facts) => {
    const isFirst = notification.kind === "dispute" && notification.to === AUDIT_CHANNEL && lost === 0;
    if (!isFirst) return post(notification, facts);
    lost += 1;
    return Promise.reject(failure("timeout", { applied: "maybe" }));
  };
  // Slack holds reads back, but not posts.
  const waitForTurn = bench.chat.waitForTurn.bind(bench.chat);
  bench.chat.waitForTurn = (turn, isWanted) =>
    turn.kind === "read"
      ? new Promise((resolve) => void bench.clock.after(10 * MIN, resolve))
      : waitForTurn(turn, isWanted);
  await bench.flow.dispute(BY, first.id);
  await bench.clock.pass(MIN);
  expect(lost).toBe(1);
  await bench.flow.dispute(BY, second.id);
  await bench.clock.pass(MIN);
  const toChannel = sent(bench, "dispute").filter(({ to }) => to === AUDIT_CHANNEL);
  expect(toChannel.map(({ facts }) => facts.entry.entry.refers)).toEqual([second.entry]);
});
