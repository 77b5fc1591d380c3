import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startGateway } from "#sandbox/service/start-gateway.ts";
import { startService } from "#sandbox/service/start-service.ts";

const MAIN = fileURLToPath(import.meta.resolve("#sandbox/serve.ts"));

let directory: string;
let statePath: string;
const children = new Set<ReturnType<typeof spawn>>();
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "service-"));
  statePath = join(directory, "state.json");
});
afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children.clear();
  await rm(directory, { recursive: true });
});

/** Runs `npm run service` with this file. `listens` resolves to whether it started to listen. */
function service(...args: string[]) {
  const ports = ["--port", "0", "--gateway-port", "0", "--tempo", "0"];
  const child = spawn(process.execPath, [MAIN, ...ports, "--state", statePath, ...args]);
  children.add(child);
  let printed = "";
  const append = (text: string): void => void (printed += text);
  child.stderr.setEncoding("utf8").on("data", append);
  const ended = once(child, "close").then(([code]: unknown[]) => code);
  const listens = Promise.race([once(child.stdout, "data").then(() => true), ended.then(() => false)]);
  return { child, ended, listens, said: () => printed };
}

/** Resolves to the id of a process that has ended. */
async function deadPid(): Promise<string> {
  const child = spawn(process.execPath, ["--version"]);
  await once(child, "exit");
  return String(child.pid);
}

test("a file that one process uses is refused to another with one line, and is available again at the end", async () => {
  const first = service();
  expect(await first.listens).toBe(true);
  const second = service();
  expect(await second.ended).toBe(2);
  expect(second.said()).toBe(
    `The state file ${statePath} is in use by process ${first.child.pid}. Stop that process, or choose another file with --state. If it is not a service, remove ${statePath}.lock.\n`,
  );
  first.child.kill("SIGTERM");
  expect(await first.ended).toBe(0);
  expect((await readdir(directory)).toSorted()).toEqual(["state.json", "state.json.gateway"]);
  expect(await service().listens).toBe(true);
});

test("the lock of a killed process blocks no other", async () => {
  const killed = service();
  expect(await killed.listens).toBe(true);
  killed.child.kill("SIGKILL");
  await killed.ended;
  expect(await readdir(directory)).toContain("state.json.lock");
  expect(await service().listens).toBe(true);
});

test("a lock of a process that has ended is taken over, even if the id now belongs to this process", async () => {
  for (const pid of [await deadPid(), String(process.pid)]) {
    await writeFile(`${statePath}.lock`, `${pid}\n`);
    const started = await startService({ statePath });
    expect(await readFile(`${statePath}.lock`, "utf8")).toBe(`${process.pid}\n`);
    await started.stop();
  }
  expect(await readdir(directory)).toEqual(["state.json"]);
});

test("a lock without a process id is refused", async () => {
  await writeFile(`${statePath}.lock`, "");
  await expect(startService({ statePath })).rejects.toThrow(`remove ${statePath}.lock.`);
  expect(await readdir(directory)).toEqual(["state.json.lock"]);
});

test.for([
  ["service", startService],
  ["gateway", startGateway],
] as const)("a %s also locks its file within one process, until it stops", async ([, start]) => {
  const one = await start({ statePath });
  await expect(start({ statePath })).rejects.toThrow("is in use by process");
  await one.stop();
  const other = await start({ statePath });
  // The first one has nothing left to release.
  await one.stop();
  await expect(start({ statePath })).rejects.toThrow("is in use by process");
  await other.stop();
});

test.for([
  ["service", startService],
  ["gateway", startGateway],
] as const)("a %s that cannot listen releases its file", async ([, start]) => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  await expect(start({ statePath, port })).rejects.toThrow("EADDRINUSE");
  other.close();
  expect(await readdir(directory)).toEqual(["state.json"]);
});
