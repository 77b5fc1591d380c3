// A notification that Slack refuses is retried for a while, whatever failed before the first refusal.

import { expect, test } from "vitest";
import { REFUSED_RETRY_MS, REFUSED_TRIES } from "#src/domain/posted-message.ts";
import { AUDIT_CHANNEL, createBench, failure } from "../make/bot.ts";
import { BY, decided, receiptOf, sent } from "../make/receipts.ts";

const MIN = 60_000;

/** The alert about a dispute, after an outage of Slack of half an hour. Slack then refuses it. */
async function refusedAfterOutage() {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  const { notificationSender } = bench;
  const post = notificationSender.post.bind(notificationSender);
  notificationSender.post = () => Promise.reject(failure("token_revoked"));
  await bench.flow.dispute(BY, receipt.id);
  await bench.clock.pass(30 * MIN);
  notificationSender.post = () => Promise.reject(failure("not_in_channel", { retry: "never" }));
  return { bench, invite: () => void (notificationSender.post = post) };
}

test("an alert that waited through an outage and is then refused is posted once the app is invited", async () => {
  const { bench, invite } = await refusedAfterOutage();
  await bench.clock.pass(2 * MIN);
  invite();
  await bench.clock.pass(REFUSED_RETRY_MS + MIN);
  expect(sent(bench, "dispute").map(({ to }) => to)).toContain(AUDIT_CHANNEL);
});

test("an alert that is always refused is given up, also after an outage", async () => {
  const { bench } = await refusedAfterOutage();
  await bench.clock.pass((REFUSED_TRIES + 2) * REFUSED_RETRY_MS);
  expect(await bench.store.notifications(100)).toEqual([]);
  expect(bench.errors).toContain("Slack refused a notification");
});
