// Several replicas on one PostgreSQL database, controlled like a script does.

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Postgres, startPostgres } from "#sandbox/bot/own-postgres.ts";
import { type Controlled, QUICK, startControlled } from "./controlled.ts";
import { PATIENT } from "../../make/patient.ts";

let postgres: Postgres;
let sandbox: Controlled;
const printed: string[] = [];

beforeAll(async () => {
  postgres = await startPostgres((words) => void printed.push(words));
  const env = { ...QUICK.env, AUDIT_KEY: randomBytes(32).toString("base64") };
  sandbox = await startControlled({
    databaseUrl: postgres.url,
    slack: { timing: PATIENT },
    bot: { env, replicas: 3, say: (words) => void printed.push(words) },
  });
  await sandbox.world.bot?.ready();
});
afterAll(async () => {
  await sandbox.stop();
  await postgres.stop();
});

const all = () => sandbox.read("/control/replicas");
const states = async () => (await all()).map(({ state }) => state);
const state = async () => (await sandbox.send("/control/bot")).body["state"];
const connections = () => sandbox.world.slack.sockets.connections();
const wait = (name: string, wanted: string) =>
  sandbox.read("/control/replicas", { name, state: wanted, wait: "30" });

test("each replica has a name, a process and a port that answers, and all are connected to Slack", async () => {
  const replicas = await all();
  expect(replicas.map(({ name }) => name)).toEqual(["replica 1", "replica 2", "replica 3"]);
  expect(new Set(replicas.map(({ pid }) => pid)).size).toBe(3);
  expect(new Set(replicas.map(({ port }) => port)).size).toBe(3);
  for (const { port } of replicas)
    expect((await fetch(`http://127.0.0.1:${String(port)}/readyz`)).status).toBe(200);
  expect(connections()).toBe(3);
});

test("a killed replica restarts by itself while the others keep running", async () => {
  const [first, ...others] = await all();
  await sandbox.act("bot.kill", { replica: "replica 1" });
  expect(await states()).toEqual(["starting", "running", "running"]);
  expect(await state()).toBe("running");
  await wait("replica 1", "running");
  const [back, ...rest] = await all();
  expect(back?.["pid"]).not.toBe(first?.["pid"]);
  expect(rest).toEqual(others);
  expect(printed.at(-1)).toBe("Replica 1 stopped (exit code none) and is being restarted.");
});

test("a replica is killed for good, another is paused, and both can be started again", async () => {
  const { act, refusal } = sandbox;
  await act("bot.kill", { replica: "2", back: false });
  await act("bot.pause", { replica: "3" });
  expect(await states()).toEqual(["running", "stopped", "paused"]);
  expect(await refusal("bot.kill", { replica: "2" })).toBe("409 Replica 2 is not running.");
  expect(await refusal("bot.stop", { replica: "replica 2" })).toBe("409 Replica 2 is already stopped.");
  expect(await refusal("bot.start", { replica: "replica 9" })).toBe(
    '409 There is no "replica 9". Known replicas: replica 1, replica 2, replica 3.',
  );
  await act("bot.start");
  expect(await states()).toEqual(["running", "running", "running"]);
});

test("all are restarted for a new key, and none keeps the old one", async () => {
  const { act, world } = sandbox;
  await act("service.rotateKey");
  await act("bot.restart");
  const keys = world.bot?.replicas.map(({ given }) => given()["AGENT_API_KEY"]);
  expect(keys).toEqual([world.service.apiKey, world.service.apiKey, world.service.apiKey]);
});

test("all get a new policy, and a stopped replica gets it when it is started", async () => {
  const { act, world } = sandbox;
  const files = () => world.bot?.replicas.map(({ given }) => given()["POLICY_FILE"]?.split("/").at(-1));
  await act("bot.stop", { replica: "replica 2" });
  await act("bot.policy", { name: "strict" });
  expect(await states()).toEqual(["running", "stopped", "running"]);
  expect((await sandbox.send("/control/bot")).body).toMatchObject({
    policy: { chosen: "strict", inForce: { name: "strict" }, fault: null },
  });
  await act("bot.start", { replica: "replica 2" });
  expect(files()).toEqual(["strict.yaml", "strict.yaml", "strict.yaml"]);
  await act("bot.policy", { name: "built-in" });
  expect(files()).toEqual([undefined, undefined, undefined]);
});

/** Many times what a slow machine needs. */
const MAX_PRESSES = 300;

/** Presses again while the card is not ready, as people do. Another replica may still be posting it. */
async function openForm(person: string): Promise<void> {
  for (let presses = 0; presses < MAX_PRESSES; presses += 1) {
    await sandbox.act("person.press", { person, channel: "ops-agents", button: "Approve" });
    const [view] = await sandbox.read("/control/views", { person, wait: "30" });
    if (JSON.stringify(view).includes("Reason")) return;
    expect(JSON.stringify(view)).toMatch(/refusal:(being-posted|unverified)/);
    await sandbox.act("person.close", { person });
  }
  throw new Error("no form opened");
}

/** The replicas share Slack's budget for a minute, so a run may have to wait for the next minute. */
async function untilEnded(task: string): Promise<void> {
  const ended = { task, phase: "succeeded", wait: "60" };
  const soon = await sandbox.read("/control/runs", ended);
  const found = soon.length > 0 ? soon : await sandbox.read("/control/runs", ended);
  expect(found).toHaveLength(1);
}

test(
  "runs start and are decided through any replica, and the service gets each decision once",
  { timeout: 300_000 },
  async () => {
    const { act, read } = sandbox;
    for (const each of [1, 2, 3]) {
      const task = `deploy part ${each} to production`;
      await act("person.command", { person: "ana", channel: "ops-agents", text: `/agent run ${task}` });
      await read("/control/runs", { task, phase: "awaiting_approval", wait: "30" });
      const contains = `Deploy part ${each} to production`;
      await read("/control/messages", { channel: "ops-agents", contains, wait: "30" });
      await openForm("ben");
      await act("person.submit", { person: "ben", values: { Reason: `Part ${each} is tested` } });
      await untilEnded(task);
    }
    expect(await read("/control/requests", { route: "decide" })).toHaveLength(3);
  },
);

test(
  "a replica that is paused beyond its lease sends no decision twice when it resumes",
  { timeout: 200_000 },
  async () => {
    const { act, read } = sandbox;
    const task = "deploy the last part to production";
    await act("person.command", { person: "ana", channel: "ops-agents", text: `/agent run ${task}` });
    await read("/control/messages", { channel: "ops-agents", contains: "Deploy the last part", wait: "30" });
    await openForm("ben");
    const followed = await Promise.all(
      (sandbox.world.bot?.replicas ?? []).map(({ metric }) => metric("countersign_runs_watched")),
    );
    const holder = `replica ${followed.findIndex((runs) => runs === 1) + 1}`;
    const gate = await act("service.fault", { fault: { type: "gate" }, route: "read-run", times: 1_000 });
    await act("person.submit", { person: "ben", values: { Reason: "The last one" } });
    await act("bot.pause", { replica: holder });
    await act("service.release", gate as { fault: string });
    await untilEnded(task);
    expect(await read("/control/replicas", { name: holder, state: "paused" })).toHaveLength(1);
    await act("bot.start", { replica: holder });
    expect((await read("/control/requests", { route: "decide" })).slice(3)).toHaveLength(1);
    expect(await states()).toEqual(["running", "running", "running"]);
  },
);
