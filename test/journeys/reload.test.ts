// A running bot takes over a new key and a new policy from their files, as a process of its own with the clock of the machine.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";

vi.setConfig({ testTimeout: 60_000 });
/** The file is looked at every two seconds, and must stand still for two looks (ms). */
const WITHIN = { timeout: 20_000, interval: 50 };
const RULES = (name: string): string => `rules:\n  - name: ${name}\n    approvers: anyone\n`;

let world: World;
let bot: BotProcess;
let folder: string;
const at = (name: string): string => join(folder, name);
const lines = (): { readonly [field: string]: unknown }[] =>
  bot
    .printed()
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
const logged = (words: RegExp): number => lines().filter(({ msg }) => words.test(String(msg))).length;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "countersign-reload-"));
  world = await startWorld({ databaseUrl: `sqlite:${at("bot.db")}`, tempo: 0 });
  writeFileSync(at("key"), `${world.service.apiKey}\n`);
  writeFileSync(at("policy.yaml"), RULES("first"));
  const { AGENT_API_KEY: _inFile, ...env } = world.env;
  bot = startBot({ ...env, AGENT_API_KEY_FILE: at("key"), POLICY_FILE: at("policy.yaml") });
  await bot.ready();
});
afterEach(async () => {
  await bot.end("SIGKILL");
  await world.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Ana starts a run; resolves when the service has it. */
async function starts(task: string): Promise<void> {
  const before = world.service.requests.all().filter(({ method }) => method === "POST").length;
  await world.slack.acts.command("U0ANA", "C0OPSAGENTS", "/agent", `run ${task}`);
  await vi.waitFor(() => {
    const posts = world.service.requests
      .all()
      .filter(({ method, status }) => method === "POST" && (status ?? 500) < 300);
    expect(posts.length).toBeGreaterThan(before);
  }, WITHIN);
}

test("a rotated key is used once its file holds it, and appears in no log", async () => {
  const rotated = world.service.control.rotateKey();
  writeFileSync(at("key"), rotated);
  await vi.waitFor(() => expect(logged(/took over a new key/)).toBe(1), WITHIN);
  await starts("deploy it");
  expect(bot.printed()).not.toContain(rotated);
});

test("SIGHUP takes a new key and a new policy at once", async () => {
  writeFileSync(at("key"), world.service.control.rotateKey());
  writeFileSync(at("policy.yaml"), RULES("second"));
  bot.signal("SIGHUP");
  await vi.waitFor(() => expect(logged(/policy file was read again/)).toBe(1), WITHIN);
  expect(logged(/took over a new key/)).toBe(1);
  await starts("deploy it");
  // A later change is told, and the one that the signal has taken is not told again.
  writeFileSync(at("key"), "");
  await vi.waitFor(() => expect(logged(/cannot take over a new key/)).toBe(1), WITHIN);
  expect(logged(/policy file was read again/)).toBe(1);
});

test("a changed policy is in force without a signal; a broken one keeps the old one in force and is told once", async () => {
  writeFileSync(at("policy.yaml"), RULES("second"));
  await vi.waitFor(() => expect(logged(/policy file was read again/)).toBe(1), WITHIN);
  const version = lines().findLast(({ msg }) => /read again/.test(String(msg)))?.["policy"];
  writeFileSync(at("policy.yaml"), "rules: none\n");
  await vi.waitFor(() => expect(logged(/policy file can't be used/)).toBe(1), WITHIN);
  expect(lines().at(-1)).toMatchObject({ level: "error", policy: version });
  writeFileSync(at("policy.yaml"), RULES("third"));
  await vi.waitFor(() => expect(logged(/policy file was read again/)).toBe(2), WITHIN);
  expect(logged(/policy file can't be used/)).toBe(1);
});

test("a key file that becomes empty keeps the old key in use, and the log names the variable", async () => {
  writeFileSync(at("key"), "");
  await vi.waitFor(() => expect(logged(/cannot take over a new key/)).toBe(1), WITHIN);
  expect(lines().at(-1)).toMatchObject({ variable: "AGENT_API_KEY_FILE" });
  await starts("deploy it");
});
