// Checks that every link in the documents leads somewhere. Also runs the shell blocks of the README and the deploy page, except those that
// need Docker, a cluster, root or a clone.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { freePort } from "#sandbox/bot/free-port.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

const pages = [
  "README.md",
  "AGENTS.md",
  "SECURITY.md",
  "CHANGELOG.md",
  "sandbox/README.md",
  ...["docs", "docs/development"].flatMap((folder) =>
    readdirSync(join(ROOT, folder))
      .filter((name) => name.endsWith(".md"))
      .map((name) => `${folder}/${name}`),
  ),
];

/** Returns the anchor that GitHub creates for a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

const anchorsOf = (text: string): string[] =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) => anchorOf(heading));

test.each(pages)("every link of %s leads somewhere", (page) => {
  const text = read(page).replaceAll(/```.*?```/gs, "");
  const broken = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)]
    .map(([, link = ""]) => link)
    .filter((link) => {
      const [path = "", anchor] = link.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchorsOf(read(file)).includes(anchor);
    });
  expect(broken).toEqual([]);
});

test("the index of docs/ names every page", () => {
  const index = read("docs/README.md");
  const unnamed = readdirSync(join(ROOT, "docs"))
    .filter((name) => name.endsWith(".md") && name !== "README.md")
    .filter((name) => !index.includes(`(${name})`));
  expect(unnamed).toEqual([]);
});

test("the page for operators names each code of ours with which a decision waits", () => {
  const [, section = ""] = /### CountersignDecisionUnsent\n(.*?)\n### /s.exec(read("docs/operate.md")) ?? [];
  const sources = [
    "engine/check-before-sending",
    "engine/effect-executor",
    "adapters/policy-file/policy-holder",
  ];
  const codes = sources.flatMap((name) =>
    [...read(`src/${name}.ts`).matchAll(/\bcode: "(\w+)"/g)].map(([, code = ""]) => code),
  );
  expect(codes.length).toBeGreaterThan(6);
  expect(codes.filter((code) => !section.includes(`\`${code}\``))).toEqual([]);
});

test("the page for operators names each log line of a notification that could not be sent", () => {
  const [, section = ""] =
    /### CountersignNotificationsWait\n(.*?)\n### /s.exec(read("docs/operate.md")) ?? [];
  const source = read("src/notifications/send-notifications.ts");
  const lines = [...source.matchAll(/(?:warnQuietly|log\.error)\([^;]*?"([\w ]+)",?\s*\);/g)].map(
    ([, words = ""]) => words,
  );
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((words) => !section.includes(`\`${words}\``))).toEqual([]);
});

test("AGENTS.md is at most two pages long", () => {
  expect(read("AGENTS.md").split(/\s+/).length).toBeLessThanOrEqual(1_200);
});

const folder = mkdtempSync(join(tmpdir(), "countersign-docs-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Env = { readonly [name: string]: string };

/** Runs the text in a shell with its own process group, which is killed when the test ends. */
function shell(text: string, env: Env): { readonly child: ChildProcess; readonly printed: () => string } {
  const PATH = `${join(ROOT, "node_modules/.bin")}:${process.env["PATH"] ?? ""}`;
  const child = spawn("sh", ["-ec", text], { cwd: ROOT, env: { PATH, ...env }, detached: true });
  let printed = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (printed += String(data)));
  onTestFinished(() => killGroup(child));
  return { child, printed: () => printed };
}

/** The shell may be gone before the processes that it started. */
function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ESRCH")) throw error;
  }
}

const exitOf = async (child: ChildProcess): Promise<number | null> => {
  if (child.exitCode !== null) return child.exitCode;
  const [code] = (await once(child, "exit")) as [number | null];
  return code;
};

/** Checks the condition every 100 ms until it holds. Rejects with the printed text after 400 tries. */
async function until(holds: () => Promise<boolean>, printed: () => string): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds().catch(() => false)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`the condition never held; printed instead: ${printed()}`);
}

async function aWorld(): Promise<{ readonly world: World; readonly env: Env; readonly port: number }> {
  const port = await freePort();
  const database = join(mkdtempSync(join(folder, "world-")), "countersign.db");
  const world = await startWorld({ databaseUrl: `sqlite:${database}`, tempo: 0 });
  onTestFinished(() => world.stop());
  return { world, env: { ...world.env, PORT: String(port) }, port };
}

/** Waits until the bot is ready, then sends it SIGTERM and waits for its end. */
async function readyAndStop(started: ReturnType<typeof shell>, port: number): Promise<void> {
  const ready = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  await until(ready, started.printed);
  const { pid } = started.child;
  if (pid === undefined) throw new Error("no process");
  process.kill(-pid, "SIGTERM");
  await exitOf(started.child);
}

const blocksOf = (page: string): string[] =>
  [...read(page).matchAll(/^ *```sh\n(.*?)^ *```/gms)].map(([, text = ""]) => text.replaceAll(/^ {3}/gm, ""));

/** Removes the installation: tests use the packages that are already installed. */
const withoutInstalling = (text: string): string =>
  text.replaceAll(/^npm ci[^&\n]*(&& )?/gm, "").replaceAll(/^export .*$/gm, "");

const NEEDS = "needs what a test does not have";

/** Maps the first words of a block to the function that runs it here, or to the reason why it does not run. */
const BLOCKS: readonly (readonly [string, string | ((text: string) => Promise<void>)])[] = [
  ["npm ci && npm run sandbox", runsTheSandbox],
  ["npm ci && npm test", "it runs this test"],
  ["export SLACK_BOT_TOKEN", asksTheDoctorAndStarts],
  ["npm run check", "readme.test.ts checks its scripts; together they take many minutes"],
  ["npm ci --omit=dev", asksTheDoctorAndStarts],
  ["git clone", `${NEEDS}: root and systemd; deploy-systemd.test.ts checks the unit`],
  ["cd /opt/countersign", asksTheDoctorBesideTheUnit],
  ["docker compose", `${NEEDS}: Docker; deploy.test.ts and docker.test.ts check what it would run`],
  ["docker build", `${NEEDS}: Docker and a cluster; deploy-kubernetes.test.ts checks the manifests`],
  ["kubectl create configmap", `${NEEDS}: a cluster; deploy-kubernetes.test.ts checks the mount`],
  ["kubectl scale", `${NEEDS}: a cluster; deploy-kubernetes.test.ts checks the pod`],
];

async function runsTheSandbox(text: string): Promise<void> {
  const command = withoutInstalling(text).trim();
  const started = shell(`${command} -- --port 0`, { HOME: folder });
  const url = (): string => /http:\/\/(127\.0\.0\.1|localhost):\d+\S*/.exec(started.printed())?.[0] ?? "";
  await until(async () => url() !== "" && (await fetch(url())).ok, started.printed);
}

async function asksTheDoctorAndStarts(text: string): Promise<void> {
  const { env, port } = await aWorld();
  const file = join(folder, "countersign.env");
  const lines = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  const command = withoutInstalling(text).replaceAll("countersign.env", file);
  const started = shell(command, text.includes("--env-file") ? { HOME: folder } : { HOME: folder, ...env });
  await readyAndStop(started, port);
  expect(started.printed()).toContain("All is well");
}

/** Puts the files of an installed unit into a folder, with the secrets apart from the other variables. */
async function asksTheDoctorBesideTheUnit(text: string): Promise<void> {
  const { env } = await aWorld();
  const place = mkdtempSync(join(folder, "unit-"));
  const { SLACK_BOT_TOKEN = "", SLACK_APP_TOKEN = "", AGENT_API_KEY = "", DATABASE_URL: _, ...open } = env;
  const lines = Object.entries(open).map(([name, value]) => `${name}=${value}`);
  const unit = { "slack-bot-token": SLACK_BOT_TOKEN, "slack-app-token": SLACK_APP_TOKEN };
  const secrets = { ...unit, "agent-api-key": AGENT_API_KEY };
  for (const [name, value] of Object.entries({ ...secrets, "countersign.env": lines.join("\n") }))
    writeFileSync(join(place, name), `${value}\n`);
  const moved = (words: string): string =>
    words.replaceAll(/\/etc\/countersign(\/secrets)?|\/var\/lib\/countersign/g, place);
  writeFileSync(join(place, "shell.env"), moved(read("deploy/systemd/shell.env")));
  const command = moved(text).replace("cd /opt/countersign", "").replace("deploy/systemd", place);
  const asked = shell(command, { HOME: folder });
  expect([await exitOf(asked.child), asked.printed()]).toEqual([0, expect.stringContaining("All is well")]);
}

const found = ["README.md", "docs/deploy.md"].flatMap((page) =>
  blocksOf(page).map((text) => ({ page, text, title: `${page}: ${text.split("\n")[0] ?? ""}` })),
);

const ruleOf = (text: string) => BLOCKS.find(([words]) => text.startsWith(words))?.[1];

test("each shell block runs here, or has a reason why it does not", () => {
  expect(found.length).toBeGreaterThan(6);
  expect(found.filter(({ text }) => ruleOf(text) === undefined).map(({ title }) => title)).toEqual([]);
});

describe("the shell blocks that can run here", () => {
  const tried = found.filter(({ text }) => typeof ruleOf(text) === "function");
  test.each(tried)("$title", async ({ text }) => {
    const rule = ruleOf(text);
    if (typeof rule === "function") await rule(text);
  });
});
