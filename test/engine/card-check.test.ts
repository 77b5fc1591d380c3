// The card of a pending approval stays in Slack: if it is deleted, it is posted again, and there are never two.

import { describe, expect, test } from "vitest";
import type { ChannelId, MessageTs } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { LOOK_EVERY_MS } from "#src/engine/card-check.ts";
import { createBench, failure } from "../make/bot.ts";
import { aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const MINUTE = 60_000;

/** A bench whose Slack can lose messages, and a run with its card up. */
async function stage() {
  const bench = await createBench();
  const deleted = new Set<MessageTs>();
  const asked: MessageTs[] = [];
  const there = (ts: MessageTs): boolean => !deleted.has(ts);
  const find = bench.chat.find.bind(bench.chat);
  Object.assign(bench.chat, {
    isThere: (_channel: ChannelId, ts: MessageTs) => Promise.resolve(asked.push(ts) > 0 && there(ts)),
    find: async (...what: Parameters<typeof find>) => (await find(...what)).filter(there),
  });
  const { id } = await bench.withCard();
  const cards = (): MessageTs[] =>
    bench.chat.posts.filter(({ slot, ts }) => slot.startsWith("card") && there(ts)).map(({ ts }) => ts);
  const run = (): Promise<Run> => bench.run(id);
  return { bench, id, deleted, asked, cards, run };
}

const first = ([ts]: readonly MessageTs[]): MessageTs => {
  if (ts === undefined) throw new Error("no card");
  return ts;
};

describe("a card that was deleted while its approval is pending", () => {
  test("is posted again within a minute, even if Slack does not report it", async () => {
    const { bench, deleted, cards, run } = await stage();
    const old = first(cards());
    deleted.add(old);
    await bench.clock.pass(MINUTE);
    expect(cards()).toHaveLength(1);
    const { approvals, posts } = await run();
    const [approval] = approvals;
    expect(approval && posts[cardSlot(approval.id)]).toMatchObject({ type: "up", ts: first(cards()) });
    expect(approval).toMatchObject({ version: 1, state: { type: "pending" } });
  });

  test("is posted again at once when Slack reports it, or when someone asks what is pending", async () => {
    const { bench, deleted, cards, run } = await stage();
    const old = first(cards());
    deleted.add(old);
    await bench.flow.cards.deleted(CHANNEL, old);
    await bench.clock.rest();
    expect(cards()).toHaveLength(1);
    deleted.add(first(cards()));
    bench.flow.cards.lookNow([await run()]);
    await bench.clock.pass(1);
    expect(cards()).toHaveLength(1);
  });

  test("is looked for at once if someone asked before Slack's answer to its post was stored", async () => {
    const { bench, deleted, cards } = await stage();
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const post = bench.chat.post.bind(bench.chat);
    bench.chat.post = async (run, slot) => {
      const ts = await post(run, slot);
      if (slot.startsWith("card")) await promise;
      return ts;
    };
    const id = aRunId();
    bench.agents.pending.set(id, ["apr_2"]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(2_000);
    const [, posted] = cards();
    if (posted === undefined) throw new Error("no second card");
    deleted.add(posted);
    bench.flow.cards.lookNow([await bench.run(id)]);
    resolve(undefined);
    await bench.clock.pass(1_000);
    expect(cards()).toHaveLength(2);
  });

  test("is posted again as often as it is deleted", async () => {
    const { bench, deleted, cards } = await stage();
    for (let time = 0; time < 5; time += 1) {
      deleted.add(first(cards()));
      await bench.clock.pass(MINUTE);
      expect(cards()).toHaveLength(1);
    }
  });

  test("is posted once, even if the deletion is reported twice, for another message, or falsely", async () => {
    const { bench, deleted, cards } = await stage();
    const old = first(cards());
    await bench.flow.cards.deleted(CHANNEL, old);
    await bench.clock.pass(1);
    expect(cards()).toEqual([old]);
    deleted.add(old);
    await Promise.all([bench.flow.cards.deleted(CHANNEL, old), bench.flow.cards.deleted(CHANNEL, old)]);
    await bench.flow.cards.deleted(CHANNEL, "1.000000" as MessageTs);
    await bench.clock.pass(MINUTE);
    expect(cards()).toHaveLength(1);
  });

  test("is posted again even if it was deleted before Slack answered its post", async () => {
    const { bench, id, deleted, cards } = await stage();
    const post = bench.chat.post.bind(bench.chat);
    bench.chat.post = async (run, slot) => {
      const ts = await post(run, slot);
      if (slot === "card apr_2" && !deleted.has(ts) && cards().length === 2) {
        deleted.add(ts);
        await bench.flow.cards.deleted(CHANNEL, ts);
      }
      bench.chat.post = post;
      return ts;
    };
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    await bench.clock.pass(20_000);
    expect(cards()).toHaveLength(2);
  });

  test("stays away once its approval is decided or gone", async () => {
    const { bench, id, deleted, cards } = await stage();
    bench.agents.pending.set(id, []);
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(20_000);
    deleted.add(first(cards()));
    await bench.clock.pass(10 * MINUTE);
    expect(cards()).toEqual([]);
  });
});

describe("looking for cards", () => {
  test("writes nothing while they are there, and goes on after Slack has failed", async () => {
    const { bench, id, asked, deleted, cards } = await stage();
    const before = await bench.revision(id);
    await bench.clock.pass(10 * MINUTE);
    expect(await bench.revision(id)).toBe(before);
    expect(asked.length).toBe(Math.floor((10 * MINUTE) / LOOK_EVERY_MS));
    const isThere = bench.chat.isThere.bind(bench.chat);
    bench.chat.isThere = () => Promise.reject(failure("timeout"));
    await bench.clock.pass(MINUTE);
    bench.chat.isThere = isThere;
    deleted.add(first(cards()));
    await bench.clock.pass(MINUTE);
    expect(cards()).toHaveLength(1);
    expect(bench.errors).toEqual([]);
  });

  test("waits for its turn at Slack, and a person who asks what is pending goes first", async () => {
    const { bench, asked, run } = await stage();
    const turns: string[] = [];
    bench.chat.waitForTurn = ({ kind, urgency }) => Promise.resolve(void turns.push(`${kind} ${urgency}`));
    await bench.clock.pass(LOOK_EVERY_MS);
    bench.flow.cards.lookNow([await run()]);
    await bench.clock.pass(1);
    expect(turns).toEqual(["sweep 2", "read 1"]);
    expect(asked).toHaveLength(2);
  });

  test("asks nothing after a stop", async () => {
    const { bench, asked } = await stage();
    await bench.flow.stop(0);
    await bench.clock.pass(10 * MINUTE);
    expect(asked).toEqual([]);
  });
});

test("a message that a channel refused is posted as soon as the app is let in again", async () => {
  const bench = await createBench();
  const post = bench.chat.post.bind(bench.chat);
  const id = aRunId();
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.pass(2_000);
  const refusal = failure("not_in_channel", { retry: "never" });
  bench.chat.post = () => Promise.reject(refusal);
  bench.agents.pending.set(id, ["apr_1"]);
  await bench.clock.pass(20_000);
  bench.chat.post = post;
  await bench.clock.pass(20_000);
  const cards = () => bench.chat.posts.filter(({ slot }) => slot === "card apr_1");
  expect(cards()).toEqual([]);
  await bench.flow.cards.appJoined(CHANNEL);
  await bench.clock.rest();
  expect(cards()).toHaveLength(1);
});

describe("the file of a request that cannot be uploaded", () => {
  /** A request that is too long for a form, and whose upload fails with this code. */
  async function refusedFile(code: string, retry: "never" | "later" = "never", afterMs = 20_000) {
    const bench = await createBench();
    const upload = bench.chat.upload.bind(bench.chat);
    const refusal = failure(code, { retry });
    bench.chat.upload = () => Promise.reject(refusal);
    const id = aRunId();
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    bench.agents.pending.set(id, [{ id: "apr_1", content: { plan: "a step of the plan ".repeat(3_000) } }]);
    await bench.clock.pass(afterMs);
    const file = async () => Object.values((await bench.run(id)).uploads)[0]?.type;
    expect(await file()).toBe("refused");
    return { bench, file, accept: () => void (bench.chat.upload = upload) };
  }

  test("is attached as soon as the app is let in again", async () => {
    const { bench, file, accept } = await refusedFile("not_in_channel");
    accept();
    const joined = bench.flow.cards.appJoined(CHANNEL);
    await bench.clock.pass(1_000);
    await joined;
    expect(await file()).toBe("up");
  });

  test("is attached within five minutes after Slack would accept it", async () => {
    const { bench, file, accept } = await refusedFile("storage_limit_reached");
    await bench.clock.pass(20 * MINUTE);
    expect(await file()).toBe("refused");
    accept();
    await bench.clock.pass(5 * MINUTE);
    expect(await file()).toBe("up");
  });

  test("is attached soon after the upload address can be reached again", async () => {
    const { bench, file, accept } = await refusedFile("no_answer", "later", 4 * MINUTE);
    await bench.clock.pass(20 * MINUTE);
    expect(await file()).toBe("refused");
    accept();
    await bench.clock.pass(1.5 * MINUTE);
    expect(await file()).toBe("up");
  });
});
