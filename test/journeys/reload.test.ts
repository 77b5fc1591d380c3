// A running bot adopts a new key and a new policy from their files. The bot is a separate process with the machine's clock.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, type TestContext, test, vi } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { eventually } from "../make/eventually.ts";
import { PATIENT } from "../make/patient.ts";

vi.setConfig({ testTimeout: 60_000 });
/** The files are checked every two seconds, and must be unchanged for two checks (ms). */
const WITHIN = { timeout: 20_000, interval: 50 };
const RULES = (name: string): string => `rules:\n  - name: ${name}\n    approvers: anyone\n`;

/** Starts a bot with its key and its policy in files. `hasSlack`: false if Slack never answers the bot's call for a socket. */
async function startRunningBot({ onTestFinished }: TestContext, { hasSlack = true } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "countersign-reload-"));
  const write = (name: "key" | "policy.yaml", content: string): void =>
    writeFileSync(join(folder, name), content);
  const world = await startWorld({
    databaseUrl: `sqlite:${join(folder, "bot.db")}`,
    tempo: 0,
    slack: { timing: PATIENT },
  });
  write("key", `${world.service.apiKey}\n`);
  write("policy.yaml", RULES("first"));
  const { AGENT_API_KEY: _inFile, ...env } = world.env;
  const files = { AGENT_API_KEY_FILE: join(folder, "key"), POLICY_FILE: join(folder, "policy.yaml") };
  if (!hasSlack) world.slack.faults.next("apps.connections.open", { hang: "before" }, 100);
  const bot = startBot({ ...env, ...files });
  onTestFinished(async () => {
    await bot.end("SIGKILL");
    await world.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const asksForSocket = (): Promise<unknown> =>
    vi.waitUntil(
      () => world.slack.traffic.lines().some(({ what }) => what === "apps.connections.open"),
      WITHIN,
    );
  await (hasSlack ? bot.ready() : asksForSocket());

  const lines = (): { readonly [field: string]: unknown }[] =>
    bot
      .printed()
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line) as { readonly [field: string]: unknown });
  const found = (words: RegExp) => lines().filter(({ msg }) => words.test(String(msg)));
  const started = (): number =>
    world.service.requests.all().filter(({ method, status }) => method === "POST" && (status ?? 500) < 300)
      .length;
  return {
    bot,
    write,
    rotatedKey: () => world.service.control.rotateKey(),
    found,
    /** Waits until the log contains this line so many times. */
    logs: (words: RegExp, times: number) => eventually(() => expect(found(words)).toHaveLength(times)),
    /** Starts a run as Ana, which the service accepts. */
    startsRun: async (): Promise<void> => {
      const before = started();
      await world.slack.acts.command("U0ANA", "C0OPSAGENTS", "/agent", "run deploy it");
      await eventually(() => expect(started()).toBeGreaterThan(before));
    },
  };
}

const NEW_KEY = /took over a new key/;
const NO_KEY = /cannot take over a new key/;
const READ_AGAIN = /policy file was read again/;
const FAULTY = /policy file can't be used/;

describe.concurrent("a running bot", () => {
  test("uses a rotated key once its file contains it, and never logs it", async (context) => {
    const { bot, write, rotatedKey, logs, startsRun } = await startRunningBot(context);
    const key = rotatedKey();
    write("key", key);
    await logs(NEW_KEY, 1);
    await startsRun();
    expect(bot.printed()).not.toContain(key);
  });

  test("adopts a new key and a new policy at once on SIGHUP, and only once", async (context) => {
    const { bot, write, rotatedKey, found, logs, startsRun } = await startRunningBot(context);
    write("key", rotatedKey());
    write("policy.yaml", RULES("second"));
    bot.signal("SIGHUP");
    await logs(READ_AGAIN, 1);
    expect(found(NEW_KEY)).toHaveLength(1);
    await startsRun();
    // By the time this later change is logged, the others would have been logged again.
    write("key", "");
    await logs(NO_KEY, 1);
    expect(found(READ_AGAIN)).toHaveLength(1);
  });

  test("adopts a changed policy without a signal, and keeps the old one if the new one is invalid, logged once", async (context) => {
    const { write, found, logs } = await startRunningBot(context);
    write("policy.yaml", RULES("second"));
    await logs(READ_AGAIN, 1);
    const [{ policy } = {}] = found(READ_AGAIN);
    write("policy.yaml", "rules: none\n");
    await logs(FAULTY, 1);
    expect(found(FAULTY)[0]).toMatchObject({ level: "error", policy });
    write("policy.yaml", RULES("third"));
    await logs(READ_AGAIN, 2);
    expect(found(FAULTY)).toHaveLength(1);
  });

  test("adopts a changed policy while its start waits for Slack", async (context) => {
    const { write, logs } = await startRunningBot(context, { hasSlack: false });
    write("policy.yaml", RULES("second"));
    await logs(READ_AGAIN, 1);
  });

  test("keeps its key when the file becomes empty; the log and the metrics say so until it holds a key", async (context) => {
    const { bot, write, rotatedKey, found, logs, startsRun } = await startRunningBot(context);
    const keyFile = async (): Promise<string | undefined> =>
      /^countersign_part_healthy\{part="key_file"\} (\d)$/m.exec(
        await (await fetch(`${bot.url}/metrics`)).text(),
      )?.[1];
    write("key", "");
    await logs(NO_KEY, 1);
    expect(found(NO_KEY)[0]).toMatchObject({ level: "error", variable: "AGENT_API_KEY_FILE" });
    await eventually(async () => expect(await keyFile()).toBe("0"));
    await startsRun();
    write("key", rotatedKey());
    await eventually(async () => expect(await keyFile()).toBe("1"));
  });
});
