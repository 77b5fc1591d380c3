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
const shell = readFileSync(new URL("../deploy/systemd/shell.env", import.meta.url), "utf8");
/** `unit`: the text of the unit. */
const all = (name: string, unit = text): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value = ""]) => value);

const folder = mkdtempSync(join(tmpdir(), "countersign-unit-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("systemd finds no fault in the unit", () => {
  const said = execFileSync("systemd-analyze", ["verify", UNIT], { encoding: "utf8", stdio: "pipe" });
  expect(said).toBe("");
});

const SECRETS: Readonly<Record<string, string>> = {
  "slack-bot-token": "xoxb-1-abc",
  "slack-app-token": "xapp-1-abc",
  "slack-signing-secret": "0f1e2d3c4b5a69788796a5b4c3d2e1f0",
  "agent-api-key": "key",
};

/** Returns what systemd sets. Each secret that it hands over is a file in the folder. */
function environmentOf(unit: string): Record<string, string> {
  for (const name of handedIn(unit)) writeFileSync(join(folder, name), `${SECRETS[name]}\n`);
  const pairs = all("Environment", unit).map((each) => each.replace("%d", folder).split("="));
  return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name, value]));
}

const handedIn = (unit: string): string[] =>
  all("LoadCredential", unit).map((each) => each.split(":")[0] ?? "");

test("the bot starts with the unit's environment: known variables, and each secret in a file of its own", () => {
  expect(handedIn(text)).toEqual(["slack-bot-token", "slack-app-token", "agent-api-key"]);
  const env = environmentOf(text);
  const known = variables.flatMap(({ name }) => [name, `${name}_FILE`]);
  expect(Object.keys(env).filter((name) => name !== "NODE_ENV" && !known.includes(name))).toEqual([]);
  const config = readConfig({ ...env, AGENT_BASE_URL: "https://agents.example.com" });
  expect(config).toMatchObject({ ok: true, value: { agents: { apiKey: "key" }, slack: { mode: "socket" } } });
});

/** Replaces what the comments say to replace for HTTP mode. */
function forHttpMode(file: string): string {
  const comment = /# For HTTP mode, ([^.]+)\./.exec(file)?.[1] ?? "";
  const pairs = [...comment.replaceAll(/\s+#?\s*/g, " ").matchAll(/(\S+) with ([^\s,]+)/g)];
  return pairs.reduce((left, [, old = "", other = ""]) => left.replaceAll(old, other), file);
}

test("the bot starts in HTTP mode after the changes that the comments in both files name", () => {
  const unit = forHttpMode(text);
  expect(handedIn(unit)).toEqual(["slack-bot-token", "slack-signing-secret", "agent-api-key"]);
  const config = readConfig({ ...environmentOf(unit), AGENT_BASE_URL: "https://agents.example.com" });
  expect(config).toMatchObject({ ok: true, value: { slack: { mode: "http" } } });
  expect(linesOf(forHttpMode(shell))).toEqual(shellLinesFor(unit));
});

test("the file for commands in a shell names what the unit sets, and the secrets where they are kept", () => {
  expect(linesOf(shell)).toEqual(shellLinesFor(text));
});

const linesOf = (file: string): string[] =>
  file.split("\n").filter((line) => line !== "" && !line.startsWith("#"));

function shellLinesFor(unit: string): string[] {
  const sources = all("LoadCredential", unit).map((each) => each.split(":"));
  return all("Environment", unit)
    .filter((each) => !each.startsWith("NODE_ENV="))
    .map((each) => sources.reduce((line, [name, file]) => line.replace(`%d/${name}`, file ?? ""), each));
}

test("Node reads a value in single quotes as it is written, as systemd does, so the file for commands says to use them", () => {
  const url = String.raw`https://agents.example.com/#/runs\new\\{run}`;
  expect(parseEnv(`RUN_URL=${url}`)).toEqual({ RUN_URL: "https://agents.example.com/" });
  expect(parseEnv(`RUN_URL="${url}"`)).not.toEqual({ RUN_URL: url });
  expect(parseEnv(`RUN_URL='${url}'`)).toEqual({ RUN_URL: url });
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
