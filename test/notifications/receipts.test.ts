// When a person's receipts are sent, and how many share a message.

import { describe, expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { BUILT_IN, BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { PLANNED, REFUSED_RETRY_MS } from "#src/domain/posted-message.ts";
import { createBench, failure } from "../make/bot.ts";
import { aNonce, APPROVER, TEAM } from "../make/run.ts";
import { BY, decided, disputes, receiptOf, sent } from "../make/receipts.ts";

const QUARTER_MS = 15 * 60_000;

describe("receipts of one person", () => {
  test("share one message per quarter of an hour; the first after a quiet time is sent at once", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    for (let more = 0; more < 3; more += 1) await decided(bench, "deny");
    await bench.clock.pass(QUARTER_MS - 60_000);
    expect(sent(bench, "receipt")).toHaveLength(1);
    await bench.clock.pass(60_000);
    expect(sent(bench, "receipt")).toHaveLength(4);
    expect(bench.notificationSender.together.map((each) => each.length)).toEqual([3]);
    await decided(bench);
    await bench.clock.pass(QUARTER_MS);
    expect(sent(bench, "receipt")).toHaveLength(5);
    expect(await bench.store.notifications(100)).toEqual([]);
  });

  test("need several messages only if one has no room for them", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    for (let more = 0; more < 21; more += 1) await decided(bench);
    await bench.clock.pass(QUARTER_MS + 1_000);
    expect(sent(bench, "receipt")).toHaveLength(22);
    expect(bench.notificationSender.together.map((each) => each.length)).toEqual([20]);
  });

  test("do not count as waiting while they are held to share a message, but count once Slack fails", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    for (let more = 0; more < 3; more += 1) await decided(bench);
    await bench.clock.pass(QUARTER_MS - 60_000);
    expect(await bench.store.notifications(100)).toHaveLength(3);
    expect(bench.waiting.all).toBe(0);
    bench.notificationSender.postReceipts = () => Promise.reject(failure("internal_error"));
    await bench.clock.pass(70_000);
    expect(await bench.store.notifications(100)).toHaveLength(3);
    expect(bench.waiting.all).toBe(3);
  });

  test("that wait are sent after a restart, none lost and none twice", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await decided(bench);
    await bench.clock.pass(5_000);
    await bench.restart();
    await bench.clock.pass(5_000);
    const entries = sent(bench, "receipt").map(({ entry }) => entry);
    expect(entries).toHaveLength(3);
    expect(new Set(entries).size).toBe(3);
  });

  test("are sent again together if the answer was lost", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await decided(bench);
    const post = bench.notificationSender.postReceipts;
    bench.notificationSender.postReceipts = () => Promise.reject(failure("timeout", { applied: "maybe" }));
    await bench.clock.pass(QUARTER_MS);
    bench.notificationSender.postReceipts = post;
    await bench.clock.pass(20_000);
    expect(bench.notificationSender.together.map((each) => each.length)).toEqual([2]);
    expect(await bench.store.notifications(100)).toEqual([]);
  });

  test("are sent one by one after Slack refused them together, so that one cannot keep back the others", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    for (let more = 0; more < 3; more += 1) await decided(bench);
    const { notificationSender } = bench;
    let refused = 0;
    notificationSender.postReceipts = () => {
      refused += 1;
      return Promise.reject(failure("msg_blocks_too_long", { retry: "never" }));
    };
    const post = notificationSender.post.bind(notificationSender);
    const [, second] = await bench.store.auditAfter(0, ["decided"], 10);
    notificationSender.post = (notification, facts) =>
      notification.entry === second?.seq
        ? Promise.reject(failure("invalid_blocks", { retry: "never" }))
        : post(notification, facts);
    await bench.clock.pass(QUARTER_MS + REFUSED_RETRY_MS);
    expect(refused).toBe(1);
    expect(sent(bench, "receipt")).toHaveLength(3);
    const [waiting, ...others] = await bench.store.notifications(100);
    expect(others).toEqual([]);
    expect(waiting).toMatchObject({ entry: second?.seq, post: { type: "refused", refusals: 2 } });
  });

  test("are sent at once, one by one, if the rule asks for that", async () => {
    const bench = await createBench();
    bench.policy = {
      ...BUILT_IN,
      version: "0123456789ab",
      rules: [{ ...BUILT_IN_RULE, name: "production", receiptAtOnce: true }],
    };
    for (let more = 0; more < 3; more += 1) await decided(bench);
    await bench.clock.pass(2_000);
    expect(sent(bench, "receipt-at-once")).toHaveLength(3);
    expect(bench.notificationSender.together).toEqual([]);
  });

  test("include one for an approval that the person took back", async () => {
    const bench = await createBench();
    bench.policy = {
      ...BUILT_IN,
      version: "0123456789ab",
      rules: [{ ...BUILT_IN_RULE, name: "production", holdMs: 60_000, receiptAtOnce: true }],
    };
    const card = await decided(bench);
    const [approval] = (await bench.run(card.id)).approvals;
    const click = { ...card.click, nonce: approval?.nonce ?? card.click.nonce };
    expect(await bench.flow.undoDecision.onCard(click)).toMatchObject({ ok: true });
    await bench.clock.pass(5_000);
    const receipts = sent(bench, "receipt-at-once");
    expect(receipts.map(({ to, facts }) => [to, facts.entry.entry.what, facts.entry.entry.outcome])).toEqual([
      [APPROVER, "decided", "recorded"],
      [APPROVER, "settled", "void: undone"],
    ]);
  });

  test("do not delay an alarm, however many are waiting", async () => {
    const bench = await createBench();
    await decided(bench);
    const receipt = await receiptOf(bench);
    const many = Array.from({ length: 600 }, (_, nth) => ({
      id: aNonce(),
      kind: "receipt" as const,
      entry: 10_000 + nth,
      to: APPROVER,
      madeAt: 1,
      post: PLANNED,
    }));
    await bench.store.addNotifications(many);
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(3_000);
    expect(sent(bench, "dispute")).toHaveLength(2);
  });

  test("are disputed one by one", async () => {
    const bench = await createBench();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench, "deny");
    await decided(bench);
    await bench.clock.pass(QUARTER_MS);
    const [, second, third] = sent(bench, "receipt");
    if (second === undefined || third === undefined) throw new Error("receipts are missing");
    const other = { team: TEAM, user: UserId("U0OTHER") };
    expect(await bench.flow.dispute(other, third.id)).toMatchObject({ ok: false });
    expect(await bench.flow.dispute(BY, third.id)).toMatchObject({ ok: true, value: { again: false } });
    expect((await disputes(bench)).map(({ entry }) => entry.refers)).toEqual([third.entry]);
    expect(await bench.flow.dispute(BY, second.id)).toMatchObject({ ok: true, value: { again: false } });
  });
});
