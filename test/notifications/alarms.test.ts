// An alarm waits for no other notification.

import { expect, test } from "vitest";
import { PLANNED } from "#src/domain/posted-message.ts";
import type { Notification } from "#src/ports/notification.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { BY, decided, receiptOf, sent } from "../make/receipts.ts";
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
  const { notificationSender } = bench;
  const post = notificationSender.post.bind(notificationSender);
  notificationSender.post = (notification, facts) =>
    notification.kind === "answered"
      ? Promise.reject(failure("user_not_found", { retry: "never" }))
      : post(notification, facts);
  await bench.store.addNotifications(answers(600, 100_000));
  await bench.clock.pass(10_000);
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(MIN);
  expect(sent(bench, "dispute")).toHaveLength(2);
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
