// An effect whose mark is in the store although nothing executes it: the answer to the commit of the mark was lost, or came too late.

import { describe, expect, test } from "vitest";
import { type ApprovalId, SHARDS, shardOf } from "#src/domain/ids.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import { findApproval, replaceApproval, type Run } from "#src/domain/run.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const HALF_AN_HOUR = 30 * 60_000;

const lost = () => failure("store_down", { applied: "maybe" });

const marksDecision = ({ approvals: [approval] }: Run): boolean =>
  approval?.state.type === "decided" && approval.state.delivery.type === "sending";

/** The commit that `isMark` picks times out. Returns the function that commits it after all. */
function commitLate({ store }: Bench, isMark: (run: Run) => boolean): () => Promise<unknown> {
  const save = store.save.bind(store);
  let late: (() => Promise<unknown>) | null = null;
  store.save = (stored, next, facts) => {
    if (late !== null || !isMark(next)) return save(stored, next, facts);
    late = () => save(stored, next, { ...facts, onSaved: () => undefined });
    return Promise.reject(failure("store_timeout", { applied: "maybe" }));
  };
  return async () => {
    if (late === null) throw new Error("nothing was marked");
    return late();
  };
}

async function withForm(bench: Bench) {
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error("no form");
  return { id, nonce: opened.value.ticket.nonce };
}

describe("a mark that is stored although its commit got no answer", () => {
  test("is settled, even if a poll was waiting to be stored meanwhile: the decision is sent", async () => {
    const bench = await createBench();
    const { id, nonce } = await withForm(bench);
    const { store } = bench;
    const save = store.save.bind(store);
    const load = store.load.bind(store);
    const downtime = Promise.withResolvers<void>();
    let step: "up" | "down" | "up again" = "up";
    store.save = async (stored, next, facts) => {
      if (step !== "up" || !marksDecision(next)) return save(stored, next, facts);
      await save(stored, next, { ...facts, onSaved: () => undefined });
      step = "down";
      throw lost();
    };
    store.load = async (key) => {
      if (step !== "down") return load(key);
      await downtime.promise;
      // The first read fails, and the others reach the database again.
      if (step !== "down") return load(key);
      step = "up again";
      throw lost();
    };
    await bench.flow.submitDecision(BY, nonce, "yes");
    await bench.clock.pass(15_000);
    downtime.resolve();
    await bench.clock.pass(HALF_AN_HOUR);
    expect(step).toBe("up again");
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test("only after its time limit is settled: the decision is sent", async () => {
    const bench = await createBench();
    const { id, nonce } = await withForm(bench);
    const commit = commitLate(bench, marksDecision);
    await bench.flow.submitDecision(BY, nonce, "yes");
    await bench.clock.pass(500);
    expect(await commit()).toBe("saved");
    await bench.clock.pass(HALF_AN_HOUR);
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test("only after its time limit is settled: the requester is asked whether to start again", async () => {
    const bench = await createBench();
    const commit = commitLate(bench, ({ creation }) => creation.type === "sending");
    const by = { team: TEAM, user: REQUESTER, channel: CHANNEL };
    const started = await bench.flow.startRun.start(by, { input: "go", intention: "one", answerUrl: null });
    if (!started.ok) throw new Error(started.error.type);
    await bench.clock.pass(500);
    expect(await commit()).toBe("saved");
    await bench.clock.pass(HALF_AN_HOUR);
    expect((await bench.store.load(started.value))?.run.creation).toMatchObject({
      type: "unknown",
      again: "asked",
    });
  });
});

test("a decision whose answer is lost with the process is counted and logged as unsure", async () => {
  const bench = await createBench();
  const { id, nonce } = await withForm(bench);
  const { answer } = bench.agents;
  bench.agents.answer = () => new Promise(() => undefined);
  await bench.flow.submitDecision(BY, nonce, "yes");
  await bench.clock.pass(500);
  expect([bench.agents.resolved.length, bench.decisions]).toEqual([1, []]);
  bench.agents.answer = answer;
  await bench.restart();
  expect(bench.decisions).toEqual(["approve unsure"]);
  expect(bench.warnings).toContain("effect failed");
  await bench.clock.pass(HALF_AN_HOUR);
  expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  expect(bench.decisions).toEqual(["approve unsure", "approve confirmed"]);
});

test("a notice whose mark could not be stored is sent in the end", async () => {
  const bench = await createBench();
  const { nonce } = await withForm(bench);
  bench.agents.answer = () => Promise.resolve({ type: "refused", words: "no" });
  const { store } = bench;
  const save = store.save.bind(store);
  let failures = 0;
  store.save = (stored, next, facts) => {
    const isMark = next.notices.some(({ state }) => state === "sending");
    if (failures > 0 || !isMark) return save(stored, next, facts);
    failures += 1;
    return Promise.reject(failure("store_busy", { applied: "no" }));
  };
  await bench.flow.submitDecision(BY, nonce, "yes");
  await bench.clock.pass(10 * 60_000);
  expect(failures).toBe(1);
  expect(bench.chat.told).toMatchObject([{ to: APPROVER, says: { type: "decision-refused" } }]);
});

describe("a notice to an approver whose decision was refused", () => {
  async function withNotice(firstCall: () => Promise<void>): Promise<Bench> {
    const bench = await createBench();
    const { nonce } = await withForm(bench);
    bench.agents.answer = () => Promise.resolve({ type: "refused", words: "no" });
    const { chat, clock } = bench;
    const notify = chat.notify.bind(chat);
    let calls = 0;
    chat.notify = (...args) => {
      calls += 1;
      return calls === 1 ? firstCall() : notify(...args);
    };
    await bench.flow.submitDecision(BY, nonce, "yes");
    await clock.pass(500);
    expect([calls, chat.told]).toEqual([1, []]);
    return bench;
  }
  const REFUSED = [{ to: APPROVER, says: { type: "decision-refused" } }];

  test("arrives after Slack answered with an error of its own", async () => {
    const bench = await withNotice(() => Promise.reject(failure("http_503", { applied: "maybe" })));
    await bench.clock.pass(10_000);
    expect(bench.chat.told).toMatchObject(REFUSED);
  });

  test("arrives although the process dies before the answer", async () => {
    const bench = await withNotice(() => new Promise(() => undefined));
    await bench.restart();
    await bench.clock.pass(10_000);
    expect(bench.chat.told).toMatchObject(REFUSED);
  });
});

describe("a process that has lost a run while one of its marks was unsettled", () => {
  /** Two requests, each with an open form. */
  async function withTwoForms(bench: Bench) {
    const id = aRunId();
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(5_000);
    const run = await bench.run(id);
    const nonces = await Promise.all(
      run.approvals.map(async (_, nth) => {
        const opened = await bench.flow.openForm.open(clickOn(run, nth).click, "approve");
        if (!opened.ok) throw new Error("no form");
        return opened.value.ticket.nonce;
      }),
    );
    const [first, second] = nonces;
    const [approval] = run.approvals;
    if (first === undefined || second === undefined || approval === undefined) throw new Error("no forms");
    return { id, run, approval: approval.id, first, second };
  }

  /** As the process that now holds the run would do it. */
  async function markAsNewHolder({ store, clock }: Bench, { key }: Run, id: ApprovalId): Promise<void> {
    const stored = await store.load(key);
    const approval = stored === null ? null : findApproval(stored.run, id);
    if (stored === null || approval?.state.type !== "decided") throw new Error("nothing is decided");
    const sending = { type: "sending", at: clock.now(), tries: 1, lost: false } as const;
    const marked = withDelivery(approval, approval.state.decision, sending);
    await store.save(stored, replaceApproval(stored.run, marked), {});
  }

  test("does not settle what the process that holds it now is sending", async () => {
    const bench = await createBench();
    const { id, run, approval, first, second } = await withTwoForms(bench);
    const { store, flow, clock } = bench;
    const save = store.save.bind(store);
    const load = store.load.bind(store);
    const extend = store.extend.bind(store);
    const renew = store.renew.bind(store);
    let [isDown, isLost, mayLoad] = [false, false, true];
    store.save = (stored, next, facts) => {
      if (!isLost && marksDecision(next)) isDown = true;
      return isDown ? Promise.reject(lost()) : save(stored, next, facts);
    };
    store.load = (key) => (isDown || !mayLoad ? Promise.reject(lost()) : load(key));
    store.extend = (...args) => (isDown ? Promise.reject(lost()) : extend(...args));
    store.renew = (...args) => {
      if (isDown) return Promise.reject(lost());
      return isLost
        ? Promise.resolve({ shards: [], surplus: 0, replicas: 2, nextEndMs: null })
        : renew(...args);
    };
    expect((await flow.submitDecision(BY, first, "yes")).ok).toBe(true);
    await clock.pass(20_000);
    expect([isDown, bench.agents.resolved]).toEqual([true, []]);

    // The database is back, and another process has taken the shards. This one notices that before it reads the run again.
    await store.giveBack(Array.from({ length: SHARDS }, (_, shard) => shard));
    [isDown, isLost, mayLoad] = [false, true, false];
    for (let waits = 0; waits < 100 && flow.holdsShard(shardOf(run)); waits += 1) await clock.pass(250);
    expect(flow.holdsShard(shardOf(run))).toBe(false);
    mayLoad = true;
    await markAsNewHolder({ ...bench, store: { ...store, save } }, run, approval);

    expect((await flow.submitDecision(BY, second, "this, too")).ok).toBe(true);
    const after = findApproval(await bench.run(id), approval);
    expect(after?.state).toMatchObject({ delivery: { type: "sending" } });
  });
});
