// A `Retry-After` from the service, whichever call it answered, holds back every call to the service.

import { describe, expect, test } from "vitest";
import type { AgentService, DecisionAnswer } from "#src/ports.ts";
import { createServiceKey, createServicePause } from "#src/engine/service-answers.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const WAIT_MS = 40_000;

type Card = Awaited<ReturnType<Bench["withCard"]>>;

async function decide(bench: Bench, { click }: Card): Promise<void> {
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const done = await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  if (!done.ok) throw new Error(done.error.refusal.type);
}

const startRun = (bench: Bench) =>
  bench.flow.startRun.start(
    { team: TEAM, user: REQUESTER, channel: CHANNEL },
    { input: "deploy", intention: "command 1", answerUrl: null },
  );

const answers: readonly (readonly [string, DecisionAnswer])[] = [
  ["not now", { type: "later", afterMs: WAIT_MS, why: "HTTP 429" }],
  ["with a failure", { type: "unsure", afterMs: WAIT_MS, why: "HTTP 503" }],
];

describe.each(answers)("a decision that is answered %s", (_how, answer) => {
  test("holds back looks, new runs and decisions on other approvals", async () => {
    const bench = await createBench();
    const [first, second] = [await bench.withCard(), await bench.withCard()];
    bench.agents.answer = () => Promise.resolve(answer);
    await decide(bench, first);
    await bench.clock.rest();
    expect(bench.agents.resolved).toHaveLength(1);
    bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
    bench.agents.looks.length = 0;
    const until = bench.clock.now() + WAIT_MS;
    await decide(bench, second);
    await startRun(bench);
    await bench.clock.pass(WAIT_MS - 1_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(bench.agents.created).toEqual([]);
    expect(bench.agents.looks).toEqual([]);
    await bench.clock.pass(30_000);
    expect(bench.agents.resolved).toHaveLength(3);
    expect(bench.agents.created).toEqual(["deploy"]);
    for (const { at } of bench.agents.looks) expect(at).toBeGreaterThanOrEqual(until);
  });
});

test('a new run that is answered "not now" holds back decisions', async () => {
  const bench = await createBench();
  const card = await bench.withCard();
  const create = bench.agents.create.bind(bench.agents);
  bench.agents.create = () => Promise.reject(failure("http_429", { retryAfterMs: WAIT_MS }));
  await bench.restart();
  await startRun(bench);
  await bench.clock.pass(1_000);
  bench.agents.create = create;
  await decide(bench, card);
  await bench.clock.pass(WAIT_MS - 3_000);
  expect(bench.agents.resolved).toEqual([]);
  await bench.clock.pass(20_000);
  expect(bench.agents.resolved).toHaveLength(1);
});

test("the service's health is still asked for, and the service does not count as away", async () => {
  const bench = await createBench();
  await bench.withCard();
  bench.agents.beforeLook = () => Promise.reject(failure("http_429", { retryAfterMs: WAIT_MS }));
  await bench.clock.pass(5_000);
  const { service, poller } = await bench.flow.queries.health(ADMIN);
  expect(service.ok).toBe(true);
  expect(poller.service).toEqual({ type: "answers" });
  expect(bench.clock.now()).toBeGreaterThan(NOON);
});

test("a decision whose answers are lost again and again is sent at least every slowest interval", async () => {
  const bench = await createBench();
  bench.agents.answer = () => Promise.resolve({ type: "unsure", why: "reset" });
  await decide(bench, await bench.withCard());
  await bench.clock.pass(10 * 60_000);
  bench.agents.resolved.length = 0;
  await bench.clock.pass(2 * 60_000);
  expect(bench.agents.resolved.length).toBeGreaterThanOrEqual(6);
});

test("a decision that the service's wish to wait keeps back is known not to have been sent", async () => {
  const { agents, clock } = await createBench();
  agents.answer = () => Promise.resolve({ type: "later", afterMs: WAIT_MS, why: "HTTP 429" });
  const pause = createServicePause(agents, clock);
  const send = () =>
    pause.agents.sendDecision(aRunId(), ApprovalId("apr_1"), { verdict: "approve", reason: "" });
  expect(await send()).not.toHaveProperty("notSent");
  expect(await send()).toMatchObject({ type: "later", afterMs: WAIT_MS, notSent: true });
  expect(agents.resolved).toHaveLength(1);
});

test("a 403 about a run that exists says nothing about the key, and one about a run that cannot exist refuses it", async () => {
  const { clock, agents } = await createBench();
  const forbidden: AgentService = { ...agents, fetchRun: () => Promise.reject(failure("http_403")) };
  const key = createServiceKey(forbidden, clock, () => "key");
  await expect(key.agents.fetchRun(aRunId())).rejects.toThrow("http_403");
  expect(key.isRefused()).toBeNull();
  expect(await key.check(0)).toBe("refused");
  expect(key.isRefused()).toBe(true);
});

describe("a key that the service refuses", () => {
  const run = aRunId();
  const approval = ApprovalId("apr_1");
  const calls: readonly (readonly [string, (agents: AgentService) => Promise<unknown>])[] = [
    ["a fetch", (agents) => agents.fetchRun(run)],
    ["a start", (agents) => agents.create("deploy", "key")],
    ["a decision", (agents) => agents.sendDecision(run, approval, { verdict: "approve", reason: "go" })],
  ];

  test.each(calls)("is noticed in the answer to %s, and so is an accepted key", async (_what, call) => {
    const bench = await createBench();
    const { clock, agents: takes } = bench;
    let says: AgentService = takes;
    const refuses: AgentService = {
      ...takes,
      fetchRun: () => Promise.reject(failure("http_401")),
      create: () => Promise.reject(failure("http_401")),
      sendDecision: () =>
        Promise.resolve({ type: "later", afterMs: null, why: "HTTP 401", code: "http_401" }),
    };
    const service: AgentService = {
      ...takes,
      fetchRun: (...given) => says.fetchRun(...given),
      create: (...given) => says.create(...given),
      sendDecision: (...given) => says.sendDecision(...given),
    };
    const key = createServiceKey(service, clock, () => "key");
    expect(key.isRefused()).toBeNull();
    says = refuses;
    await call(key.agents).catch(() => undefined);
    expect(key.isRefused()).toBe(true);
    says = takes;
    await call(key.agents);
    expect(key.isRefused()).toBe(false);
  });
});
