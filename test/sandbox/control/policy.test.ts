// The policies that come with the sandbox, and the switch between them.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { policiesWith } from "#sandbox/bot/policies.ts";
import { inheritedEnv } from "../../make/child-env.ts";
import { type Controlled, QUICK, startControlled } from "./controlled.ts";

const FOLDER = fileURLToPath(new URL("../../../sandbox/policies/", import.meta.url));
const POLICY = fileURLToPath(new URL("../../../src/cli/policy.ts", import.meta.url));

test("each file in sandbox/policies is offered, another one is written when it is chosen, and the linter finds no fault in any", async () => {
  const files = (await readdir(FOLDER)).map((name) => join(FOLDER, name));
  const written = policiesWith(null).filter(({ write }) => write !== undefined);
  const kept = policiesWith(null).filter(({ write }) => write === undefined);
  expect(kept.map(({ file }) => file)).toEqual([null, ...files.toSorted().toReversed()]);
  for (const { write } of written) write?.(Date.now());
  for (const file of [...files, ...written.flatMap(({ file }) => file ?? [])]) {
    const { stdout } = await promisify(execFile)(process.execPath, [POLICY, "lint", file], {
      env: inheritedEnv(),
    });
    expect(stdout).toContain("No problems found.");
  }
});

let folder: string;
let own: string;
let sandbox: Controlled;
const GOOD = "rules:\n  - name: own\n    approvers: { users: [U0BEN] }\n";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-policy-"));
  own = join(folder, "own.yaml");
  await writeFile(own, GOOD);
  sandbox = await startControlled({ bot: { ...QUICK, policyFile: own } });
  await sandbox.world.bot?.ready();
});
afterEach(async () => {
  await sandbox.stop();
  await rm(folder, { recursive: true, force: true });
});

type BotAnswer = {
  readonly state: string;
  readonly policy: {
    readonly chosen: string;
    readonly inForce: { readonly name: string; readonly since: number } | null;
    readonly fault: string | null;
  };
};
const blockIds = (): string[] =>
  sandbox.world.slack.workspace.messages.flatMap(({ blocks }) => blocks.map(({ block_id = "" }) => block_id));
const botState = async (): Promise<BotAnswer> => (await sandbox.send("/control/bot")).body as BotAnswer;

test("the bot starts with the operator's policy, and decides by another one after a switch", async () => {
  const { act } = sandbox;
  const before = (await botState()).policy;
  expect(before).toMatchObject({ chosen: "own", inForce: { name: "own" }, fault: null });
  await act("bot.policy", { name: "quorum-and-hold" });
  const { policy } = await botState();
  expect(policy).toMatchObject({ chosen: "quorum-and-hold", inForce: { name: "quorum-and-hold" } });
  expect(policy.inForce?.since).toBeGreaterThan(before.inForce?.since ?? Infinity);
  await act("person.command", {
    person: "ana",
    channel: "ops-agents",
    text: "/agent run deploy billing-api to production",
  });
  await expect.poll(blockIds, { timeout: 20_000 }).toContain("rule:0-of-2");
});

test("with the built-in policy, the bot has no policy file", async () => {
  await sandbox.act("bot.policy", { name: "built-in" });
  expect(sandbox.world.bot?.given()["POLICY_FILE"]).toBeUndefined();
  expect((await botState()).policy).toMatchObject({ inForce: { name: "built-in" } });
});

test("a policy with which the bot does not start leaves the previous one in force, and the bot's error is shown", async () => {
  const { act, refusal } = sandbox;
  await act("bot.policy", { name: "strict" });
  await writeFile(own, "rules: [\n");
  const words = await refusal("bot.policy", { name: "own" });
  expect(words).toContain("409 The bot did not start with Your own, so Strict is back.");
  expect(words).toContain(`names a policy that can't be used: ${own}`);
  const { state, policy } = await botState();
  expect(state).toBe("running");
  expect(policy).toMatchObject({ chosen: "strict", inForce: { name: "strict" } });
  expect(`409 ${policy.fault}`).toBe(words);
  await writeFile(own, GOOD);
  await act("bot.policy", { name: "own" });
  expect((await botState()).policy).toMatchObject({ inForce: { name: "own" }, fault: null });
});

test("a stopped bot stays stopped during a switch, and starts with the chosen policy", async () => {
  const { act, world } = sandbox;
  await act("bot.stop");
  await act("bot.policy", { name: "strict" });
  expect(await botState()).toMatchObject({ state: "stopped", policy: { chosen: "strict", inForce: null } });
  await act("bot.start");
  expect((await botState()).policy).toMatchObject({ inForce: { name: "strict" } });
  expect(world.bot?.given()["POLICY_FILE"]).toBe(join(FOLDER, "strict.yaml"));
});

test("after two switches at once, the later one is in force", async () => {
  const { act } = sandbox;
  await Promise.all([act("bot.policy", { name: "strict" }), act("bot.policy", { name: "built-in" })]);
  expect((await botState()).policy).toMatchObject({ chosen: "built-in", inForce: { name: "built-in" } });
});

type Play = { readonly ended: string | null; readonly captions: readonly { readonly text: string }[] };

test("a scene plays under the policy of the sandbox's start, says so, and gives the chosen policy back", async () => {
  const { act, read, world } = sandbox;
  await act("bot.policy", { name: "strict" });
  await act("service.createRun", { task: "deploy the ledger to production" });
  const text = "/agent run deploy the wallet to production";
  await act("person.command", { person: "ana", channel: "ops-agents", text });
  await expect.poll(blockIds, { timeout: 20_000 }).toContainEqual(expect.stringMatching(/^state:pending/));
  const files: unknown[] = [];
  world.bot?.onChange(() => {
    if (world.bot?.state() === "running") files.push(world.bot.given()["POLICY_FILE"]);
  });
  await act("scene.play", { name: "own-run" });
  const [scene] = (await read("/control/scenes", { playing: "false", wait: "60" })) as unknown as Play[];
  expect(scene).toMatchObject({ ended: "done" });
  expect(scene?.captions[0]?.text).toMatch(
    /^Strict is off until the scene ends, also for the request that waits\. Ana starts a run:/,
  );
  expect([...new Set(files)]).toEqual([own, join(FOLDER, "strict.yaml")]);
  expect((await botState()).policy).toMatchObject({ chosen: "strict", inForce: { name: "strict" } });
});

test("a scene that is stopped gives the chosen policy back, except if another one was chosen meanwhile", async () => {
  const { act, read } = sandbox;
  await act("bot.policy", { name: "strict" });
  const playAndStop = async (meanwhile: () => Promise<unknown>): Promise<void> => {
    await act("scene.play", { name: "storm" });
    await read("/control/runs", { task: "50 tenants", phase: "awaiting_approval", wait: "20" });
    await meanwhile();
    await act("scene.stop");
  };
  await playAndStop(() => Promise.resolve());
  expect((await botState()).policy).toMatchObject({ chosen: "strict", inForce: { name: "strict" } });
  await playAndStop(() => act("bot.policy", { name: "built-in" }));
  expect((await botState()).policy).toMatchObject({ chosen: "built-in", inForce: { name: "built-in" } });
});

test("a scene leaves the built-in policy as it is, because scenes are written for it", async () => {
  const { act, read, world } = sandbox;
  await act("bot.policy", { name: "built-in" });
  const { policy } = await botState();
  await act("scene.play", { name: "own-run" });
  const [scene] = (await read("/control/scenes", { playing: "false", wait: "60" })) as unknown as Play[];
  expect(scene).toMatchObject({ ended: "done" });
  expect(scene?.captions[0]?.text).toMatch(/^Ana starts a run:/);
  expect((await botState()).policy).toEqual(policy);
  expect(world.bot?.given()["POLICY_FILE"]).toBeUndefined();
});

test("a bot that does not start says why", async () => {
  const { act, world } = sandbox;
  await writeFile(own, "rules: [\n");
  await act("bot.kill");
  const fault = async () => (await sandbox.send("/control/bot")).body["fault"];
  await expect.poll(fault, { timeout: 60_000 }).toContain(`names a policy that can't be used: ${own}`);
  await writeFile(own, GOOD);
  await expect.poll(() => world.bot?.state(), { timeout: 60_000 }).toBe("running");
  expect(await fault()).toBeNull();
});
