import { afterAll, beforeAll, expect, test } from "vitest";
import { type Controlled, QUICK, startControlled } from "./controlled.ts";

let sandbox: Controlled;
const printed: string[] = [];

beforeAll(async () => {
  sandbox = await startControlled({ bot: { ...QUICK, say: (words) => void printed.push(words) } });
  await sandbox.world.bot?.ready();
});
afterAll(() => sandbox.stop());

const state = async () => (await sandbox.send("/control/bot")).body["state"];
const connections = () => sandbox.world.slack.sockets.connections();

test("a bot that is killed restarts by itself, and says so", async () => {
  const { act } = sandbox;
  await act("bot.kill");
  expect(await state()).toBe("starting");
  await sandbox.world.bot?.ready();
  expect(await state()).toBe("running");
  expect(connections()).toBe(1);
  expect(printed).toEqual(["The bot stopped (exit code none) and is being restarted."]);
});

test("a stopped bot stays down until it is started", async () => {
  const { act, refusal, world } = sandbox;
  const before = printed.length;
  await act("bot.stop");
  expect(await state()).toBe("stopped");
  expect(connections()).toBe(0);
  await expect(world.bot?.ready()).rejects.toThrow("The bot is stopped");
  expect(await refusal("bot.kill")).toBe("409 Countersign is not running.");
  expect(await refusal("bot.stop")).toBe("409 Countersign is already stopped.");
  expect(await state()).toBe("stopped");
  await Promise.all([act("bot.start"), act("bot.start")]);
  expect(await state()).toBe("running");
  expect(connections()).toBe(1);
  expect(printed).toHaveLength(before);
});

test("a killed bot cannot be killed again before it is back, but it can be stopped", async () => {
  const { act, refusal } = sandbox;
  await act("bot.kill");
  expect(await state()).toBe("starting");
  expect(await refusal("bot.kill")).toBe("409 Countersign is not running.");
  await act("bot.stop");
  expect(await state()).toBe("stopped");
  await act("bot.start");
  await act("bot.start");
  expect(await state()).toBe("running");
});

test("a start during a stop waits for the end of the old process", async () => {
  const { act } = sandbox;
  await Promise.all([act("bot.stop"), act("bot.start")]);
  expect(await state()).toBe("running");
  expect(connections()).toBe(1);
});

const replica = async () => (await sandbox.read("/control/replicas"))[0] ?? {};

test("a paused bot keeps its connection and answers nothing until it resumes", async () => {
  const { act, refusal } = sandbox;
  const { pid, port } = await replica();
  const alive = () => fetch(`http://127.0.0.1:${String(port)}/livez`, { signal: AbortSignal.timeout(500) });
  await act("bot.pause");
  expect(await replica()).toMatchObject({ name: "replica 1", state: "paused", pid });
  expect(connections()).toBe(1);
  await expect(alive()).rejects.toThrow("timeout");
  expect(await refusal("bot.pause")).toBe("409 Countersign is not running.");
  await act("bot.start");
  expect(await replica()).toMatchObject({ state: "running", pid });
  expect((await alive()).status).toBe(200);
});

test("a paused bot can be stopped, restarted and killed", async () => {
  const { act, read } = sandbox;
  const running = { state: "running", wait: "20" };
  await act("bot.pause");
  await act("bot.stop");
  expect(await replica()).toMatchObject({ state: "stopped", pid: null });
  await act("bot.start");
  await act("bot.pause");
  await act("bot.restart");
  expect(await state()).toBe("running");
  await act("bot.pause");
  await act("bot.kill");
  expect(await state()).toBe("starting");
  expect(await read("/control/replicas", running)).toHaveLength(1);
});

test("a bot that is killed for good stays down until it is started", async () => {
  const { act, refusal } = sandbox;
  await act("bot.kill", { back: false });
  expect(await replica()).toMatchObject({ state: "stopped", pid: null });
  expect(await refusal("bot.kill", { back: false })).toBe("409 Countersign is not running.");
  await act("bot.start", { replica: "1" });
  expect(await refusal("bot.start", { replica: "replica 2" })).toBe(
    '409 There is no "replica 2". Known replicas: replica 1.',
  );
});

test("a restarted bot gets the current key", async () => {
  const { act, world, read } = sandbox;
  await act("service.rotateKey");
  expect(world.bot?.given()["AGENT_API_KEY"]).not.toBe(world.service.apiKey);
  await act("bot.restart");
  await act("person.command", { person: "ana", channel: "ops-agents", text: "/agent run just say hello" });
  expect(await read("/control/runs", { phase: "succeeded", wait: "20" })).toHaveLength(1);
  expect(world.service.requests.all({ route: "create-run" })).toMatchObject([{ key: "right" }]);
});

test.for([
  ["slack.dropSockets", {}],
  ["slack.disconnect", { reason: "warning" }],
] as const)("after %s the bot reconnects", async ([name, args]) => {
  const after = String(sandbox.world.slack.traffic.lines().at(-1)?.number);
  await sandbox.act(name, args);
  const back = await sandbox.read("/control/traffic", { after, contains: "socket connected", wait: "30" });
  expect(back).toHaveLength(1);
});

test("the sandbox knows that the bot's clock is on its way, and when it has arrived", async () => {
  const { act, world } = sandbox;
  const { bot } = world;
  if (bot === null) throw new Error("there is no bot");
  await bot.ready();
  expect(bot.isClockMoving()).toBe(false);
  const { promise: arrived, resolve } = Promise.withResolvers<void>();
  const stop = bot.onChange(() => bot.isClockMoving() || resolve());
  await act("clock.advance", { ms: 5 * 60_000 });
  expect(bot.isClockMoving()).toBe(true);
  await arrived;
  stop();
  await act("clock.advance", { ms: 24 * 3_600_000 });
  expect(bot.isClockMoving()).toBe(true);
  // A new process starts with the sandbox's clock.
  await act("bot.restart");
  expect(bot.isClockMoving()).toBe(false);
});
