// Several waiting requests of a channel share one reminder, and a crash in between neither loses nor duplicates any.

import { describe, expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { createGatherCalls } from "#src/engine/gather-calls.ts";
import { callSlot, callsOf } from "#src/domain/call.ts";
import { timesReminded } from "#src/domain/follow-up-due.ts";
import { gatheredSlots, joinCalls } from "#src/domain/gathered-call.ts";
import type { RunId, RunKey } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { listingSlot } from "#src/domain/slot.ts";
import { ROW_UNREADABLE } from "#src/ports/store.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { printedMessage } from "../adapters/slack/blocks/printed.ts";
import { holdingEngine } from "../make/holding-engine.ts";
import { quietLog } from "../make/quiet.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, aRunId, aWatchedRun, TEAM } from "../make/run.ts";

const MIN = 60_000;
const remind = { afterMs: 15 * MIN, doubles: false, atMost: 1 };

async function waiting(many: number, reminders = remind) {
  const bench = await createBench();
  bench.policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, remind: reminders } });
  const ids: RunId[] = [];
  for (let nth = 0; nth < many; nth += 1) ids.push((await bench.withCard()).id);
  return { bench, ids };
}

const singles = ({ chat }: Bench) => chat.posts.filter(({ slot }) => slot.startsWith("call "));
const several = ({ chat }: Bench) => chat.posts.filter(({ slot }) => slot.startsWith("several "));

async function deny(bench: Bench, id: RunId): Promise<void> {
  const run = await bench.run(id);
  const post = run.posts[`card ${run.approvals[0]?.id}`];
  if (post?.type !== "up") throw new Error("no card");
  const nonce = run.approvals[0]?.nonce ?? null;
  const by = { team: TEAM, user: APPROVER };
  const opened = await bench.flow.openForm.open({ ...by, channel: run.channel, ts: post.ts, nonce }, "deny");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision(by, opened.value.ticket.nonce, "no");
  await bench.clock.pass(3_000);
}

describe("waiting requests of a channel", () => {
  test("share one reminder, which ends once none of them waits", async () => {
    const { bench, ids } = await waiting(3);
    await bench.clock.pass(16 * MIN);
    expect(singles(bench)).toEqual([]);
    expect(several(bench)).toHaveLength(1);
    const carried = () =>
      Promise.all(ids.map(async (id) => (await bench.run(id)).gathered ?? [])).then((all) => all.flat());
    expect(await carried()).toMatchObject([{ says: "waits", who: { users: [APPROVER] } }]);
    expect((await carried())[0]?.of).toHaveLength(3);
    for (const id of ids) await deny(bench, id);
    await bench.clock.pass(MIN);
    expect(await carried()).toMatchObject([{ over: true }]);
  });

  test("whose deadline is near are reminded of that in one message", async () => {
    const bench = await createBench();
    const expiry = { afterMs: 60 * MIN, outcome: "deny" } as const;
    const followUp = { ...NO_FOLLOW_UP, warnMs: 10 * MIN };
    bench.policy = aPolicy({ approvers: these([APPROVER]), expiry, followUp });
    const cards = [await bench.withCard(), await bench.withCard()];
    await bench.clock.pass(52 * MIN);
    const runs = await Promise.all(cards.map(({ id }) => bench.run(id)));
    expect(runs.flatMap(({ gathered = [] }) => gathered)).toMatchObject([{ says: "last" }]);
    expect(several(bench)).toHaveLength(1);
  });

  test("are said to be nearly out of time only until the time of the last of them is extended", async () => {
    const bench = await createBench();
    const expiry = { afterMs: 60 * MIN, outcome: "deny" } as const;
    const followUp = { ...NO_FOLLOW_UP, warnMs: 10 * MIN, extend: { byMs: 60 * MIN, atMostMs: 60 * MIN } };
    bench.policy = aPolicy({ approvers: these([APPROVER]), expiry, followUp });
    const cards = [await bench.withCard(), await bench.withCard()];
    await bench.clock.pass(52 * MIN);
    const shown: string[] = [];
    for (const { click } of cards) {
      const extended = await bench.flow.claimRequest.extend(click, 0);
      expect(extended).toMatchObject({ ok: true });
      await bench.clock.pass(MIN);
      const runs = await Promise.all(cards.map(({ id }) => bench.run(id)));
      for (const run of runs)
        for (const slot of gatheredSlots(run)) {
          expect(run.posts[slot]).toMatchObject({ type: "up", shows: renderKey(run, slot) });
          shown.push(messageIn(run, slot).text);
        }
    }
    expect(shown).toEqual([
      "⏰ 2 requests still wait for a decision here; for some, the deadline is near",
      "⏰ 2 requests still wait for a decision here",
    ]);
  });

  test("that wait in a list are not said to have cards, and close with their fate in the message and in the list", async () => {
    const bench = await createBench();
    const expiry = { afterMs: 60 * MIN, outcome: "nothing" } as const;
    const followUp = { ...NO_FOLLOW_UP, remind, warnMs: 10 * MIN };
    bench.policy = aPolicy({ approvers: these([APPROVER]), expiry, followUp });
    const { requester: user, channel } = aWatchedRun();
    const id = aRunId();
    bench.agents.pending.set(
      id,
      Array.from({ length: 9 }, (_, nth) => `apr_${nth}`),
    );
    await bench.flow.adoptRun.adopt({ team: TEAM, user, channel }, id);
    await bench.clock.pass(16 * MIN);
    const shown = async (slot: string): Promise<string> =>
      printedMessage(messageIn(await bench.run(id), slot));
    const newest = async (): Promise<string> => shown(gatheredSlots(await bench.run(id)).at(-1) ?? "");
    expect(await newest()).toContain(" a card, or a line in a list, in its thread.");
    await bench.clock.pass(36 * MIN);
    expect(await newest()).toContain(" a card, or a line in a list, in its thread. The deadlines are shown");
    await bench.clock.pass(10 * MIN);
    const run = await bench.run(id);
    expect(Object.keys(run.posts).filter((slot) => slot.startsWith("card "))).toEqual([]);
    const closed = await newest();
    expect(closed).toContain("Time is up for 9 requests");
    expect(closed).toContain("They closed without a decision");
    expect(closed).toContain("The service may still be waiting");
    expect(closed).not.toMatch(/cards? /);
    expect(await shown(listingSlot(1))).toContain("Closed without a decision here: 9.");
  });

  test("are counted and named in their reminder while fewer and fewer of them wait", async () => {
    const { bench, ids } = await waiting(3);
    await bench.clock.pass(16 * MIN);
    const shown = async (): Promise<readonly string[]> => {
      const runs = await Promise.all(ids.map((id) => bench.run(id)));
      return runs.flatMap((run) =>
        gatheredSlots(run).map((slot) => {
          expect(run.posts[slot]).toMatchObject({ type: "up", shows: renderKey(run, slot) });
          const message = messageIn(run, slot);
          return `${message.text} (${printedMessage(message).split("\n• ").length - 1} named)`;
        }),
      );
    };
    expect(await shown()).toEqual(["⏰ 3 requests still wait for a decision here (3 named)"]);
    const left: string[] = [];
    for (const id of ids) {
      await deny(bench, id);
      await bench.clock.pass(MIN);
      left.push(...(await shown()));
    }
    expect(left).toEqual([
      "⏰ 2 of 3 requests still wait for a decision here (2 named)",
      "⏰ 1 of 3 requests still waits for a decision here (1 named)",
      "3 requests waited here. Their threads show where they stand. (3 named)",
    ]);
  });

  test("leave their reminder when another request replaces them, also if the service takes that back", async () => {
    const { bench, ids } = await waiting(3);
    const [id] = ids;
    if (id === undefined) throw new Error("no run");
    const asked = bench.agents.pending.get(id) ?? [];
    await bench.clock.pass(16 * MIN);
    const replaced = async (): Promise<readonly unknown[]> => {
      const runs = await Promise.all(ids.map((each) => bench.run(each)));
      const { key, approvals } = await bench.run(id);
      expect(approvals).toMatchObject([{ state: { type: "pending" } }]);
      const of = runs.flatMap(({ gathered = [] }) => gathered.flatMap((message) => message.of));
      return of.filter(({ done }) => done === true).map(({ run }) => run === key);
    };
    expect(await replaced()).toEqual([]);
    bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "deploy to production" } }]);
    await bench.clock.pass(MIN);
    expect(await replaced()).toEqual([true]);
    bench.agents.pending.set(id, asked);
    await bench.clock.pass(MIN);
    expect(await replaced()).toEqual([true]);
    await bench.restart();
    await bench.clock.pass(MIN);
    expect(await replaced()).toEqual([true]);
  });

  test("keep their reminder while a process that has just taken over the channel does not know all of them yet", async () => {
    const { bench, ids } = await waiting(3);
    await bench.clock.pass(16 * MIN);
    const runs = await Promise.all(ids.map((id) => bench.run(id)));
    const carrier = runs.find(({ gathered = [] }) => gathered.length > 0);
    if (carrier === undefined) throw new Error("no run carries the reminder");
    const held = new Map(runs.map((run) => [run.key, run]));
    const engine = holdingEngine();
    const gather = createGatherCalls({
      store: { ...bench.store, eachRun: () => Promise.resolve() },
      engine: {
        ...engine,
        change: (key, apply) => {
          const run = held.get(key);
          if (run === undefined) return Promise.resolve(null);
          const next = apply(run);
          const changed = "sideWrites" in next ? next.run : next;
          held.set(key, changed);
          return Promise.resolve(changed);
        },
      },
      clock: bench.clock,
      log: quietLog([], []),
      time: { isCounted: () => true },
    });
    // Its own request is decided.
    engine.reconciled({ ...carrier, approvals: [] });
    gather.start();
    await bench.clock.pass(15_000);
    await gather.stop();
    const [message] = held.get(carrier.key)?.gathered ?? [];
    expect(message).not.toHaveProperty("over");
    expect(message?.of.filter(({ done }) => done === true).map(({ run }) => run)).toEqual([carrier.key]);
  });

  test("are named with their cards, at most five of them, also once the time is up or none of them waits", async () => {
    const bench = await createBench();
    const expiry = { afterMs: 30 * MIN, outcome: "nothing" } as const;
    const followUp = { ...NO_FOLLOW_UP, remind };
    bench.policy = aPolicy({ approvers: these([APPROVER]), expiry, followUp });
    const cards = [];
    for (let nth = 0; nth < 7; nth += 1) cards.push(await bench.withCard());
    await bench.clock.pass(32 * MIN);
    const runs = await Promise.all(cards.map(({ id }) => bench.run(id)));
    const [asked] = runs.flatMap(({ approvals }) => approvals.map(({ request }) => request.action));
    for (const run of runs)
      for (const { since, of } of run.gathered ?? []) {
        const text = printedMessage(messageIn(run, `several ${since}`));
        expect(text.split(`• **${asked}**`)).toHaveLength(6);
        expect(text).toContain(`… and ${of.length - 5} more.`);
      }
    const messages = runs.flatMap(({ gathered = [] }) => gathered);
    expect(messages.map(({ says, over }) => `${says} ${over}`)).toEqual([
      "waits true",
      "last true",
      "over true",
    ]);
    const ts = runs
      .map((run) => run.posts["card apr_1"])
      .flatMap((post) => (post?.type === "up" ? [post.ts] : []));
    for (const { of } of messages) {
      const named = of.flatMap(({ card }) => card ?? []);
      expect(named).toHaveLength(5);
      expect(ts).toEqual(expect.arrayContaining(named));
    }
  });

  test("are named with their risks and places in their reminder", async () => {
    const { bench, ids } = await waiting(2);
    const [id] = ids;
    if (id === undefined) throw new Error("no run");
    const content = { risk: "high", environment: "production" };
    bench.agents.pending.set(id, [{ id: "apr_2", content }]);
    await bench.clock.pass(20 * MIN);
    const runs = await Promise.all(ids.map((each) => bench.run(each)));
    const shown = runs.flatMap((run) =>
      gatheredSlots(run).map((slot) => printedMessage(messageIn(run, slot))),
    );
    expect(shown).toHaveLength(1);
    expect(shown[0]).toContain("• 🟧 **delete it** · High risk · `production`");
    expect(shown[0]).toContain("• **delete it** · Risk not stated");
  });

  test("share one reminder if they were asked within a few minutes", async () => {
    const { bench } = await waiting(1, { ...remind, atMost: 2 });
    await bench.clock.pass(4 * MIN);
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    expect(singles(bench)).toEqual([]);
    expect(several(bench)).toHaveLength(1);
    expect((await bench.run(id)).approvals.map(timesReminded)).toEqual([1]);
    await bench.clock.pass(15 * MIN);
    expect(several(bench)).toHaveLength(2);
    expect(singles(bench)).toEqual([]);
  });

  test("have reminders of their own if they are far apart in time", async () => {
    const { bench } = await waiting(1);
    await bench.clock.pass(6 * MIN);
    await bench.withCard();
    await bench.clock.pass(16 * MIN);
    expect(several(bench)).toEqual([]);
    expect(singles(bench)).toHaveLength(2);
  });

  test("replace their earlier reminder by the later one", async () => {
    const { bench, ids } = await waiting(2, { ...remind, atMost: 2 });
    await bench.clock.pass(31 * MIN);
    const runs = await Promise.all(ids.map((id) => bench.run(id)));
    const carried = runs.flatMap(({ gathered = [] }) => gathered).toSorted((a, b) => a.since - b.since);
    expect(carried.map(({ over }) => over === true)).toEqual([true, false]);
  });

  test("have a reminder in the thread if there is only one", async () => {
    const { bench } = await waiting(1);
    await bench.clock.pass(16 * MIN);
    expect(singles(bench)).toHaveLength(1);
    expect(several(bench)).toEqual([]);
  });

  test("are each posted, once, if a crash comes before the carrier has the message", async () => {
    const { bench, ids } = await waiting(2);
    await bench.clock.pass(15 * MIN);
    const [first, second] = await Promise.all(ids.map((id) => bench.run(id)));
    if (first === undefined || second === undefined) throw new Error("no runs");
    const of = callsOf(second).map(({ approval, call }) => ({
      run: second.key,
      approval: approval.id,
      n: call.n,
    }));
    expect(of).toHaveLength(1);
    expect(callsOf(second).map(({ call }) => call.within)).toEqual([undefined]);
    const stored = await bench.store.load(second.key);
    if (stored === null) throw new Error("no run");
    // Marked, but the carrier was never updated.
    await bench.store.save(stored, joinCalls(stored.run, of, first.key));
    await bench.restart();
    await bench.clock.pass(5 * MIN);
    expect(singles(bench).length + several(bench).length).toBeGreaterThan(0);
    const reminded = [...singles(bench).map(({ slot }) => slot), ...several(bench).flatMap(() => ["a", "b"])];
    expect(reminded).toHaveLength(2);
    expect(new Set(reminded).size).toBe(2);
  });

  test("are left out if their own message has begun to leave, whichever run carries the message", async () => {
    for (const nth of [0, 1]) {
      const { bench, ids } = await waiting(3);
      // The requests were made a few seconds ago: their reminders are due now, and not gathered yet.
      await bench.clock.pass(15 * MIN - 2_000);
      const { key } = await bench.run(ids[nth] as RunId);
      const stored = await bench.store.load(key);
      const [own] = callsOf(stored?.run ?? { approvals: [] });
      if (stored === null || own === undefined) throw new Error("no reminder is due");
      expect(own.call.within).toBeUndefined();
      const leaving = { type: "sending", at: bench.clock.monotonic(), tries: 1 } as const;
      const posts = { ...stored.run.posts, [callSlot(own.approval, own.call)]: leaving };
      await bench.store.save(stored, { ...stored.run, posts });
      await bench.clock.pass(4_000);
      const runs = await Promise.all(ids.map((id) => bench.run(id)));
      const reminded = runs.flatMap(({ gathered = [] }) => gathered).flatMap(({ of }) => of);
      expect(reminded).toHaveLength(2);
      expect(reminded.map(({ run }) => run)).not.toContain(key);
    }
  });

  test("are not duplicated by a restart right after they were gathered", async () => {
    const { bench } = await waiting(3);
    await bench.clock.pass(15 * MIN + 3_500);
    for (let time = 0; time < 4; time += 1) {
      await bench.restart();
      await bench.clock.pass(2_000);
    }
    await bench.clock.pass(10 * MIN);
    const posts = new Set(several(bench).map(({ slot }) => slot));
    expect(several(bench)).toHaveLength(posts.size);
    expect(singles(bench).length + 3 * several(bench).length).toBe(3);
  });

  test("are gathered even if a row with which another call was to leave cannot be read", async () => {
    const { bench, ids } = await waiting(4);
    await bench.clock.pass(15 * MIN - 2_000);
    const [key, spoilt] = await Promise.all(
      [0, 3].map(async (nth) => (await bench.run(ids[nth] as RunId)).key),
    );
    if (key === undefined || spoilt === undefined) throw new Error("no runs");
    const stored = await bench.store.load(key);
    const [own] = callsOf(stored?.run ?? { approvals: [] });
    if (stored === null || own === undefined) throw new Error("no reminder is due");
    const call = { run: key, approval: own.approval.id, n: own.call.n };
    await bench.store.save(stored, joinCalls(stored.run, [call], spoilt));
    const load = bench.store.load.bind(bench.store);
    bench.store.load = (each) => (each === spoilt ? Promise.reject(failure(ROW_UNREADABLE)) : load(each));
    await bench.clock.pass(3 * MIN);
    expect(several(bench)).toHaveLength(1);
  });

  test("are called even if the run that was to carry their reminder cannot be read", async () => {
    const { bench } = await waiting(3);
    await bench.clock.pass(15 * MIN - 2_000);
    const [spoilt] = await carrierKeys(bench);
    const [load, save] = [bench.store.load.bind(bench.store), bench.store.save.bind(bench.store)];
    bench.store.load = (key) => (key === spoilt ? Promise.reject(failure(ROW_UNREADABLE)) : load(key));
    bench.store.save = (stored, ...rest) =>
      stored.run.key === spoilt ? Promise.reject(failure(ROW_UNREADABLE)) : save(stored, ...rest);
    await bench.clock.pass(3 * MIN);
    expect(singles(bench).length + 2 * several(bench).length).toBe(2);
  });
});

/** The runs in the order in which one is chosen as the carrier. */
async function carrierKeys({ store }: Bench): Promise<readonly RunKey[]> {
  const keys: RunKey[] = [];
  await store.eachRun("unfinished", ({ key }) => void keys.push(key));
  return keys.toReversed();
}
