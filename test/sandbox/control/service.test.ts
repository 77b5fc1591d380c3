import { afterEach, beforeEach, expect, test } from "vitest";
import { type Controlled, startControlled } from "./controlled.ts";

let sandbox: Controlled;

beforeEach(async () => {
  sandbox = await startControlled();
});
afterEach(() => sandbox.stop());

const RUNS = "/v1/agent/runs";
const create = (input: string) => sandbox.ask(RUNS, { input });
const only = async () => (await sandbox.read("/control/runs"))[0];
const state = async () => (await sandbox.send("/control/service")).body;

test("a run is created, requests more approvals, and its requests change, disappear, return and are resolved elsewhere", async () => {
  const { act, read, refusal } = sandbox;
  const { run } = (await act("service.createRun", { task: "work forever" })) as { run: string };
  await read("/control/runs", { run, phase: "working", wait: "10" });
  const { approval } = (await act("service.addApproval", { action: "Tell the customers" })) as {
    approval: string;
  };
  expect(await only()).toMatchObject({ phase: "awaiting_approval", approvals: [{ id: approval }] });
  await act("service.changeApproval", { run, approval, action: "Tell nobody", details: { risk: "none" } });
  expect(await only()).toMatchObject({ approvals: [{ action: "Tell nobody", details: { risk: "none" } }] });
  await act("service.withdrawApproval");
  expect(await only()).toMatchObject({ phase: "working", approvals: [{ state: { type: "withdrawn" } }] });
  await act("service.returnApproval", { run });
  expect(await only()).toMatchObject({
    phase: "awaiting_approval",
    approvals: [{ state: { type: "pending" } }],
  });
  await act("service.resolveElsewhere", { run, approval, verdict: "deny", reason: "at the console" });
  expect(await only()).toMatchObject({
    approvals: [{ state: { verdict: "deny", reason: "at the console" } }],
  });

  expect(await refusal("service.withdrawApproval")).toContain("asks for nothing now");
  expect(await refusal("service.changeApproval", { run, approval })).toContain("Give an `action`");
  expect(await refusal("service.changeApproval", { run, approval, action: "x" })).toContain(
    "does not ask for",
  );
  expect(await refusal("service.addApproval", { run: "run_none", action: "x" })).toContain(
    "has no run run_none",
  );
});

test.for([
  ["service.finish", { output: "done" }, { phase: "succeeded", ending: { output: "done" } }],
  ["service.fail", { message: "broken" }, { phase: "failed", ending: { message: "broken" } }],
  ["service.cancel", { reason: "stopped" }, { phase: "canceled", ending: { reason: "stopped" } }],
] as const)("%s ends a run", async ([name, args, ended]) => {
  await sandbox.act("service.createRun", { task: "work forever" });
  await sandbox.act(name, args);
  expect(await only()).toMatchObject(ended);
  expect(await sandbox.refusal(name, args)).toMatch(/^409 .*over/);
});

test("a run that vanishes answers 404 until it reappears", async () => {
  const { run } = (await sandbox.act("service.createRun", { task: "work forever" })) as { run: string };
  await sandbox.act("service.vanish", { run });
  expect((await sandbox.ask(`${RUNS}/${run}`)).status).toBe(404);
  expect(await state()).toMatchObject({ vanished: [run] });
  await sandbox.act("service.reappear", { run });
  expect((await sandbox.ask(`${RUNS}/${run}`)).status).toBe(200);
});

test("faults affect requests before or after they take effect", async () => {
  const { act } = sandbox;
  await act("service.fault", {
    route: "create-run",
    fault: { type: "answer", status: 500, body: { no: 1 } },
  });
  await act("service.fault", { route: "create-run", fault: { type: "drop" } });
  await act("service.loseNextAnswer", { route: "create-run" });
  expect(await state()).toMatchObject({
    faults: [
      "the next start of a run: HTTP 500",
      "the next start of a run: the connection is cut",
      "the next start of a run: the connection is cut, after it took effect",
    ],
  });
  expect((await create("a")).status).toBe(500);
  await expect(create("b")).rejects.toThrow("fetch failed");
  await expect(create("c")).rejects.toThrow("fetch failed");
  expect(await sandbox.read("/control/runs")).toMatchObject([{ input: "c" }]);
  expect(
    await sandbox.read("/control/requests", { route: "create-run", done: "true", wait: "10" }),
  ).toMatchObject([
    { fault: "answer", status: 500 },
    { fault: "drop", lost: true },
    { fault: "drop", lost: true },
  ]);
  expect(await state()).toMatchObject({ faults: [] });
});

test("a gate holds a request until the gate is released by name", async () => {
  const { fault } = (await sandbox.act("service.fault", { fault: { type: "gate" }, times: "all" })) as {
    fault: string;
  };
  let answered = false;
  const held = create("held").finally(() => (answered = true));
  await sandbox.read("/control/requests", { route: "create-run", wait: "10" });
  expect(answered).toBe(false);
  await sandbox.act("service.release", { fault });
  expect((await held).status).toBe(201);
  expect((await create("free")).status).toBe(201);
  expect(await sandbox.refusal("service.release", { fault: "fault-9" })).toContain('no fault "fault-9"');
});

test("slowness does not prevent a fault, and remains when faults are cleared", async () => {
  const { act, world } = sandbox;
  await act("service.slow", { ms: 3_600_00 });
  await act("service.fault", { route: "create-run", fault: { type: "answer", status: 503 } });
  expect((await create("struck")).status).toBe(503);
  await act("service.fault", { fault: { type: "hang" } });
  await act("service.clearFaults");
  expect(await state()).toMatchObject({ slowMs: 360_000, faults: [] });
  const slow = create("slow");
  await world.service.requests.until((all) => all.some(({ fault }) => fault === "delay"));
  await act("clock.advance", { ms: 360_000 });
  expect((await slow).status).toBe(201);
  await act("service.slow", { ms: 0 });
  expect((await create("quick")).status).toBe(201);
});

test("the service can be taken down and up", async () => {
  await sandbox.act("service.down");
  await expect(create("a")).rejects.toThrow("fetch failed");
  expect(await state()).toMatchObject({ up: false, gatewayUp: true });
  await sandbox.act("service.up");
  expect((await create("a")).status).toBe(201);
  expect(await state()).toMatchObject({ up: true });
});

test("rotating the key invalidates the old one, and the new one is not shown anywhere", async () => {
  const { act, world } = sandbox;
  expect(await act("service.rotateKey")).toBeNull();
  expect((await create("a")).status).toBe(401);
  expect(JSON.stringify(await state())).not.toContain(world.service.apiKey);
  await act("service.rotateKey", { key: "a-key-of-my-own" });
  expect(world.service.apiKey).toBe("a-key-of-my-own");
});

test("only the requested parts of the profile change", async () => {
  expect(await sandbox.act("service.profile", { createStatus: 202 })).toMatchObject({
    createStatus: 202,
    denyWord: "deny",
  });
  expect((await create("a")).status).toBe(202);
  expect(await sandbox.refusal("service.profile", { createStatus: 418, colour: "red" })).toMatch(
    /^400 .*createStatus.*colour/s,
  );
});

test("the gateway has its own faults, slowness, power switch and health message", async () => {
  const { act, world, read } = sandbox;
  const health = () => fetch(`${world.gateway.url}/healthz`);
  await act("gateway.status", { status: "degraded", message: "half of it" });
  expect(await state()).toMatchObject({ gatewayStatus: { status: "degraded", message: "half of it" } });
  expect(await (await health()).json()).toMatchObject({ status: "degraded", message: "half of it" });
  await act("gateway.fault", { route: "healthz", fault: { type: "answer", status: 502 } });
  expect((await health()).status).toBe(502);
  const { fault } = (await act("gateway.fault", { fault: { type: "gate" } })) as { fault: string };
  const held = health();
  await read("/control/gateway/requests", { after: "2", wait: "10" });
  await act("gateway.release", { fault });
  expect((await held).status).toBe(200);
  await act("gateway.fault", { fault: { type: "hang" }, times: 5 });
  await act("gateway.clearFaults");
  await act("gateway.slow", { ms: 60_000 });
  expect(await state()).toMatchObject({ gatewaySlowMs: 60_000 });
  const slow = health();
  await world.gateway.requests.until((all) => all.some((each) => each.fault === "delay"));
  await act("clock.advance", { ms: 60_000 });
  expect((await slow).status).toBe(200);
  await act("gateway.slow", { ms: 0 });
  await act("gateway.down");
  await expect(health()).rejects.toThrow("fetch failed");
  await act("gateway.up");
  expect((await health()).status).toBe(200);
});

test("the clock advances for Slack and the service, and reports by how much", async () => {
  const { act, send, read } = sandbox;
  await act("service.createRun", { task: "just say hello" });
  const before = Date.now();
  expect(await act("clock.advance", { ms: 3_600_000 })).toEqual({ aheadMs: 3_600_000 });
  await act("service.createRun", { task: "just say hello" });
  const { body } = await send("/control/world");
  expect(Number(body["now"])).toBeGreaterThanOrEqual(before + 3_600_000);
  const [first, second] = await read("/control/runs");
  expect(Number(second?.["createdAt"]) - Number(first?.["createdAt"])).toBeGreaterThanOrEqual(3_600_000);
  expect(await state()).toMatchObject({ clockAheadMs: 3_600_000 });
});

test("the usage of the gateway's keys is listed by the keys' names, never by the keys", async () => {
  const { world, read } = sandbox;
  const [key = ""] = world.gateway.keys;
  expect(await read("/control/gateway/usage")).toEqual([]);
  const answer = await fetch(`${world.gateway.url}/v1/embeddings`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "text-embedding-3-small", input: "two words" }),
  });
  expect(answer.status).toBe(200);
  const used = await read("/control/gateway/usage");
  expect(used).toMatchObject([{ endpoint: "embeddings", requests: 1, refused: 0 }]);
  expect(used[0]?.["input_tokens"]).toBeGreaterThan(0);
  expect(JSON.stringify(used)).not.toContain(key);
});
