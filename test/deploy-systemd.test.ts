// Checks the systemd unit without a running systemd: systemd's own program verifies it, and the bot's configuration accepts what it sets.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseEnv } from "node:util";
import { afterAll, expect, test } from "vitest";
import { readConfig, variables } from "#src/config.ts";

const UNIT = fileURLToPath(new URL("../deploy/systemd/countersign.service", import.meta.url));
const text = readFileSync(UNIT, "utf8");
const settings = [...text.matchAll(/^([A-Z]\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => ({
  name,
  value,
}));
const all = (name: string): string[] =>
  settings.filter((each) => each.name === name).map(({ value }) => value);

const folder = mkdtempSync(join(tmpdir(), "countersign-unit-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("systemd finds no fault in the unit", () => {
  const said = execFileSync("systemd-analyze", ["verify", UNIT], { encoding: "utf8", stdio: "pipe" });
  expect(said).toBe("");
});

test("the bot starts with the unit's environment: known variables, and each secret in a file of its own", () => {
  const secrets: Record<string, string> = {
    "slack-bot-token": "xoxb-1-abc",
    "slack-app-token": "xapp-1-abc",
    "agent-api-key": "key",
  };
  const handed = all("LoadCredential").map((each) => each.split(":")[0] ?? "");
  expect(handed.toSorted()).toEqual(Object.keys(secrets).toSorted());
  for (const [name, value] of Object.entries(secrets)) writeFileSync(join(folder, name), `${value}\n`);
  const env = Object.fromEntries(
    all("Environment").map((each) => {
      const [name = "", value = ""] = each.replace("%d", folder).split("=");
      return [name, value];
    }),
  );
  const known = variables.flatMap(({ name }) => [name, `${name}_FILE`]);
  expect(Object.keys(env).filter((name) => name !== "NODE_ENV" && !known.includes(name))).toEqual([]);
  const config = readConfig({ ...env, AGENT_BASE_URL: "https://agents.example.com" });
  expect(config).toMatchObject({ ok: true, value: { agents: { apiKey: "key" }, slack: { mode: "socket" } } });
});

test("the file for commands in a shell names what the unit sets, and the secrets where they are kept", () => {
  const lines = readFileSync(new URL("../deploy/systemd/shell.env", import.meta.url), "utf8").split("\n");
  const sources = all("LoadCredential").map((each) => each.split(":"));
  const expected = all("Environment")
    .filter((each) => !each.startsWith("NODE_ENV="))
    .map((each) => sources.reduce((line, [name, file]) => line.replace(`%d/${name}`, file ?? ""), each));
  expect(lines.filter((line) => line !== "" && !line.startsWith("#"))).toEqual(expected);
});

test("Node reads a value in single quotes as it is written, as systemd does, so the file for commands says to use them", () => {
  const url = String.raw`https://agents.example.com/#/runs\new\\{run}`;
  expect(parseEnv(`RUN_URL=${url}`)).toEqual({ RUN_URL: "https://agents.example.com/" });
  expect(parseEnv(`RUN_URL="${url}"`)).not.toEqual({ RUN_URL: url });
  expect(parseEnv(`RUN_URL='${url}'`)).toEqual({ RUN_URL: url });
  const shell = readFileSync(new URL("../deploy/systemd/shell.env", import.meta.url), "utf8");
  expect(shell).toMatch(/^# .*contains # or \\ in single quotes/m);
});

test("the unit starts the bot as npm start does, and restarts it unless the configuration is wrong", () => {
  const { start } = (
    JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
      scripts: { start: string };
    }
  ).scripts;
  expect(all("ExecStart")).toEqual([`/usr/bin/env ${start}`]);
  expect(all("RestartPreventExitStatus")).toEqual(["2"]);
  expect(Number(all("TimeoutStopSec")[0])).toBeGreaterThan(10);
});
