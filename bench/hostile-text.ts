// Measures the longest stall of the bot's event loop while an approval contains 8 MiB of hostile text, or the list of approvals a great
// many values, which change at each poll. The bot reads, compares and stores them, draws the card and attaches the file. Each text and each
// structure is expensive in a different place.

import { fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld } from "#sandbox/world/world.ts";

export type Stall = { readonly text: string; readonly ms: number };

const TEXTS = {
  "plain words": "deploy it now ",
  "nearly keys": "sk-a1-",
  "nearly tokens of three parts": "eyJaaaaaaaa.",
  "names of secrets": "token=x ",
  "keys that are masked": `ghp_${"Ab1".repeat(12)} `,
  "words of two scripts": "\u0430p",
  "unseen characters": "\u200B",
  "marks out of order": "\u0301\u0323",
  "marks of a rare script": "\u2CEF",
  "joined pictures": "👩\u200D",
  "quotes and ends of lines": '"\n',
} as const;

/** Structures that `hostile-service.ts` sends. */
const SHAPES = [
  "1,500,000 empty records",
  "60,000 empty records",
  "20,000 records with a name twice",
  "1,900 records with a name twice",
  "300,000 names",
  "300,000 names in a record",
  "9,900 names",
  "2,900 names",
  "2,000,000 numbers",
  "9,900 numbers",
  "9,900 numbers in 59 actions, in 14 requests",
  "pictures as escapes",
  "99,000 marks of a rare script",
] as const;

const WAIT_MS = 60_000;
const PROBE = new URL("stall-probe.ts", import.meta.url).href;

/** Measures each text and structure for `ms`. */
export async function hostileStalls(ms: number): Promise<readonly Stall[]> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const [world, service] = await Promise.all([
    startWorld({ databaseUrl, slack: { rateLimits: false } }),
    startHostileService(),
  ]);
  const env = { ...world.env, AGENT_BASE_URL: service.url, NODE_OPTIONS: `--import ${PROBE}` };
  const bot = startBot({ ...env, LOG_LEVEL: "warn", POLL_MIN_MS: "200", POLL_MAX_MS: "400" });
  await bot.ready();
  await world.slack.acts.command("U0ANA", "C0OPSAGENTS", "/agent", "watch run_hostile");
  await service.looked(2);
  const stalls: Stall[] = [];
  const texts = Object.entries(TEXTS).map(([text, part]) => ({ text, says: { part } }));
  const shapes = SHAPES.map((shape) => ({ text: shape, says: { shape } }));
  for (const { text, says } of [...texts, ...shapes]) {
    await service.say(says);
    await service.looked(1);
    await longestStall(bot);
    await new Promise((resolve) => setTimeout(resolve, ms));
    stalls.push({ text, ms: await longestStall(bot) });
  }
  await bot.end("SIGKILL");
  service.stop();
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  return stalls;
}

/** Resolves to the longest stall since the last call (ms). */
async function longestStall(bot: BotProcess): Promise<number> {
  const before = stallsIn(bot).length;
  bot.signal("SIGUSR2");
  return until(() => stallsIn(bot)[before], "the bot's longest stall");
}

const stallsIn = (bot: BotProcess): number[] =>
  [...bot.printed().matchAll(/longest stall ([\d.]+) ms/g)].map(([, ms]) => Number(ms));

async function until<T>(look: () => T | undefined, what: string): Promise<T> {
  for (const deadline = Date.now() + WAIT_MS; Date.now() < deadline;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${what} did not come`);
}

async function startHostileService() {
  const child = fork(fileURLToPath(new URL("hostile-service.ts", import.meta.url)));
  let [port, looks, ready]: [number | undefined, number, string] = [undefined, 0, ""];
  child.on("message", (told: { port?: number; looks?: number; ready?: string }) => {
    port ??= told.port;
    looks = told.looks ?? looks;
    ready = told.ready ?? ready;
  });
  const url = `http://127.0.0.1:${await until(() => port, "the service's port")}`;
  return {
    url,
    async say(says: { part: string } | { shape: string }) {
      child.send(says);
      const said = Object.values(says)[0];
      await until(() => (ready === said ? true : undefined), "another text");
    },
    async looked(times: number) {
      const from = looks;
      await until(() => (looks >= from + times ? true : undefined), `${times} looks`);
    },
    stop: () => child.disconnect(),
  };
}
