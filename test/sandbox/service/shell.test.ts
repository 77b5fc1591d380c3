import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { profileTable } from "#sandbox/service/profile-table.ts";
import { helpText, readOptions } from "#sandbox/service/shell-options.ts";
import { tasks } from "#sandbox/service/tasks.ts";

const main = fileURLToPath(import.meta.resolve("#sandbox/serve.ts"));

const children = new Set<ReturnType<typeof spawn>>();
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
});

/** Resolves to the process, once it has printed where it listens. */
async function start(...args: string[]) {
  const child = spawn(process.execPath, [
    main,
    "--port",
    "0",
    "--gateway-port",
    "0",
    "--tempo",
    "0",
    ...args,
  ]);
  children.add(child);
  const exited = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const line = async () => (await lines.next()).value ?? "";
  const second = async () => (await line()).split(/ {2,}/)[1] ?? "";
  const [service, key, gateway, gatewayKey] = [
    await second(),
    await second(),
    await second(),
    await second(),
  ];
  return { child, exited, line, service, key, gateway, gatewayKey };
}

type Started = Awaited<ReturnType<typeof start>>;

async function post({ service, key }: Pick<Started, "service" | "key">, path: string, body: object) {
  const response = await fetch(`${service}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

test("started from a shell, both listen where they say, accept the keys that they print, and stop on a signal", async () => {
  const started = await start();
  expect((await post(started, "/v1/agent/runs", { input: "Just say hello" })).status).toBe(201);
  expect((await fetch(`${started.gateway}/healthz`)).status).toBe(200);
  started.child.kill("SIGTERM");
  expect(await started.exited).toEqual([0, null]);
});

test("the usage report is printed on request and at the end, without the key", async () => {
  const { child, exited, line, gateway, gatewayKey } = await start();
  child.kill("SIGUSR2");
  expect(await line()).toBe("Token usage: nothing yet.");
  const asked = { model: "text-embedding-3-small", input: "one two three" };
  expect((await post({ service: gateway, key: gatewayKey }, "/v1/embeddings", asked)).status).toBe(200);
  child.kill("SIGTERM");
  const report = [await line(), await line(), await line(), await line(), await line()].join("\n");
  expect(report).toMatch(/^Token usage\n.*\n {2}key-\w{8} +.* embeddings +1 +0 +3 +0\n/);
  expect(report).not.toContain(gatewayKey);
  expect(await exited).toEqual([0, null]);
});

test("a control port is opened on request, and its acts change the service", async () => {
  const started = await start("--control-port", "0");
  const control = (await started.line()).split(/ {2,}/)[1] ?? "";
  const act = async (name: string, args: object, headers: Record<string, string>) => {
    const body = JSON.stringify({ act: name, args });
    return fetch(`${control}/do`, { method: "POST", headers, body });
  };
  expect((await act("service.profile", { createStatus: 202 }, {})).status).toBe(403);
  expect((await post(started, "/v1/agent/runs", { input: "Just say hello" })).status).toBe(201);
  const own = { "x-sandbox-control": "1" };
  expect((await act("service.profile", { createStatus: 202 }, own)).status).toBe(200);
  expect((await post(started, "/v1/agent/runs", { input: "Just say hello" })).status).toBe(202);
  started.child.kill("SIGTERM");
  expect(await started.exited).toEqual([0, null]);
});

test("nothing that was answered is lost, however the process ends", async () => {
  const directory = await mkdtemp(join(tmpdir(), "service-"));
  const state = join(directory, "state.json");
  /** Maps each run to whether its decision was answered, too. */
  const answered = new Map<string, boolean>();

  async function oneLife(started: Started) {
    const { json } = await post(started, "/v1/agent/runs", { input: "Deploy billing" });
    const id = String(json["id"]);
    answered.set(id, false);
    for (;;) {
      const asked = await post(started, `/v1/agent/runs/${id}/approvals/none`, { decision: "approve" });
      const run = await runAt(started, id);
      const [approval] = (run["pending_approvals"] ?? []) as { id: string }[];
      if (approval === undefined) continue;
      expect(asked.status).toBe(404);
      const path = `/v1/agent/runs/${id}/approvals/${approval.id}`;
      if ((await post(started, path, { decision: "deny", reason: "no" })).status === 200)
        answered.set(id, true);
      return;
    }
  }

  for (let round = 1; round <= 3; round += 1) {
    const started = await start("--state", state, "--key", "the-key");
    const withKey = { ...started, key: "the-key" };
    const target = round * 15;
    const lives = Array.from({ length: 4 }, async () => {
      for (;;) {
        await oneLife(withKey);
        if ([...answered.values()].filter(Boolean).length >= target) started.child.kill("SIGKILL");
      }
    });
    await Promise.allSettled(lives);
    expect(await started.exited).toEqual([null, "SIGKILL"]);
  }

  const last = { ...(await start("--state", state, "--key", "the-key")), key: "the-key" };
  expect([...answered.values()].filter(Boolean).length).toBeGreaterThanOrEqual(45);
  for (const [id, decided] of answered) {
    const run = await runAt(last, id);
    expect(run["id"]).toBe(id);
    expect(decided && run["status"] === "awaiting_approval").toBe(false);
  }
  last.child.kill("SIGTERM");
  await last.exited;
  await rm(directory, { recursive: true });
});

async function runAt({ service, key }: Started, id: string): Promise<Record<string, unknown>> {
  const response = await fetch(`${service}/v1/agent/runs/${id}`, {
    headers: { authorization: `Bearer ${key}` },
  });
  return (await response.json()) as Record<string, unknown>;
}

test.for([
  [["--tempo", "fast"], "--tempo must be a number"],
  [["--prot", "1"], "Unknown option '--prot'"],
  [["--port", "0", "--state", "/no/such/place/state.json"], "/no/such/place"],
  [["--profile", "denyWord=approve"], '"denyWord" takes a word other than approve.'],
] as const)("%j is refused with one line", async ([args, words]) => {
  const { code, lines } = await refused(...args);
  expect(code).toBe(2);
  expect(lines).toEqual([expect.stringContaining(words)]);
});

test("a port in use is reported, with advice", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const { code, lines } = await refused("--port", "0", "--gateway-port", String(port));
  taken.close();
  expect(code).toBe(2);
  expect(lines).toEqual([
    `Port ${port} is in use. Choose another with --gateway-port, or use 0 for any free port.`,
  ]);
});

async function refused(...args: string[]) {
  const child = spawn(process.execPath, [main, ...args]);
  children.add(child);
  const chunks: string[] = [];
  child.stderr.setEncoding("utf8").on("data", (text: string) => chunks.push(text));
  const [code] = (await once(child, "close")) as [number];
  return { code, lines: chunks.join("").trim().split("\n") };
}

test("all faults of the options are reported together", () => {
  const numbers = ["--port", "70000", "--tempo=-1", "--gateway-limit", "x"];
  const switches = ["decideStatus=500", "nothing=1", "denyWord"].flatMap((one) => ["--profile", one]);
  const lines = faultsOf(() => readOptions([...numbers, ...switches, "--key", "two words"]));
  expect(lines).toEqual([
    expect.stringContaining("--gateway-limit must be a number"),
    expect.stringContaining('--port must be a number from 0 to 65535; given: "70000".'),
    expect.stringContaining("--tempo must be a number"),
    '"decideStatus" takes 200 | 201 | 202 | 204.',
    'There is no switch "nothing". --help lists all switches.',
    '--profile takes switch=value, for example denyWord=reject; given: "denyWord".',
    expect.stringContaining("A key must consist of visible ASCII characters"),
  ]);
});

function faultsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    return error instanceof Error ? error.message.split("\n") : [];
  }
  return [];
}

test("switches are parsed by type: numbers, yes and no, null, and texts with spaces and signs", () => {
  const given = [
    "createStatus=202",
    "readEchoesInput=true",
    "runningState=null",
    "pendingShape=id and action",
  ];
  const words = ["denyWord=a=b", "deniedStatus=7"];
  expect(readOptions([...given, ...words].flatMap((one) => ["--profile", one]))).toMatchObject({
    profile: {
      createStatus: 202,
      readEchoesInput: true,
      runningState: null,
      pendingShape: "id and action",
      denyWord: "a=b",
      deniedStatus: "7",
    },
  });
});

test("--help shows the meaning, the choices and the default of every switch, and every choice is accepted", () => {
  const help = helpText();
  for (const { name, what, allowed, usual, choices } of profileTable) {
    expect(help).toContain(`  ${name.padEnd(22)} ${what}\n`);
    expect(help).toContain(`${allowed} (${usual})`);
    for (const value of choices ?? [usual]) {
      expect(readOptions(["--profile", `${name}=${value}`])).toMatchObject({ profile: { [name]: value } });
    }
  }
  for (const { words, what } of tasks) expect(help).toContain(`${words.padEnd(22)} ${what}`);
});
