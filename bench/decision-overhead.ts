// Measures the time from a submitted modal to the arrival of its decision at the service, minus the time of one direct call. It includes
// looking up the person, two reads of the run, two commits to disk, and a new connection for the POST.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { addChannel, isOpenCard, openForm, quantile, range } from "./deciding.ts";

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
/** How many bots post their cards side by side. Then the decisions are made one after the other. */
const AT_ONCE = 5;
const CARDS_MS = 120_000;
/** How many decisions of each bot do not count, because V8 is still compiling. */
const WARM = 10;

type Times = { readonly taken: readonly number[]; readonly direct: readonly number[] };
type Prepared = { readonly decideAll: () => Promise<Times>; readonly stop: () => Promise<void> };

export async function decisionOverhead(decisions: number, program?: string): Promise<Overhead> {
  const worlds = Math.ceil(decisions / PER_WORLD);
  const times: Times[] = [];
  for (let done = 0; done < worlds; done += AT_ONCE) {
    const batch = range(Math.min(AT_ONCE, worlds - done));
    const prepared = await Promise.all(batch.map(() => prepare(program)));
    for (const { decideAll } of prepared) times.push(await decideAll());
    await Promise.all(prepared.map(({ stop }) => stop()));
  }
  const directMs = quantile(
    times.flatMap(({ direct }) => direct),
    0.5,
  );
  const over = times.flatMap(({ taken }) => taken.map((ms) => ms - directMs));
  return { p50Ms: quantile(over, 0.5), p99Ms: quantile(over, 0.99), directMs, decisions: over.length };
}

/** Prepares a separate world with cards that wait for a decision. */
async function prepare(program?: string): Promise<Prepared> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  await bot.ready();
  const cards = await putUpCards(world, PER_WORLD + WARM);
  const decideAll = async (): Promise<Times> => {
    const taken: number[] = [];
    const direct: number[] = [];
    for (const [index, card] of cards.entries()) {
      const ms = await decide(world, card, index);
      if (index < WARM) continue;
      taken.push(ms);
      direct.push(await callDirectly(world));
    }
    return { taken, direct };
  };
  const stop = async (): Promise<void> => {
    await bot.end("SIGKILL");
    await world.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { decideAll, stop };
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
