import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const main = fileURLToPath(import.meta.resolve("#src/sandbox/service/main.ts"));

test("from the shell both listen where they say, take the key they print, and stop on a signal", async () => {
  const child = spawn(process.execPath, [main, "--port", "0", "--gateway-port", "0", "--tempo", "0"]);
  const exited = once(child, "exit");
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) if (lines.push(line) === 4) break;
  const [service = "", key, gateway = ""] = lines.map((line) => line.split(/ {2,}/)[1]);

  const init = {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: '{"input":"Just say hello"}',
  };
  expect((await fetch(`${service}/v1/agent/runs`, init)).status).toBe(201);
  expect((await fetch(`${gateway}/healthz`)).status).toBe(200);
  child.kill("SIGTERM");
  expect(await exited).toEqual([0, null]);
});

test.for([
  [["--tempo", "fast"], "--tempo must be a number"],
  [["--prot", "1"], "Unknown option '--prot'"],
  [["--port", "0", "--state", "/no/such/place/state.json"], "/no/such/place"],
] as const)("%j is refused in one line", async ([args, words]) => {
  const child = spawn(process.execPath, [main, ...args]);
  const told: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => told.push(text));
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(2);
  expect(told.join("").trim().split("\n")).toEqual([expect.stringContaining(words)]);
});
