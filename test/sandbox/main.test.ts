// `npm run sandbox`, as people type it: a process of its own, with and without options.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const MAIN = fileURLToPath(new URL("../../sandbox/main.ts", import.meta.url));
const READY = /Countersign's sandbox is ready: open (http:\/\/127\.0\.0\.1:\d+\/)/;

type Sandbox = {
  /** The output up to the moment when the sandbox is ready, or has ended. */
  readonly begun: () => Promise<string>;
  readonly end: (signal: NodeJS.Signals) => Promise<unknown>;
  readonly ended: Promise<unknown>;
  readonly said: () => string;
  /** The entries that it left in the temporary folder. */
  readonly left: () => Promise<string[]>;
};

const sandbox = (...args: string[]): Promise<Sandbox> => sandboxWith({}, args);

async function sandboxWith(
  env: { readonly [name: string]: string },
  args: readonly string[],
): Promise<Sandbox> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-main-"));
  // PostgreSQL runs as another user if we are root.
  await chmod(folder, 0o755);
  const child = spawn(process.execPath, [MAIN, ...args], { env: { ...process.env, TMPDIR: folder, ...env } });
  let said = "";
  const { promise: ready, resolve } = Promise.withResolvers<string>();
  const append = (text: string): void => {
    said += text;
    if (READY.test(said)) resolve(said);
  };
  child.stdout.setEncoding("utf8").on("data", append);
  child.stderr.setEncoding("utf8").on("data", append);
  const ended = once(child, "close").then(([code]: unknown[]) => code);
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
    await rm(folder, { recursive: true, force: true });
  });
  return {
    begun: () => Promise.race([ready, ended.then(() => said)]),
    end: (signal) => (child.kill(signal), ended),
    ended,
    said: () => said,
    left: () => readdir(folder),
  };
}

test("without options it prints its address, even beside another sandbox, and leaves nothing behind", async () => {
  const [one, another] = [await sandbox(), await sandbox()];
  const urls = [one, another].map(async (each) => READY.exec(await each.begun())?.[1] ?? each.said());
  const [first = "", second = ""] = await Promise.all(urls);
  expect(first).toMatch(/^http:/);
  expect(second).toMatch(/^http:/);
  expect(second).not.toBe(first);
  for (const url of [first, second]) expect((await fetch(url)).status).toBe(200);
  expect(await one.end("SIGINT")).toBe(0);
  expect(await another.end("SIGTERM")).toBe(0);
  expect(one.said()).toMatch(/The sandbox is stopping…\nThe sandbox has ended\.\n$/);
  expect([...(await one.left()), ...(await another.left())]).toEqual([]);
});

test.for([{ options: [] }, { options: ["--postgres"] }])(
  "a sandbox with the options $options leaves nothing behind if it is ended while it starts",
  async ({ options }) => {
    const begins = await sandbox("--port", "0", ...options);
    await expect.poll(() => begins.left(), { timeout: 10_000, interval: 5 }).not.toEqual([]);
    expect(await begins.end("SIGINT")).toBe(0);
    expect(begins.said()).toBe("The sandbox is stopping…\nThe sandbox has ended.\n");
    expect(await begins.left()).toEqual([]);
  },
);

test("a requested port that is in use is reported, and the sandbox exits with 2", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === "object" ? String(address?.port) : "";
  const asked = await sandbox("--port", port);
  expect(await asked.ended).toBe(2);
  expect(asked.said()).toBe(`Port ${port} is in use. Choose another with --port, or leave the option out.\n`);
  expect(await asked.left()).toEqual([]);
});

test.for([
  [["--prot", "1"], "Unknown option '--prot'"],
  [["--port", "soon"], '--port takes a number, not "soon".'],
  [["--tempo", "-1"], "--tempo"],
  [["--replicas", "2"], "Several replicas need --postgres"],
  [["--postgres", "--replicas", "6"], '--replicas takes a whole number from 1 to 5, not "6".'],
  [["--postgres", "--replicas", "1.5"], "--replicas takes a whole number"],
] as const)("%j is refused with an explanation", async ([args, words]) => {
  const asked = await sandbox(...args);
  expect(await asked.ended).toBe(2);
  expect(asked.said()).toContain(words);
});

test("the bot gets the operator's deployment name, run page and approvers", async () => {
  const own = { DEPLOYMENT_NAME: "STAGING", RUN_URL: "https://runs.example/{run}", APPROVERS: "U0BEN" };
  const named = await sandboxWith(own, ["--port", "0"]);
  const url = READY.exec(await named.begun())?.[1] ?? named.said();
  const args = { person: "ana", channel: "ops-agents", text: "/agent run deploy billing-api" };
  await fetch(`${url}control/do`, {
    method: "POST",
    headers: { "x-sandbox-control": "1" },
    body: JSON.stringify({ act: "person.command", args }),
  });
  const cards = await fetch(`${url}control/messages?channel=ops-agents&contains=Approval%20needed&wait=20`);
  const shown = await cards.text();
  expect(shown).toContain("STAGING");
  expect(shown).toMatch(/https:\/\/runs\.example\/run_\w+/);
  expect(shown).toContain("U0BEN");
});

/** Resolves to the URL of the bot's health page, which only the bot itself prints. */
async function botOf({ begun, said }: Sandbox): Promise<string> {
  await begun();
  const botUrl = (): string => /"url":"(http:[^"]+)"[^\n]*Countersign is ready/.exec(said())?.[1] ?? "";
  await expect.poll(botUrl).toMatch(/^http:/);
  expect((await fetch(`${botUrl()}/readyz`)).status).toBe(200);
  return botUrl();
}

const isGone = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => false,
    () => true,
  );

test("a sandbox that is killed ends its bot, too", async () => {
  const killed = await sandbox("--port", "0", "--verbose");
  const bot = await botOf(killed);
  await killed.end("SIGKILL");
  await expect.poll(() => isGone(bot), { timeout: 5_000 }).toBe(true);
});

/** Resolves to the state of each replica and the URL of its health page. */
async function replicasAt(url: string): Promise<{ state: string; port: number }[]> {
  const answer = await fetch(new URL("control/replicas", url));
  return ((await answer.json()) as { replicas: { state: string; port: number }[] }).replicas;
}

test.for(["SIGINT", "SIGKILL"] as const)(
  "after %s, a sandbox with several replicas leaves no bot behind, not even a paused one, and no server",
  async (signal) => {
    const begun = await sandbox("--port", "0", "--postgres", "--replicas", "3");
    const url = READY.exec(await begun.begun())?.[1] ?? begun.said();
    await fetch(new URL("control/do", url), {
      method: "POST",
      headers: { "x-sandbox-control": "1" },
      body: JSON.stringify({ act: "bot.pause", args: { replica: "replica 2" } }),
    });
    const replicas = await replicasAt(url);
    expect(replicas.map(({ state }) => state)).toEqual(["running", "paused", "running"]);
    await begun.end(signal);
    for (const { port } of replicas)
      await expect.poll(() => isGone(`http://127.0.0.1:${port}/livez`), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => begun.left(), { timeout: 20_000 }).toEqual([]);
  },
);

test("a sandbox that fails removes its bot and folder, and prints one line that says why", async () => {
  const fails = 'process.on("SIGUSR2",()=>{throw(new(Error)("the\\nroof"))})';
  const env = { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(fails)}` };
  const failed = await sandboxWith(env, ["--port", "0", "--verbose"]);
  const bot = await botOf(failed);
  const before = failed.said().length;
  expect(await failed.end("SIGUSR2")).toBe(1);
  expect(await isGone(bot)).toBe(true);
  expect(failed.said().slice(before)).toBe("The sandbox failed and has ended: the roof\n");
  expect(await failed.left()).toEqual([]);
});
