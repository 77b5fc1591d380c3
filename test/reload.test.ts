// Reloading while the bot runs: a policy that the audit could not record comes into force as soon as it can, and a pipe is read once.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createPolicyHolder, digestOf } from "#src/adapters/policy-file/policy-holder.ts";
import { LOOK_EVERY_MS } from "#src/adapters/policy-file/watch-files.ts";
import { createApiKey, createReloading } from "#src/reload.ts";
import { createHandClock } from "./make/clock.ts";
import { config, SOCKET } from "./make/config.ts";
import { policyFile } from "./make/policy.ts";
import { quietLog } from "./make/quiet.ts";
import { eventually } from "./make/eventually.ts";

const policyWith = (rule: string): string => `rules:\n  - { name: ${rule}, approvers: anyone }\n`;

async function reloadingWith(audit: () => Promise<void>) {
  const { path } = policyFile(policyWith("lax"));
  const [clock, log] = [createHandClock(), quietLog([], [])];
  const policy = await createPolicyHolder(path, log);
  const key = { now: () => SOCKET.AGENT_API_KEY, reload: () => undefined, isFileUnusable: () => false };
  const reloading = createReloading({
    config: config({ ...SOCKET, POLICY_FILE: path }),
    policy,
    key,
    store: { audit },
    bot: { policyChanged: () => Promise.resolve() },
    clock,
    log,
    onPolicy: () => undefined,
    auditStamp: () => ({ now: clock.now(), digest: digestOf }),
  });
  return { path, clock, policy, reloading };
}

test("a policy that could not be recorded at a signal, because the database was away, comes into force later", async () => {
  let away = true;
  const { path, clock, policy, reloading } = await reloadingWith(() =>
    away ? Promise.reject(new Error("the database is away")) : Promise.resolve(),
  );
  reloading.start();
  writeFileSync(path, policyWith("strict"));
  await reloading.reload();
  expect(policy.lastReload().outcome).toBe("not recorded");
  away = false;
  await eventually(async () => {
    await clock.pass(LOOK_EVERY_MS);
    expect(policy.now().rules.map(({ name }) => name)).toEqual(["strict"]);
  }, 1);
  await reloading.stop();
});

test("a policy and a key that come through pipes are read once, and stay in force", async () => {
  const { path, folder } = aPipe(policyWith("lax"));
  const log = quietLog([], []);
  const policy = await createPolicyHolder(path, log);
  expect(await policy.reload()).toBe(false);
  expect(policy.now().rules.map(({ name }) => name)).toEqual(["lax"]);
  const { agents } = config(SOCKET);
  const key = createApiKey({ ...agents, apiKeyFile: join(folder, "pipe") }, log);
  key.reload();
  expect(key.now()).toBe(agents.apiKey);
});

test("a key file that cannot even be looked at keeps the key, and keeps no policy back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-loop-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const loop = join(folder, "key");
  symlinkSync(loop, loop);
  const { agents } = config(SOCKET);
  const key = createApiKey({ ...agents, apiKeyFile: loop }, quietLog([], []));
  key.reload();
  expect(key.now()).toBe(agents.apiKey);
});

test("a key file is called unusable until it holds a key again, even the old one", () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-key-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "key");
  const { agents } = config(SOCKET);
  const key = createApiKey({ ...agents, apiKeyFile: file }, quietLog([], []));
  expect(key.isFileUnusable()).toBe(false);
  key.reload();
  expect([key.isFileUnusable(), key.now()]).toEqual([true, agents.apiKey]);
  writeFileSync(file, agents.apiKey);
  key.reload();
  expect(key.isFileUnusable()).toBe(false);
});

/** Makes a named pipe into which this content is written once. */
function aPipe(content: string): { readonly path: string; readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), "countersign-pipe-"));
  const path = join(folder, "pipe");
  execFileSync("sh", ["-c", 'mkfifo "$0"', path]);
  const writer = spawn("sh", ["-c", 'printf %s "$CONTENT" > "$PIPE"'], {
    env: { ...process.env, CONTENT: content, PIPE: path },
  });
  onTestFinished(() => {
    writer.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return { path, folder };
}
