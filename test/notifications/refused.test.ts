// A notification that Slack refuses is retried for a while, whatever failed before the first refusal, and an alarm for as long as it has a reader.

import { expect, test } from "vitest";
import { REFUSED_RETRY_MS, REFUSED_TRIES } from "#src/domain/posted-message.ts";
import { ADMIN, AUDIT_CHANNEL, createBench, failure } from "../make/bot.ts";
import { BY, decided, receiptOf, sent } from "../make/receipts.ts";

const MIN = 60_000;
const HOUR = 60 * MIN;

/** The alert about a dispute, after an outage of Slack. Slack then refuses it. */
async function refusedAfter(outageMs: number) {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  const { notificationSender } = bench;
  const post = notificationSender.post.bind(notificationSender);
  const refuse = () => Promise.reject(failure("not_in_channel", { retry: "never" }));
  notificationSender.post = outageMs === 0 ? refuse : () => Promise.reject(failure("token_revoked"));
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(outageMs);
  notificationSender.post = refuse;
  return { bench, invite: () => void (notificationSender.post = post) };
}

test("an alert that waited through an outage and is then refused is posted once the app is invited", async () => {
  const { bench, invite } = await refusedAfter(30 * MIN);
  await bench.clock.pass(2 * MIN);
  invite();
  await bench.clock.pass(REFUSED_RETRY_MS + MIN);
  expect(sent(bench, "dispute").map(({ to }) => to)).toContain(AUDIT_CHANNEL);
});

test("an alert that Slack has refused for hours is posted within an hour after the app is invited, and counted until then", async () => {
  const { bench, invite } = await refusedAfter(30 * MIN);
  await bench.clock.pass(3 * HOUR);
  expect(await bench.store.notifications(100)).toHaveLength(2);
  expect(bench.waiting.alarms).toBe(2);
  const refused = bench.errors.filter((each) => each.includes("Slack refused a notification")).length;
  expect(refused).toBeLessThan(2 * (REFUSED_TRIES + 3));
  invite();
  await bench.clock.pass(HOUR + MIN);
  expect(
    sent(bench, "dispute")
      .map(({ to }) => to)
      .sort(),
  ).toEqual([AUDIT_CHANNEL, ADMIN].sort());
  await bench.clock.pass(MIN);
  expect(await bench.store.notifications(100)).toEqual([]);
  expect(bench.waiting.alarms).toBe(0);
});

test("an alert is given up if its admin is no admin any more, and the log says so", async () => {
  const { bench } = await refusedAfter(30 * MIN);
  bench.admins.length = 0;
  await bench.clock.pass((REFUSED_TRIES + 2) * REFUSED_RETRY_MS);
  expect((await bench.store.notifications(100)).map(({ to }) => to)).toEqual([AUDIT_CHANNEL]);
  expect(bench.errors.filter((each) => each.includes("given up"))).toHaveLength(1);
});

test("an alert that reaches a busy channel after many refusals is done, without reading the channel back", async () => {
  const { bench, invite } = await refusedAfter(0);
  let reads = 0;
  bench.notificationSender.find = () => {
    reads += 1;
    return Promise.reject(failure("too_many"));
  };
  await bench.clock.pass(HOUR);
  invite();
  await bench.clock.pass(REFUSED_RETRY_MS + MIN);
  expect(await bench.store.notifications(100)).toEqual([]);
  expect(bench.waiting.alarms).toBe(0);
  expect(reads).toBe(0);
});
