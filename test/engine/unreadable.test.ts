// Approvals that the service lists and that cannot be read: reported, counted, logged, and never decided.

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApprovalId, type RunId, SHARDS } from "#src/domain/ids.ts";
import { findApproval } from "#src/domain/run.ts";
import { UNREADABLE } from "#src/domain/slot.ts";
import type { UnreadableItem } from "#src/domain/snapshot.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

// The breaker reads the machine's clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: NOON }));
afterEach(() => void vi.useRealTimers());

async function pass({ clock }: Bench, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 250) {
    await clock.pass(Math.min(left, 250));
    vi.setSystemTime(clock.now());
  }
}

const item = (id: string | null): UnreadableItem => ({
  ids: id === null ? [] : [ApprovalId(id)],
  code: "name-twice",
  why: 'the name "x" stands twice in one of its records',
  source: '{"x":1,"x":2}',
  hidden: 0,
});

async function adopted(bench: Bench): Promise<RunId> {
  const id = aRunId();
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
  await bench.clock.rest();
  return id;
}

const posted = ({ chat }: Bench): string[] => chat.posts.map(({ slot }) => slot);

describe("health", () => {
  test("does not count runs that another replica holds by now", async () => {
    const bench = await createBench();
    const id = await adopted(bench);
    bench.agents.unreadable.set(id, [item("apr_1")]);
    await pass(bench, 10_000);
    expect((await bench.flow.queries.health(ADMIN)).unreadable).toMatchObject({ runs: 1, approvals: 1 });
    const { store } = bench;
    await store.giveBack(Array.from({ length: SHARDS }, (_, shard) => shard));
    store.renew = () => Promise.resolve({ shards: [], surplus: 0, replicas: 2, nextEndMs: null });
    await pass(bench, 60_000);
    expect(bench.flow.holdsShard(0)).toBe(false);
    expect((await bench.flow.queries.health(ADMIN)).unreadable).toMatchObject({ runs: 0, approvals: 0 });
  });
});

test("answers that stay unreadable are reported again after one readable answer to a submit", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "deny");
  if (!opened.ok) throw new Error("no form");
  let isReadable = false;
  bench.agents.beforeLook = () => (isReadable ? Promise.resolve() : Promise.reject(failure("garbled")));
  await pass(bench, 60_000);
  expect((await bench.run(id)).unreadable).toMatchObject({ what: "answer" });
  isReadable = true;
  // Without a reason, nothing is decided.
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "");
  isReadable = false;
  expect((await bench.run(id)).unreadable).toBeNull();
  await pass(bench, 60_000);
  expect((await bench.run(id)).unreadable).toMatchObject({ what: "answer" });
});

test("a run that says it waits, lists nothing and has its card up is read from the store no more often than others", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  bench.agents.untold.add(id);
  await pass(bench, 300_000);
  const before = bench.agents.looks.length;
  const load = bench.store.load.bind(bench.store);
  let loads = 0;
  bench.store.load = (key) => {
    loads += 1;
    return load(key);
  };
  await pass(bench, 300_000);
  expect(loads).toBeLessThan((bench.agents.looks.length - before) / 2);
});

describe("an item that cannot be read", () => {
  test("has a message of its own, keeps its run waiting, is counted, and is logged once", async () => {
    const bench = await createBench();
    const id = await adopted(bench);
    bench.agents.pending.set(id, ["apr_good"]);
    bench.agents.unreadable.set(id, [item(null)]);
    await pass(bench, 5_000);
    expect(posted(bench)).toEqual(expect.arrayContaining([UNREADABLE, "card apr_good"]));
    expect((await bench.flow.queries.health(ADMIN)).unreadable).toEqual({
      runs: 1,
      approvals: 1,
      unanswered: 0,
    });
    bench.agents.pending.set(id, []);
    await pass(bench, 60_000);
    expect(await bench.flow.queries.list({ user: APPROVER, channel: CHANNEL }, "pending", 9)).toHaveLength(1);
    expect(bench.warnings).toEqual(["approvals of a run cannot be read"]);
    const before = await bench.revision(id);
    await pass(bench, 60_000);
    expect(await bench.revision(id)).toBe(before);
  });

  test("does not keep the other approvals from being decided", async () => {
    const bench = await createBench();
    const { id, approval, click } = await bench.withCard();
    bench.agents.unreadable.set(id, [item("apr_other")]);
    await pass(bench, 5_000);
    const opened = await bench.flow.openForm.open(click, "approve");
    const nonce = opened.ok ? opened.value.ticket.nonce : null;
    const recorded = await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, nonce, "yes");
    expect(recorded.ok).toBe(true);
    await pass(bench, 1_000);
    expect(bench.agents.resolved).toMatchObject([{ approval, verdict: "approve" }]);
  });

  test("closes the card with its id, and decisions that have not left do not leave", async () => {
    const bench = await createBench();
    const { id, approval, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    bench.agents.pending.set(id, []);
    bench.agents.unreadable.set(id, [item(approval)]);
    const nonce = opened.ok ? opened.value.ticket.nonce : null;
    const recorded = await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, nonce, "yes");
    expect(recorded).toMatchObject({
      ok: false,
      error: { refusal: { type: "closed", why: "unreadable" } },
    });
    await pass(bench, 10_000);
    expect(bench.agents.resolved).toEqual([]);
    bench.agents.pending.set(id, [approval]);
    bench.agents.unreadable.delete(id);
    await pass(bench, 20_000);
    expect(findApproval(await bench.run(id), approval)).toMatchObject({
      state: { type: "pending" },
      version: 2,
    });
    expect((await bench.run(id)).unreadable).toBeNull();
    expect((await bench.flow.queries.health(ADMIN)).unreadable).toEqual({
      runs: 0,
      approvals: 0,
      unanswered: 0,
    });
  });

  test("without an id may be any approval that is not listed: they stay, and nothing is sent", async () => {
    const bench = await createBench();
    const { id, approval, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    bench.agents.pending.set(id, []);
    bench.agents.unreadable.set(id, [item(null)]);
    await bench.flow.submitDecision(
      { team: TEAM, user: APPROVER },
      opened.ok ? opened.value.ticket.nonce : null,
      "yes",
    );
    await pass(bench, 20_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(findApproval(await bench.run(id), approval)).toMatchObject({
      state: { delivery: { type: "recorded" } },
      unlisted: "in-doubt",
    });
    bench.agents.pending.set(id, [approval]);
    await pass(bench, 20_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });
});

describe("answers that cannot be read", () => {
  test.each(["garbled", "too_large"])("are reported after ten seconds, not at once: %s", async (code) => {
    const bench = await createBench();
    const id = await adopted(bench);
    bench.agents.beforeLook = () => Promise.reject(failure(code));
    await pass(bench, 9_000);
    expect(posted(bench)).not.toContain(UNREADABLE);
    await pass(bench, 20_000);
    expect(posted(bench)).toContain(UNREADABLE);
    expect((await bench.run(id)).unreadable).toMatchObject({ what: "answer", items: [{ code, why: code }] });
    expect((await bench.flow.queries.health(ADMIN)).unreadable).toEqual({
      runs: 0,
      approvals: 0,
      unanswered: 1,
    });
    bench.agents.beforeLook = () => Promise.resolve();
    await pass(bench, 20_000);
    expect((await bench.run(id)).unreadable).toBeNull();
  });

  test("are not reported if they occur only now and then", async () => {
    const bench = await createBench();
    await adopted(bench);
    let looks = 0;
    bench.agents.beforeLook = () =>
      (looks += 1) % 2 === 0 ? Promise.reject(failure("garbled")) : Promise.resolve();
    await pass(bench, 120_000);
    expect(posted(bench)).not.toContain(UNREADABLE);
  });
});

describe("a run that waits for approval, but lists none", () => {
  test("is reported after a minute, once", async () => {
    const bench = await createBench();
    const id = await adopted(bench);
    bench.agents.statuses.set(id, "awaiting_approval");
    await pass(bench, 55_000);
    expect(posted(bench)).not.toContain(UNREADABLE);
    await pass(bench, 30_000);
    expect((await bench.run(id)).unreadable).toMatchObject({ what: "list" });
    const before = await bench.revision(id);
    await pass(bench, 60_000);
    expect(await bench.revision(id)).toBe(before);
    bench.agents.pending.set(id, ["apr_1"]);
    await pass(bench, 20_000);
    expect((await bench.run(id)).unreadable).toBeNull();
    expect(posted(bench)).toContain("card apr_1");
  });
});
