// Time in which people cannot act does not count: the clocks of waiting requests stop.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ageAt } from "#src/domain/follow-up.ts";
import { GroupId, type RunId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { BACKUP_MARK } from "#src/ports/store.ts";
import { breakStore } from "../make/bench-store.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";

const MIN = 60_000;
const TO = { users: [], groups: [GroupId("S0ONCALL")], channels: [] };
const STAGES = { ...NO_FOLLOW_UP, escalate: [{ afterMs: 30 * MIN, to: TO, call: null }] };
const remind = { afterMs: 15 * MIN, doubles: false, atMost: 4 };
const TIMED = aPolicy({
  followUp: { ...NO_FOLLOW_UP, remind },
  expiry: { afterMs: 60 * MIN, outcome: "deny" },
});

async function waiting(database = ":memory:", policy = TIMED) {
  const bench = await createBench({}, 0.5, database);
  bench.policy = policy;
  return { bench, ...(await bench.withCard()) };
}

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-pause-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "bot.db");
}

const approvalOf = async (bench: Bench, id: RunId) => {
  const [approval] = (await bench.run(id)).approvals;
  if (approval === undefined) throw new Error("no approval");
  return approval;
};
const pausesOf = async (bench: Bench, id: RunId) => (await approvalOf(bench, id)).followUp?.pauses ?? [];
const reminders = ({ chat }: Bench) => chat.posts.filter(({ slot }) => slot.startsWith("call "));
const minutesOld = async (bench: Bench, id: RunId) =>
  Math.round(ageAt(await approvalOf(bench, id), bench.clock.monotonic()) / MIN);

describe("while the service is away", () => {
  test("the clocks stop from its first failure until it answers again", async () => {
    const { bench, id } = await waiting();
    await bench.clock.pass(5 * MIN);
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(20 * MIN);
    expect(await pausesOf(bench, id)).toMatchObject([{ why: "service", until: null }]);
    expect(reminders(bench)).toEqual([]);
    expect(await minutesOld(bench, id)).toBe(5);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(9 * MIN);
    expect(await minutesOld(bench, id)).toBe(14);
    expect(reminders(bench)).toEqual([]);
    await bench.clock.pass(2 * MIN);
    expect(reminders(bench)).toHaveLength(1);
  });

  test("a failure of less than a minute stops nothing", async () => {
    const { bench, id } = await waiting();
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(30_000);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(MIN);
    expect(await pausesOf(bench, id)).toEqual([]);
  });

  test("a restart in the middle neither ends the pause nor begins a second one", async () => {
    const { bench, id } = await waiting();
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(5 * MIN);
    await bench.restart();
    await bench.clock.pass(5 * MIN);
    expect(await pausesOf(bench, id)).toMatchObject([{ why: "service", until: null }]);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(MIN);
    expect(await pausesOf(bench, id)).toMatchObject([
      { why: "service", until: expect.any(Number) as number },
    ]);
  });

  test("the time does not count for a request whose rule has no clock either, because another rule may come to apply", async () => {
    const { bench, id } = await waiting(":memory:", aPolicy({}));
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(5 * MIN);
    expect(await pausesOf(bench, id)).toMatchObject([{ why: "service", until: null }]);
  });

  test("the time does not count for a request whose approval the service refused right before", async () => {
    const { bench, id, click } = await waiting();
    bench.agents.answer = () => {
      bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
      return Promise.resolve({ type: "refused", words: "not now" });
    };
    const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
    await bench.clock.pass(65 * MIN);
    expect((await approvalOf(bench, id)).state).toMatchObject({ delivery: { type: "refused" } });
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(2 * MIN);
    expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["approve"]);
    expect((await approvalOf(bench, id)).state.type).toBe("pending");
    expect(await minutesOld(bench, id)).toBeLessThan(10);
  });

  test("the time does not count for a request that was not listed right before", async () => {
    const { bench, id } = await waiting();
    const listed = bench.agents.pending.get(id) ?? [];
    bench.agents.pending.set(id, []);
    await bench.clock.pass(2 * MIN);
    expect((await approvalOf(bench, id)).state.type).toBe("closed");
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(65 * MIN);
    bench.agents.pending.set(id, listed);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(2 * MIN);
    expect(bench.agents.resolved).toEqual([]);
    expect((await approvalOf(bench, id)).state.type).toBe("pending");
  });

  test("no card is updated under rules without a clock", async () => {
    const { bench } = await waiting(":memory:", aPolicy({}));
    const updated: string[] = [];
    const update = bench.chat.update.bind(bench.chat);
    bench.chat.update = (run, slot, ...rest) => {
      if (slot.startsWith("card")) updated.push(slot);
      return update(run, slot, ...rest);
    };
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    await bench.clock.pass(5 * MIN);
    bench.agents.beforeLook = () => Promise.resolve();
    await bench.clock.pass(5 * MIN);
    expect(updated).toEqual([]);
  });
});

test.each(["lost", "refused"] as const)(
  "while the connection to Slack is %s, the clocks stop, also for a request that arrives meanwhile",
  async (connection) => {
    const { bench, id } = await waiting();
    bench.connection = connection;
    await bench.clock.pass(10 * MIN);
    const late = (await bench.withCard()).id;
    await bench.clock.pass(10 * MIN);
    expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", until: null }]);
    bench.connection = "connected";
    await bench.clock.pass(MIN);
    expect(await minutesOld(bench, id)).toBeLessThanOrEqual(1);
    expect(await minutesOld(bench, late)).toBeLessThanOrEqual(1);
  },
);

test("while Slack's Web API answers no call, the clocks stop, because no one can be verified", async () => {
  const { bench, id } = await waiting();
  await bench.clock.pass(5 * MIN);
  const first = bench.clock.monotonic();
  bench.unanswered = { first, newest: first + 50_000 };
  await bench.clock.pass(5 * MIN);
  expect(await pausesOf(bench, id)).toEqual([]);
  bench.unanswered = { first, newest: first + MIN };
  await bench.clock.pass(80 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", from: first, until: null }]);
  bench.unanswered = null;
  await bench.clock.pass(MIN);
  expect((await approvalOf(bench, id)).state.type).toBe("pending");
  expect(await minutesOld(bench, id)).toBe(6);
});

test("until a new process is connected to Slack, the clocks stand still, and a quick start stops nothing", async () => {
  const { bench, id } = await waiting(aFile());
  await bench.clock.pass(30 * MIN);
  bench.connection = "starting";
  await bench.restart();
  await bench.clock.pass(10_000);
  bench.connection = "connected";
  await bench.clock.pass(MIN);
  expect(await pausesOf(bench, id)).toEqual([]);
  bench.connection = "starting";
  await bench.restart();
  await bench.clock.pass(40 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", until: null }]);
  bench.connection = "connected";
  await bench.clock.pass(MIN);
  expect((await approvalOf(bench, id)).state.type).toBe("pending");
  expect(await minutesOld(bench, id)).toBe(32);
});

describe("while nothing runs", () => {
  test("the clocks stop, so neither a reminder nor the expiry comes at the start", async () => {
    const { bench, id } = await waiting(aFile());
    await bench.clock.pass(10 * MIN);
    await bench.restart(180 * MIN);
    await bench.clock.pass(MIN);
    const [pause] = await pausesOf(bench, id);
    expect(pause?.why).toBe("stopped");
    expect(((pause?.until ?? 0) - (pause?.from ?? 0)) / MIN).toBeCloseTo(180, 0);
    expect((await approvalOf(bench, id)).state.type).toBe("pending");
    expect(await minutesOld(bench, id)).toBe(11);
    expect(reminders(bench)).toEqual([]);
    await bench.clock.pass(5 * MIN);
    expect(reminders(bench)).toHaveLength(1);
  });

  test("a short restart is not a pause", async () => {
    const { bench, id } = await waiting(aFile());
    await bench.clock.pass(10 * MIN);
    await bench.restart(20_000);
    await bench.clock.pass(MIN);
    expect(await pausesOf(bench, id)).toEqual([]);
  });

  test("the clocks stop, so that the restore of an earlier copy escalates no request whose approval it withdraws", async () => {
    const policy = aPolicy({ approvers: these([APPROVER]), needs: 2, followUp: STAGES });
    const { bench, id, click } = await waiting(aFile(), policy);
    const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
    await bench.clock.pass(5 * MIN);
    expect((await approvalOf(bench, id)).votes).toHaveLength(1);
    await bench.store.putDocument(BACKUP_MARK, bench.clock.now());
    await bench.restart(120 * MIN);
    await bench.clock.pass(MIN);
    expect((await approvalOf(bench, id)).votes).toEqual([]);
    expect((await approvalOf(bench, id)).followUp?.stages).toBeUndefined();
    expect(await bench.store.auditAfter(0, ["escalated"], 9)).toEqual([]);
    await bench.clock.pass(25 * MIN);
    expect((await approvalOf(bench, id)).followUp?.stages).toMatchObject([{ afterMs: 30 * MIN }]);
  });

  test("a start that fails in the middle is made up for by the next one, once", async () => {
    const { bench, id } = await waiting(aFile());
    await bench.clock.pass(10 * MIN);
    const { store } = bench;
    const putDocument = store.putDocument.bind(store);
    // The runs are changed, but the process dies before it records that it is running.
    const stopped = bench.flow.stop(0);
    await bench.clock.pass(1);
    await stopped;
    store.putDocument = (name, value) =>
      name === "running at" ? Promise.reject(failure("killed")) : putDocument(name, value);
    bench.clock.step(0);
    await bench.clock.pass(60 * MIN);
    await expect(bench.flow.start()).rejects.toThrow("killed");
    store.putDocument = putDocument;
    await bench.clock.pass(5 * MIN);
    await bench.restart();
    await bench.clock.pass(MIN);
    const pauses = await pausesOf(bench, id);
    expect(pauses).toHaveLength(1);
    expect(await minutesOld(bench, id)).toBe(11);
  });
});

describe("while the store is away", () => {
  test.each([0, 7_000, 13_000, 29_000])(
    "the clocks stop, so a request is not denied for that time when the store works again (after 40 min and %i ms)",
    async (moreMs) => {
      const { bench, id } = await waiting();
      await bench.clock.pass(50 * MIN);
      const repair = breakStore(bench);
      await bench.clock.pass(40 * MIN + moreMs);
      repair();
      await bench.clock.pass(MIN);
      expect((await approvalOf(bench, id)).state.type).toBe("pending");
      expect(bench.agents.resolved).toEqual([]);
      expect(await minutesOld(bench, id)).toBe(51);
      await bench.clock.pass(10 * MIN);
      expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["deny"]);
    },
  );

  test("the clocks stop, so a form that is submitted as soon as the store works again is recorded", async () => {
    const { bench, id, click } = await waiting();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no form opened");
    await bench.clock.pass(50 * MIN);
    const repair = breakStore(bench);
    await bench.clock.pass(40 * MIN);
    repair();
    const recorded = await bench.flow.submitDecision(click, opened.value.ticket.nonce, "it is fine");
    expect(recorded.ok).toBe(true);
    await bench.clock.pass(MIN);
    expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["approve"]);
    expect(await bench.store.auditAfter(0, ["refused"], 9)).toEqual([]);
    expect((await approvalOf(bench, id)).state.type).toBe("decided");
  });
});

describe("while the process is suspended", () => {
  const ESCALATED = aPolicy({ approvers: these([APPROVER]), followUp: STAGES });
  const suspend = ({ clock }: Bench, ms: number) => clock.continueAfter(clock.monotonic() + ms);

  test("the clocks stop, so that the first change after it gives no one more authority", async () => {
    const { bench, id, click } = await waiting(":memory:", ESCALATED);
    await bench.clock.pass(5 * MIN);
    suspend(bench, 40 * MIN);
    const claimed = await bench.flow.claimRequest.claim({ ...click, user: APPROVER });
    expect(claimed.ok).toBe(true);
    await bench.clock.pass(MIN);
    expect((await approvalOf(bench, id)).followUp?.stages).toBeUndefined();
    expect(await minutesOld(bench, id)).toBe(6);
    await bench.clock.pass(25 * MIN);
    expect((await approvalOf(bench, id)).followUp?.stages).toMatchObject([{ afterMs: 30 * MIN }]);
  });

  test("the clocks stop, so the first press on a card after it is not too late", async () => {
    const { bench, id, click } = await waiting();
    await bench.clock.pass(5 * MIN);
    suspend(bench, 120 * MIN);
    const opened = await bench.flow.openForm.open(click, "deny");
    expect(opened.ok).toBe(true);
    expect(bench.refusals).toEqual([]);
    expect(await minutesOld(bench, id)).toBe(5);
  });
});

test("a replica whose clock is behind leaves the noted time to the others, so that they see no gap", async () => {
  const { bench, id } = await waiting();
  const ahead = bench.clock.monotonic() + 5 * MIN;
  await bench.store.putDocument("running at", ahead);
  await bench.clock.pass(2 * MIN);
  expect(await bench.store.document("running at")).toBe(ahead);
  await bench.clock.pass(4 * MIN);
  expect(await bench.store.document("running at")).toBeGreaterThan(ahead);
  expect(await pausesOf(bench, id)).toEqual([]);
});
