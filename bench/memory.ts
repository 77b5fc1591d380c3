// Memory of a real bot process that watches ten thousand unfinished runs.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunId } from "#src/domain/ids.ts";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { aQuietRun } from "./runs.ts";

export type Memory = { readonly rssMb: number; readonly polls: number };

/** How long the runs have been quiet (ms, from and to): long enough that all are polled at the slowest pace. */
const QUIET_FROM_MS = 10 * 60_000;
const QUIET_TO_MS = 2 * 60 * 60_000;
/** A third of the usual 15 s, so that a minute of measuring is as many polls as three. */
const POLL_MAX_MS = 5_000;
const SAMPLE_MS = 1_000;
const CLEAR_MS = 50;

export async function memoryOf(size: { runs: number; ms: number }): Promise<Memory> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl });
  const store = await openStore({ url: databaseUrl, owner: "bench" });
  for (let index = 0; index < size.runs; index += 1) {
    const { id } = world.service.control.createRun("rotate the certificates forever");
    const quietMs = QUIET_FROM_MS + Math.random() * (QUIET_TO_MS - QUIET_FROM_MS);
    await store.insert(aQuietRun(RunId(id), index, quietMs), {});
  }
  await store.release();
  await store.close();
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn", POLL_MAX_MS: String(POLL_MAX_MS) });
  await bot.ready(120_000);
  // Recording the polls of ten thousand runs would slow the service down, and the bot with it.
  const clearing = setInterval(() => world.service.requests.clear(), CLEAR_MS);
  const highest = await sample(bot, size);
  clearInterval(clearing);
  await bot.end("SIGTERM");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  return highest;
}

/** The highest value that was measured. Rejects if the bot does not watch the expected number of runs. */
async function sample(bot: BotProcess, { runs, ms }: { runs: number; ms: number }): Promise<Memory> {
  let rssMb = 0;
  for (const until = Date.now() + ms; ;) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const text = await (await fetch(`${bot.url}/metrics`)).text();
    rssMb = Math.max(rssMb, valueOf(text, "process_resident_memory_bytes") / 2 ** 20);
    if (Date.now() < until) continue;
    const watched = valueOf(text, "countersign_runs_watched");
    if (watched !== runs)
      throw new Error(`the bot watches ${watched} runs in place of ${runs}:\n${bot.printed()}`);
    return { rssMb, polls: valueOf(text, 'countersign_polls_total{outcome="snapshot"}') };
  }
}

function valueOf(text: string, name: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? Number.NaN);
}
