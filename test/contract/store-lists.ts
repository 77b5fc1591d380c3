// The part of the store's contract about finding many runs.

import { describe, expect, test } from "vitest";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { ChannelId, MessageTs, type RunKey, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { anApproval, aRun, aWatchedRun, CHANNEL, NOON, withApprovals } from "../make/run.ts";
import { type MakeStore, storeBench } from "./store-bench.ts";

export function listContract(name: string, makeStore: MakeStore): void {
  describe(`${name} lists runs`, () => {
    const bench = storeBench(makeStore);

    test("a list has the newest first, only of the given channels, and no more than asked for", async () => {
      const elsewhere = ChannelId("C0ELSEWHERE");
      const keys: RunKey[] = [];
      for (const channel of [CHANNEL, elsewhere, CHANNEL, CHANNEL]) {
        bench.now += 1;
        keys.push((await bench.stored(aRun({ channel }))).run.key);
      }
      const list = async (channels: ChannelId[], limit: number): Promise<RunKey[]> =>
        (await bench.store.list({ channels, only: "all", limit })).map(({ key }) => key);
      expect(await list([CHANNEL], 9)).toEqual([keys[3], keys[2], keys[0]]);
      expect(await list([CHANNEL, elsewhere], 3)).toEqual([keys[3], keys[2], keys[1]]);
      expect(await list([], 9)).toEqual([]);
      expect(new Set(await bench.store.channelsInUse())).toEqual(new Set([CHANNEL, elsewhere]));
    });

    test("a long list is complete and in order, and other work gets its turn while it is read", async () => {
      const keys: RunKey[] = [];
      for (let count = 0; count < 450; count += 1) {
        const run = aRun();
        bench.now += 1;
        expect(await bench.store.insert(run, {})).toBe("stored");
        keys.unshift(run.key);
      }
      const turns = countTurns();
      const listed = await bench.store.list({ channels: [CHANNEL], only: "unfinished", limit: 1_000 });
      expect(turns.stop()).toBeGreaterThanOrEqual(2);
      expect(listed.map(({ key }) => key)).toEqual(keys);
      const visited: RunKey[] = [];
      await bench.store.eachRun("unfinished", ({ key }) => void visited.push(key));
      expect(visited).toEqual(keys);
    });

    test("each unfinished or pending run of all channels can be visited, newest first", async () => {
      const elsewhere = ChannelId("C0ELSEWHERE");
      const waiting = await bench.stored(withApprovals(aRun(), anApproval("apr_1")));
      bench.now += 1;
      const working = await bench.stored(aRun({ channel: elsewhere }));
      bench.now += 1;
      const over = await bench.stored(aRun());
      await bench.store.save(over, over.run, { finished: true });
      const visited = async (only: "unfinished" | "pending"): Promise<RunKey[]> => {
        const keys: RunKey[] = [];
        await bench.store.eachRun(only, ({ key }) => void keys.push(key));
        return keys;
      };
      expect(await visited("unfinished")).toEqual([working.run.key, waiting.run.key]);
      expect(await visited("pending")).toEqual([waiting.run.key]);
    });

    test("a list can be limited to what is unfinished, or waits for a decision", async () => {
      const over = await bench.stored();
      await bench.store.save(over, over.run, { finished: true });
      const working = await bench.stored();
      const waiting = await bench.stored(withApprovals(aRun(), anApproval()));
      const list = async (only: "unfinished" | "pending" | "all"): Promise<Set<RunKey>> =>
        new Set((await bench.store.list({ channels: [CHANNEL], only, limit: 9 })).map(({ key }) => key));
      expect(await list("pending")).toEqual(new Set([waiting.run.key]));
      expect(await list("unfinished")).toEqual(new Set([working.run.key, waiting.run.key]));
      expect((await list("all")).size).toBe(3);
      await bench.store.save(waiting, { ...waiting.run, approvals: [] });
      expect(await list("pending")).toEqual(new Set());
    });

    test("the pending list has decisions until the service has confirmed them", async () => {
      const decision = { verdict: "deny", reason: "", by: null, at: NOON, digest: "" } as const;
      const decided = (delivery: Delivery): Run =>
        withApprovals(aRun(), { ...anApproval(), state: { type: "decided", decision, delivery } });
      const unsent = await bench.stored(decided({ type: "recorded" }));
      await bench.stored(decided({ type: "confirmed", at: NOON, stillListed: false }));
      const listed = await bench.store.list({ channels: [CHANNEL], only: "pending", limit: 9 });
      expect(listed.map(({ key }) => key)).toEqual([unsent.run.key]);
    });

    test("a list can be limited to what one person asked for, or to what others did", async () => {
      const [one, other] = [UserId("U0ONE"), UserId("U0OTHER")];
      const stored = await bench.stored(withApprovals(aRun({ requester: one }), anApproval()));
      const theirs = await bench.stored(withApprovals(aRun({ requester: other }), anApproval()));
      const list = async (asked: { by: UserId } | { notBy: UserId }): Promise<RunKey[]> =>
        (await bench.store.list({ channels: [CHANNEL], only: "pending", asked, limit: 9 })).map(
          ({ key }) => key,
        );
      expect(await list({ by: one })).toEqual([stored.run.key]);
      expect(await list({ notBy: one })).toEqual([theirs.run.key]);
      expect(await list({ by: UserId("U0NOBODY") })).toEqual([]);
    });

    test("a list can be limited to the runs that name a message", async () => {
      const opening = {
        type: "up",
        ts: MessageTs("1790000000.000100"),
        shows: "",
        sweepAt: null,
        notBefore: 0,
        tries: 0,
      } as const;
      const run = aRun();
      const found = await bench.stored({ ...run, posts: { ...run.posts, opening } });
      await bench.stored(aRun());
      const list = async (names: MessageTs): Promise<RunKey[]> =>
        (await bench.store.list({ channels: [CHANNEL], only: "all", names, limit: 9 })).map(({ key }) => key);
      expect(await list(opening.ts)).toEqual([found.run.key]);
      expect(await list(MessageTs("1790000000.000101"))).toEqual([]);
    });

    test("each run of all channels whose service id is unknown can be visited, even if it is finished", async () => {
      const unknown = { type: "unknown", words: "no answer", at: 1, again: "asked" } as const;
      const lost = await bench.stored({ ...aRun(), creation: unknown });
      await bench.store.save(lost, lost.run, { finished: true });
      await bench.stored(aWatchedRun());
      const visited: RunKey[] = [];
      await bench.store.eachRun("without-id", ({ key }) => void visited.push(key));
      expect(visited).toEqual([lost.run.key]);
    });
  });
}

/** Counts the turns of the event loop until `stop`, which returns their number. */
function countTurns(): { stop(): number } {
  let turns = 0;
  let next = setImmediate(count);
  function count(): void {
    turns += 1;
    next = setImmediate(count);
  }
  return {
    stop: () => {
      clearImmediate(next);
      return turns;
    },
  };
}
