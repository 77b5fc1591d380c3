// Measures a real bot process that watches many unfinished runs: its memory, what it writes while nothing happens, and the time from a new
// request to its card. The rival bot does the same with the same runs.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openStore } from "#src/adapters/store/open.ts";
import { RunId } from "#src/domain/ids.ts";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { addChannel, isOpenCard, pause, quantile, range } from "./deciding.ts";
import { aQuietRun } from "./runs.ts";

export type Watching = {
  /** The highest measured value. */
  readonly rssMb: number;
  /** NaN for the rival bot, which stores nothing. */
  readonly writesPerPoll: number;
  /** NaN if no cards were measured. */
  readonly latencyP99Ms: number;
};

export type WatchSize = { readonly runs: number; readonly ms: number; readonly cards: number };

/** How long the runs have been quiet (ms, shortest and longest): long enough that all are polled at the slowest pace. */
const QUIET_FROM_MS = 10 * 60_000;
const QUIET_TO_MS = 2 * 60 * 60_000;
/** Two thirds of the usual 15 s, so that a shorter measurement has as many polls. */
const POLL_MS = 10_000;
const SAMPLE_MS = 1_000;
const CLEAR_MS = 50;
const CARDS_MS = 60_000;
/** Few enough that Slack's limit of conversations.info is not what is measured: the bot looks up at most 42 new channels a minute. */
const CHANNELS = 40;
export const RIVAL = fileURLToPath(new URL("rival-bot.ts", import.meta.url));

export async function watching(size: WatchSize, rival = false): Promise<Watching> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  const ids = range(size.runs).map(
    () => world.service.control.createRun("rotate the certificates forever").id,
  );
  const list = join(folder, "runs");
  await (rival ? writeFile(list, ids.join("\n")) : storeRuns(databaseUrl, ids));
  const env = {
    ...world.env,
    LOG_LEVEL: "warn",
    POLL_MIN_MS: String(POLL_MS),
    POLL_MAX_MS: String(POLL_MS),
    ...(rival ? { RIVAL_RUNS: list } : {}),
  };
  const bot = startBot(env, rival ? { program: RIVAL } : {});
  await bot.ready(120_000);
  // The recorded polls of ten thousand runs would slow down the service, and with it the bot.
  const clearing = setInterval(() => world.service.requests.clear(), CLEAR_MS);
  try {
    const idle = await sample(bot, size);
    return { ...idle, latencyP99Ms: await latencies(world, size.cards) };
  } finally {
    clearInterval(clearing);
    await bot.end("SIGKILL");
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function storeRuns(url: string, ids: readonly string[]): Promise<void> {
  const store = await openStore({ url, owner: "bench" });
  for (const [index, id] of ids.entries()) {
    const quietMs = QUIET_FROM_MS + Math.random() * (QUIET_TO_MS - QUIET_FROM_MS);
    await store.insert(aQuietRun(RunId(id), index, quietMs), {});
  }
  await store.release();
  await store.close();
}

/** Rejects if the bot does not watch the expected number of runs. */
async function sample(bot: BotProcess, { runs, ms }: WatchSize): Promise<Omit<Watching, "latencyP99Ms">> {
  // The first poll of each run is compared with the store. Later polls are the common case.
  await pause(POLL_MS);
  const first = await metricsOf(bot);
  let rssMb = 0;
  for (const until = Date.now() + ms; ;) {
    await pause(SAMPLE_MS);
    const now = await metricsOf(bot);
    rssMb = Math.max(rssMb, now("process_resident_memory_bytes") / 2 ** 20);
    if (Date.now() < until) continue;
    const watched = now("countersign_runs_watched");
    if (watched !== runs)
      throw new Error(`the bot watches ${watched} runs instead of ${runs}:\n${bot.printed()}`);
    const rise = (name: string): number => now(name) - first(name);
    const polls = rise('countersign_polls_total{outcome="snapshot"}');
    return { rssMb, writesPerPoll: rise("countersign_store_commit_duration_seconds_count") / polls };
  }
}

async function metricsOf(bot: BotProcess): Promise<(name: string) => number> {
  const lines = (await (await fetch(`${bot.url}/metrics`)).text()).split("\n");
  return (name) => {
    const line = lines.find((each) => each.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  };
}

/** Measures the time from a new request to its card, minus one polling interval (p99, ms). */
async function latencies(world: World, cards: number): Promise<number> {
  if (cards === 0) return Number.NaN;
  const { workspace, acts } = world.slack;
  const { control } = world.service;
  const watched = await Promise.all(
    range(cards).map(async (index) => {
      const channel = addChannel(world, index % CHANNELS);
      const { id } = control.createRun("release forever");
      await acts.command("U0ANA", channel, "/agent", `watch ${id}`);
      return { channel, id };
    }),
  );
  await pause(POLL_MS);
  const late = watched.map(async ({ channel, id }, nth) => {
    await pause((nth * POLL_MS) / cards);
    const from = performance.now();
    const action = `Deploy part ${nth} of the release`;
    control.addApproval(id, { action, details: { tool: "deploy" } });
    const isThere = (each: Message): boolean =>
      each.channel === channel && isOpenCard(each) && JSON.stringify(each.blocks).includes(action);
    const there = () => workspace.messages.some(isThere);
    await workspace.until(there, { timeoutMs: CARDS_MS, what: "a card" });
    return performance.now() - from - POLL_MS;
  });
  return quantile(await Promise.all(late), 0.99);
}
