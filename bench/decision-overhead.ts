// Measures the time from a submitted modal to the arrival of its decision at the service, minus the time of one direct call. It includes
// looking up the person, two reads of the run, two commits to disk, and a new connection for the POST.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
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
 * become a digest (domain/storm.ts). */
const PER_CHANNEL = 4;
/** One bot can add buttons to about fifty cards a minute, the limit of chat.update. More decisions need more bots. */
const PER_WORLD = 40;
/** How many bots post their cards side by side. */
const AT_ONCE = 5;
const CARDS_MS = 120_000;
/**
 * After its start or a pause, a bot reads all runs a few times (notices, reminders, outages), which is not what is measured. With it, the
 * pause of the last bot stays below the minute of its lease.
 */
const SETTLED_MS = 6_000;
/** How many decisions of each bot do not count, because V8 is still compiling. */
const WARM = 10;

type Times = { readonly taken: readonly number[]; readonly direct: readonly number[] };

export async function decisionOverhead(decisions: number, program?: string): Promise<Overhead> {
  const times: Times[] = [];
  for (let left = Math.ceil(decisions / PER_WORLD); left > 0; left -= AT_ONCE)
    times.push(...(await decideInTurn(Math.min(left, AT_ONCE), program)));
  const directMs = quantile(
    times.flatMap(({ direct }) => direct),
    0.5,
  );
  const over = times.flatMap(({ taken }) => taken.map((ms) => ms - directMs));
  return { p50Ms: quantile(over, 0.5), p99Ms: quantile(over, 0.99), directMs, decisions: over.length };
}

/** All bots but one are paused while it is measured: on few cores, the polls of others would be measured as well. */
async function decideInTurn(bots: number, program: string | undefined): Promise<Times[]> {
  await using stack = new AsyncDisposableStack();
  const prepared = await Promise.all(range(bots).map(() => prepare(program, stack)));
  const paused = prepared.map(({ bot, ...world }) => ({ ...world, bot, resume: bot.pause() }));
  const times: Times[] = [];
  for (const { bot, world, cards, resume } of paused) {
    resume();
    await pause(SETTLED_MS);
    times.push(await decideAll(world, cards));
    await bot.end("SIGKILL");
  }
  return times;
}

type Prepared = { readonly bot: BotProcess; readonly world: World; readonly cards: readonly Message[] };

/** Starts a bot in a separate world, with cards that wait for a decision. `stack` ends both. */
async function prepare(program: string | undefined, stack: AsyncDisposableStack): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  stack.defer(() => world.stop());
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  stack.defer(async () => void (await bot.end("SIGKILL")));
  await bot.ready();
  return { bot, world, cards: await putUpCards(world, PER_WORLD + WARM) };
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
