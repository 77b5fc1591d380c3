// What the bot, started as a process, reports about its configuration before it opens anything.

import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBot } from "#sandbox/bot/bot-process.ts";

const ENV = {
  SLACK_BOT_TOKEN: "xoxb-1-abc",
  SLACK_APP_TOKEN: "xapp-1-abc",
  AGENT_BASE_URL: "http://127.0.0.1:1",
  AGENT_API_KEY: "key",
};
let folder: string;
beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), "countersign-load-"))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Starts a bot that cannot start, and resolves to its output. */
async function startRefused(env: { readonly [name: string]: string }) {
  const bot = startBot({ ...ENV, DATABASE_URL: `sqlite:${join(folder, "bot.db")}`, ...env });
  return { code: await bot.exited, output: bot.printed().trimEnd().split("\n") };
}

test("a broken policy is reported with all other faults, each of its own faults with its line, and the exit code is 2", async () => {
  const policy = join(folder, "policy.yaml");
  writeFileSync(policy, "version: 1\nrules:\n  - name: a\n    needs: none\n    approver: anyone\n");
  const { code, output } = await startRefused({ POLICY_FILE: policy, PORT: "many" });
  expect(code).toBe(2);
  expect(output[0]).toBe("Countersign cannot start with this configuration:");
  expect(output[1]).toBe("  PORT is not a port number. Example: 3000");
  const ofPolicy = output.slice(2);
  expect(ofPolicy.length).toBeGreaterThanOrEqual(2);
  for (const line of ofPolicy)
    expect(line).toMatch(/^ {2}POLICY_FILE names a policy that can't be used: .*policy\.yaml:\d+: /);
});

test("a missing policy file is a fault of the configuration", async () => {
  const { code, output } = await startRefused({ POLICY_FILE: join(folder, "nowhere.yaml") });
  expect(code).toBe(2);
  expect(output.slice(1)).toEqual([
    expect.stringMatching(/^ {2}POLICY_FILE names a policy .*nowhere\.yaml: can't be read/),
  ]);
});

test("a policy that cannot even be looked at is a fault in words, with exit code 2", async () => {
  const loop = join(folder, "loop.yaml");
  symlinkSync(loop, loop);
  const { code, output } = await startRefused({ POLICY_FILE: loop });
  expect(code).toBe(2);
  expect(output.slice(1)).toEqual([
    expect.stringMatching(/^ {2}POLICY_FILE names a policy .*: can't be read/),
  ]);
});

test("a policy in Latin-1 is a fault, because its patterns would never match", async () => {
  const policy = join(folder, "latin1.yaml");
  writeFileSync(policy, Buffer.from("rules:\n  - name: d\u00E9ploy\n    approvers: anyone\n", "latin1"));
  const { code, output } = await startRefused({ POLICY_FILE: policy });
  expect(code).toBe(2);
  expect(output.slice(1)).toEqual([
    expect.stringMatching(/^ {2}POLICY_FILE names a policy .*latin1\.yaml: is not text in UTF-8/),
  ]);
});

test("a lone % in a proxy password is reported with the variable and an example", async () => {
  const { code, output } = await startRefused({ HTTPS_PROXY: "http://bot:canary100%@proxy:1" });
  expect([code, ...output]).toEqual([
    2,
    "Countersign cannot start with this configuration:",
    expect.stringMatching(/^ {2}HTTPS_PROXY has a % in its user or password .*Example: http/),
  ]);
});

test("a misspelled variable is reported along with the faults", async () => {
  const { code, output } = await startRefused({ AGENT_API_KEY: "", AGENT_KEY: "canary" });
  expect(code).toBe(2);
  expect(output.slice(1)).toEqual([
    expect.stringMatching(/^ {2}AGENT_API_KEY is not set/),
    "  AGENT_KEY is set, and Countersign has no such variable; AGENT_API_KEY may be meant.",
  ]);
});

test("a misspelled variable alone is a warning, and the start goes on", async () => {
  const slack = createServer((_, response) => response.end('{"ok":false,"error":"invalid_auth"}'));
  slack.listen(0, "127.0.0.1");
  await once(slack, "listening");
  const address = slack.address();
  const port = typeof address === "object" ? (address?.port ?? 0) : 0;
  const { code, output } = await startRefused({
    SLACK_API_URL: `http://127.0.0.1:${port}/api/`,
    POLICY_FIL: "/etc/canary.yaml",
    PORT: "0",
  });
  slack.close();
  const warned = output.filter((line) => line.includes('"level":"warn"') && line.includes("POLICY_FIL"));
  expect(warned.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ variable: "POLICY_FIL", meant: ["POLICY_FILE"] }),
  ]);
  expect(output.join("\n")).not.toContain("canary");
  expect([code, output.at(-1)]).toEqual([1, expect.stringContaining("Slack refuses SLACK_BOT_TOKEN")]);
});
