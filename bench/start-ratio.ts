// Compares how long Countersign and a Bolt app that does nothing take from the start of the process to the socket at Slack. They take
// turns, with an existing database. The first start of each does not count.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { pause, quantile } from "./deciding.ts";

export type Starts = { readonly oursMs: number; readonly bareMs: number; readonly ratio: number };

const BARE = fileURLToPath(new URL("bare-bolt.ts", import.meta.url));
const ASK_EVERY_MS = 2;

export async function startRatio(rounds: number): Promise<Starts> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const world = await startWorld({ databaseUrl: `sqlite:${join(folder, "bot.db")}` });
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round <= rounds; round += 1) {
    const times = [await toSocket(world), await toSocket(world, BARE)] as const;
    if (round === 0) continue;
    ours.push(times[0]);
    bare.push(times[1]);
  }
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  const [oursMs, bareMs] = [quantile(ours, 0.5), quantile(bare, 0.5)];
  return { oursMs, bareMs, ratio: oursMs / bareMs };
}

async function toSocket({ env, slack }: World, program?: string): Promise<number> {
  const from = performance.now();
  const bot = startBot({ ...env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  while (slack.sockets.connections() === 0) await pause(ASK_EVERY_MS);
  const ms = performance.now() - from;
  await bot.ready();
  await bot.end("SIGTERM");
  while (slack.sockets.connections() > 0) await pause(ASK_EVERY_MS);
  return ms;
}
