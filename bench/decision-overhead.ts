// Measures the time from a submitted modal to the arrival of its decision at the service, minus the time of one direct call. It includes
// looking up the person, two reads of the run, two commits to disk, and a new connection for the POST.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { addChannel, isOpenCard, openForm, pause, quantile, range } from "./deciding.ts";

export type Overhead = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The median time of a direct call. */
  readonly directMs: number;
  readonly decisions: number;
};

/** Slack accepts about one message a second in a channel, so the cards are spread over several channels, fewer in each run than
 * become a listing (domain/listing.ts). */
const PER_CHANNEL = 4;
/** One bot can add buttons to about fifty cards a minute, the limit of chat.update. More decisions need more bots. */
const PER_WORLD = 40;
const CARDS_MS = 120_000;
/** In its first seconds, a bot reads all runs a few times (notices, reminders, outages), which is not what is measured. */
const SETTLED_MS = 6_000;
/** How many decisions of each bot do not count, because V8 is still compiling. */
const WARM = 10;

type Times = { readonly taken: readonly number[]; readonly direct: readonly number[] };

/** One bot runs at a time: on few cores, the polls of others would be measured as well. */
export async function decisionOverhead(decisions: number, program?: string): Promise<Overhead> {
  const times: Times[] = [];
  for (let done = 0; done < decisions; done += PER_WORLD) times.push(await decideInNewWorld(program));
  const directMs = quantile(
    times.flatMap(({ direct }) => direct),
    0.5,
  );
  const over = times.flatMap(({ taken }) => taken.map((ms) => ms - directMs));
  return { p50Ms: quantile(over, 0.5), p99Ms: quantile(over, 0.99), directMs, decisions: over.length };
}

async function decideInNewWorld(program: string | undefined): Promise<Times> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  try {
    await bot.ready();
    const settled = pause(SETTLED_MS);
    const cards = await putUpCards(world, PER_WORLD + WARM);
    await settled;
    return await decideAll(world, cards);
  } finally {
    await bot.end("SIGKILL");
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function decideAll(world: World, cards: readonly Message[]): Promise<Times> {
  const taken: number[] = [];
  const direct: number[] = [];
  for (const [index, card] of cards.entries()) {
    const ms = await decide(world, card, index);
    if (index < WARM) continue;
    taken.push(ms);
    direct.push(await callDirectly(world));
  }
  return { taken, direct };
}

async function putUpCards(world: World, wanted: number): Promise<Message[]> {
  const { slack, service } = world;
  const { workspace, acts } = slack;
  for (const index of range(Math.ceil(wanted / PER_CHANNEL))) {
    const channel = addChannel(world, index);
    const run = service.control.createRun("release forever");
    for (const nth of range(PER_CHANNEL))
      service.control.addApproval(run.id, {
        action: `Deploy part ${nth} of ${channel}`,
        details: { tool: "deploy" },
      });
    const { ok } = await acts.command("U0ANA", channel, "/agent", `watch ${run.id}`);
    if (!ok) throw new Error("the bot did not take a command");
  }
  const cards = () => workspace.messages.filter(isOpenCard);
  await workspace.until(() => cards().length >= wanted, { timeoutMs: CARDS_MS, what: `${wanted} cards` });
  return cards().slice(0, wanted);
}

/** Measures one decision (ms). Each is made by another person, so that no look-up is shared. */
async function decide(world: World, card: Message, index: number): Promise<number> {
  const submit = await openForm(world, card, `U0DECIDES${index}`);
  const arrived = nextDecision(world.service);
  const from = performance.now();
  await submit();
  return (await arrived) - from;
}

async function callDirectly({ service }: World): Promise<number> {
  const arrived = nextDecision(service);
  const from = performance.now();
  const url = `${service.url}/v1/agent/runs/none/approvals/none`;
  const { body } = await request(url, { method: "POST", body: '{"decision":"approve"}' });
  await body.dump();
  return (await arrived) - from;
}

/** Resolves to the time at which the service receives the next decision. */
function nextDecision({ requests }: World["service"]): Promise<number> {
  const before = requests.all({ route: "decide" }).length;
  const { promise, resolve } = Promise.withResolvers<number>();
  const stop = requests.subscribe(() => {
    if (requests.all({ route: "decide" }).length === before) return;
    stop();
    resolve(performance.now());
  });
  return promise;
}
