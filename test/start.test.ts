// The bot as a process before Slack answers: it reports its state, and it can be stopped.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { digestOf } from "#src/adapters/policy-file/policy-holder.ts";
import { inheritedEnv } from "./make/child-env.ts";
import { policyFile } from "./make/policy.ts";

type Env = { readonly [name: string]: string };
type Starting = { readonly bot: BotProcess; readonly asked: Promise<unknown> };

/** Starts a bot whose Slack accepts every call and never answers. */
async function starting(more: Env = {}): Promise<Starting> {
  const { env, asked } = await surroundings();
  const bot = startBot({ ...env, ...more });
  onTestFinished(async () => void (await bot.end("SIGKILL")));
  return { bot, asked };
}

type Surroundings = { readonly env: Env; readonly asked: Promise<unknown> };

async function surroundings(slack: Server = createServer()): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-start-"));
  slack.listen(0, "127.0.0.1");
  await once(slack, "listening");
  const env = {
    SLACK_BOT_TOKEN: "xoxb-1",
    SLACK_APP_TOKEN: "xapp-1",
    SLACK_API_URL: `http://127.0.0.1:${portOf(slack)}/api/`,
    AGENT_BASE_URL: "http://127.0.0.1:9",
    AGENT_API_KEY: "a-key",
    DATABASE_URL: `sqlite:${join(folder, "countersign.db")}`,
    HOST: "127.0.0.1",
    PORT: String(await unusedPort()),
  };
  onTestFinished(async () => {
    slack.closeAllConnections();
    slack.close();
    await rm(folder, { recursive: true, force: true });
  });
  return { env, asked: once(slack, "request") };
}

function portOf(server: Server): number {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = portOf(server);
  server.close();
  await once(server, "close");
  return port;
}

test("it is alive and reports that Slack has not been reached yet", async () => {
  const { bot, asked } = await starting();
  await asked;
  expect((await fetch(`${bot.url}/livez`)).status).toBe(200);
  const ready = await fetch(`${bot.url}/readyz`);
  expect(ready.status).toBe(503);
  expect(await ready.text()).toContain("not reached yet");
  const metrics = await (await fetch(`${bot.url}/metrics`)).text();
  expect(metrics).toContain("countersign_slack_connected 0");
  expect(metrics).not.toContain("countersign_part_healthy{");
});

test("SIGTERM ends it at once, with exit code 0", async () => {
  const { bot, asked } = await starting();
  await asked;
  expect(await bot.end("SIGTERM")).toBe(0);
});

test.for([
  ["alone", {}],
  ["with the audit", { AUDIT_SINK: "stdout" }],
])("a disk that is full under its log (%s) neither ends it nor keeps it from ending", async ([, more]) => {
  const { env, asked } = await surroundings();
  const full = openSync("/dev/full", "w");
  const bot = spawn(process.execPath, [fileURLToPath(new URL("../src/main.ts", import.meta.url))], {
    env: { ...inheritedEnv(), ...env, ...(more as Env) },
    stdio: ["ignore", full, "inherit"],
  });
  onTestFinished(() => {
    bot.kill("SIGKILL");
    closeSync(full);
  });
  await asked;
  expect((await fetch(`http://127.0.0.1:${env["PORT"]}/livez`)).status).toBe(200);
  bot.kill("SIGTERM");
  expect(await once(bot, "exit")).toEqual([0, null]);
});

test("SIGUSR1 neither opens a debugger nor ends the bot", async () => {
  const { bot, asked } = await starting();
  await asked;
  bot.signal("SIGUSR1");
  for (let time = 0; time < 20; time += 1) expect((await fetch(`${bot.url}/livez`)).status).toBe(200);
  expect(bot.printed()).not.toMatch(/debugger/i);
});

/** Starts a bot that ends by itself, and resolves to what it prints and to the entries in its audit. */
async function failing(
  env: Env,
): Promise<{ readonly printed: string; readonly entries: readonly unknown[] }> {
  const bot = startBot(env);
  onTestFinished(async () => void (await bot.end("SIGKILL")));
  expect(await bot.exited).toBe(1);
  return { printed: bot.printed(), entries: query(env, "select entry from audit") };
}

function query(env: Env, statement: string): readonly unknown[] {
  const database = new DatabaseSync((env["DATABASE_URL"] ?? "").replace("sqlite:", ""), { readOnly: true });
  const rows = database.prepare(statement).all();
  database.close();
  return rows;
}

/** A Slack that gives these answers, by method. It answers no other call. */
const answering = (answers: { readonly [method: string]: (token: string) => object }): Server =>
  createServer(({ url = "", headers }, response) => {
    const answer = answers[url.replace("/api/", "")]?.(headers.authorization ?? "");
    if (answer === undefined) return;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answer));
  });

test("a start whose token Slack refuses writes nothing into the audit, and so puts no policy into force", async () => {
  const { env } = await surroundings(
    answering({ "auth.test": () => ({ ok: false, error: "invalid_auth" }) }),
  );
  const { printed, entries } = await failing(env);
  expect(printed).toContain("Slack refuses SLACK_BOT_TOKEN (invalid_auth)");
  expect(entries).toEqual([]);
});

test("a start whose app token Slack refuses writes nothing into the audit either", async () => {
  const byToken = new Map([
    ["Bearer xoxb-1", { ok: true, team_id: "T0ACME", user_id: "U0COUNTERSIGN", bot_id: "B0COUNTERSIGN" }],
    ["Bearer xapp-1", { ok: false, error: "invalid_auth" }],
  ]);
  const slack = answering({
    "auth.test": (token) => byToken.get(token) ?? {},
    "bots.info": () => ({ ok: true, bot: { app_id: "A0COUNTERSIGN" } }),
    "apps.connections.open": () => ({ ok: false, error: "invalid_auth" }),
  });
  const { env } = await surroundings(slack);
  const { printed, entries } = await failing(env);
  expect(printed).toContain("Slack refuses SLACK_APP_TOKEN (invalid_auth)");
  expect(entries).toEqual([]);
});

test("a start whose port is in use writes nothing into the audit, and so puts no policy into force", async () => {
  const { env } = await surroundings();
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const { printed, entries } = await failing({ ...env, PORT: String(portOf(other)) });
  expect(printed).toContain("cannot listen on");
  expect(entries).toEqual([]);
});

test("a policy that is written while the start waits for Slack is the one that comes into force", async () => {
  const policy = (name: string): string => `rules:\n  - { name: ${name}, approvers: anyone }\n`;
  const file = policyFile(policy("first"));
  const { promise: follows, resolve } = Promise.withResolvers<undefined>();
  const slack = answering({
    "auth.test": () => {
      file.write(policy("second"));
      return { ok: true, team_id: "T0ACME", user_id: "U0COUNTERSIGN", bot_id: "B0COUNTERSIGN" };
    },
    "bots.info": () => ({ ok: true, bot: { app_id: "A0COUNTERSIGN" } }),
    "apps.connections.open": () => {
      resolve(undefined);
      return { ok: false, error: "internal_error" };
    },
  });
  const { env } = await surroundings(slack);
  const bot = startBot({ ...env, POLICY_FILE: file.path });
  onTestFinished(async () => void (await bot.end("SIGKILL")));
  await follows;
  const loaded = query(env, "select digest from audit_texts where text like 'rules:%'");
  expect(loaded).toEqual([{ digest: digestOf(policy("second")) }]);
});

test("only the first start on an empty database with a given AUDIT_KEY warns that this may not be its database", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-first-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const warnings = async (name: string, more: Env): Promise<readonly string[]> => {
    const DATABASE_URL = `sqlite:${join(folder, name)}`;
    const { bot, asked } = await starting({ DATABASE_URL, LOG_LEVEL: "warn", ...more });
    await asked;
    await bot.end("SIGTERM");
    return bot
      .printed()
      .split("\n")
      .filter((line) => /first start|created a key/.test(line));
  };
  const given = { AUDIT_KEY: Buffer.alloc(32, 7).toString("base64") };
  const [warning = "", ...others] = await warnings("given.db", given);
  expect(others).toEqual([]);
  expect(warning).toMatch(
    /"database":"\S+given\.db".*first start.*If Countersign ran before.*docs\/backup\.md/,
  );
  expect(await warnings("given.db", given)).toEqual([]);
  expect(await warnings("made.db", {})).toMatchObject([expect.stringContaining("created a key")]);
});

test("it starts without a writable folder for compiled modules", async () => {
  const { asked } = await starting({ NODE_COMPILE_CACHE: fileURLToPath(`${import.meta.url}/no-folder`) });
  await asked;
});

test("a start from the cache of compiled modules loads neither Node's TypeScript parser nor Node's own fetch", async () => {
  const printModules = "process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))";
  const loaded = async (): Promise<string> => {
    const { bot, asked } = await starting({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURI(printModules)}`,
    });
    await asked;
    await bot.end("SIGTERM");
    return bot.printed();
  };
  // The first start fills the cache.
  await loaded();
  const printed = await loaded();
  expect(printed).toContain("NativeModule sqlite");
  expect(printed).not.toMatch(/internal\/deps\/(amaro|undici)/);
});

test("package.json, the image and the README start it with the same command", () => {
  const command =
    /--import=\.\/src\/compile-cache\.js --max-semi-space-size=2 --preserve-symlinks --disable-sigusr1 src\/main\.ts/;
  const read = (name: string): string => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
  expect(read("package.json")).toMatch(command);
  expect(read("README.md").replaceAll("\n", " ")).toMatch(command);
  expect(read("Dockerfile").replaceAll('", "', " ")).toMatch(command);
});
