// Measures the time from a submitted modal to the first change that the person sees: the card says at least that the decision is recorded.
// Ten people decide in one channel within twenty seconds, and Slack enforces its rate limits.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { isOpenCard, openForm, quantile } from "./deciding.ts";

export type Feedback = { readonly p50Ms: number; readonly p99Ms: number; readonly decisions: number };

const DECISIONS = 10;
/** Fewer than become a listing (domain/listing.ts). */
const PER_RUN = 5;
const WITHIN_MS = 20_000;
const CHANNEL = "C0OPSAGENTS";
const CARDS_MS = 60_000;

export async function submitFeedback(): Promise<Feedback> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: true } });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" });
  await bot.ready();
  const cards = await putUpCards(world);
  const taken = await Promise.all(
    cards.map(async (card, index) => {
      await pause((index * WITHIN_MS) / DECISIONS);
      return feedbackOn(world, card, `U0FEEDBACK${index}`);
    }),
  );
  await bot.end("SIGKILL");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  return { p50Ms: quantile(taken, 0.5), p99Ms: quantile(taken, 0.99), decisions: taken.length };
}

async function putUpCards({ slack: { workspace, acts }, service }: World): Promise<Message[]> {
  for (let first = 0; first < DECISIONS; first += PER_RUN) {
    const run = service.control.createRun("release forever");
    for (let nth = first; nth < first + PER_RUN; nth += 1)
      service.control.addApproval(run.id, { action: `Deploy part ${nth}`, details: { tool: "deploy" } });
    const { ok } = await acts.command("U0ANA", CHANNEL, "/agent", `watch ${run.id}`);
    if (!ok) throw new Error("the bot did not take a command");
  }
  const cards = () => workspace.messages.filter(isOpenCard);
  const what = `${DECISIONS} cards`;
  await workspace.until(() => cards().length >= DECISIONS, { timeoutMs: CARDS_MS, what });
  return cards().slice(0, DECISIONS);
}

async function feedbackOn(world: World, card: Message, person: string): Promise<number> {
  const submit = await openForm(world, card, person);
  const from = performance.now();
  const submitted = submit();
  await world.slack.workspace.until(() => !isOpenCard(card), { timeoutMs: CARDS_MS, what: "a decided card" });
  const ms = performance.now() - from;
  await submitted;
  return ms;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
