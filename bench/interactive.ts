// Measures two waits of people while the bot is busy: for the acknowledgement of a command, and for the form after a press.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld } from "#sandbox/world/world.ts";
import { addChannel, addPerson, isOpenCard, pause, quantile, range, withBot } from "./deciding.ts";

const COMMANDS_PER_SECOND = 50;
const CHANNELS = 5;
const WARM = 20;

/** Measures the time from a command that starts a run to its acknowledgement (p99, ms). */
export async function ackTimes(seconds: number, program?: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  await bot.ready();
  const channels = range(CHANNELS).map((index) => addChannel(world, index));
  const start = performance.now();
  const taken = await Promise.all(
    range(seconds * COMMANDS_PER_SECOND + WARM).map(async (nth) => {
      await pause(Math.max(start + (nth * 1_000) / COMMANDS_PER_SECOND - performance.now(), 0));
      const from = performance.now();
      const channel = channels[nth % CHANNELS] ?? "";
      const { ok } = await world.slack.acts.command("U0ANA", channel, "/agent", `run task ${nth} forever`);
      if (!ok) throw new Error("the bot did not accept a command");
      return performance.now() - from;
    }),
  );
  await bot.end("SIGKILL");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  return quantile(taken.slice(WARM), 0.99);
}

const QUEUED = 500;
const CARDS_MS = 60_000;
/** Each press is by another person, and the bot looks up at most ninety people a minute. This pace keeps below that limit. */
const BETWEEN_MS = 700;

/** Measures the time from a press of Approve to the form (p99, ms), while 500 messages in another channel wait for Slack's limits. */
export function modalOpenTimes(presses: number): Promise<number> {
  return withBot(async (world) => {
    const { workspace, acts } = world.slack;
    const [quiet, busy] = [addChannel(world, 0), addChannel(world, 1)];
    const run = world.service.control.createRun("release forever");
    world.service.control.addApproval(run.id, { action: "Deploy the release", details: { tool: "deploy" } });
    await acts.command("U0ANA", quiet, "/agent", `watch ${run.id}`);
    const open = () => workspace.messages.find(isOpenCard);
    const card = await workspace.until(open, { timeoutMs: CARDS_MS, what: "a card" });
    for (const nth of range(QUEUED)) {
      const { id } = world.service.control.createRun(`part ${nth} forever`);
      await acts.command("U0ANA", busy, "/agent", `watch ${id}`);
    }
    const block = card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
    const taken: number[] = [];
    for (const nth of range(presses)) {
      const person = `U0OPENS${nth}`;
      addPerson(world, person);
      const from = performance.now();
      await acts.click(person, { channel: card.channel, ts: card.ts }, block, "card_approve");
      await workspace.until(() => workspace.viewsOf(person)[0], { timeoutMs: CARDS_MS, what: "a form" });
      taken.push(performance.now() - from);
      await pause(BETWEEN_MS);
    }
    const posted = workspace.messages.filter(
      ({ channel, ephemeralFor }) => channel === busy && ephemeralFor === null,
    ).length;
    if (posted > QUEUED / 2) throw new Error(`only ${QUEUED - posted} posts were waiting at the end`);
    return quantile(taken, 0.99);
  });
}
