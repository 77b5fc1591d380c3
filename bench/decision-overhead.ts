// Measures the time from a submitted modal to the arrival of its decision at the service, minus the time of one direct call. It
// includes the look-up of the person, two reads of the run, two commits to disk, and a new connection for the POST.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { startBot } from "#sandbox/bot/bot-process.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { isOpenCard, openForm, quantile } from "./deciding.ts";

export type Overhead = {
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Of a direct call, the median. */
  readonly directMs: number;
  readonly decisions: number;
};

/** Slack accepts about one message a second in a channel, so the cards are spread over several channels, fewer in each run than
 * become a digest (domain/storm.ts). */
const PER_CHANNEL = 5;
const CARDS_MS = 180_000;
/** How many decisions at the start do not count: V8 is still compiling the bot. */
const WARM = 10;

export async function decisionOverhead(decisions: number, program?: string): Promise<Overhead> {
  const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
  const databaseUrl = `sqlite:${join(folder, "bot.db")}`;
  const world = await startWorld({ databaseUrl, slack: { rateLimits: false } });
  const bot = startBot({ ...world.env, LOG_LEVEL: "warn" }, program === undefined ? {} : { program });
  await bot.ready();
  const cards = await putUpCards(world, decisions + WARM);
  const taken: number[] = [];
  const direct: number[] = [];
  for (const [index, card] of cards.entries()) {
    const ms = await decide(world, card, index);
    if (index < WARM) continue;
    taken.push(ms);
    direct.push(await callDirectly(world));
  }
  await bot.end("SIGTERM");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  const directMs = quantile(direct, 0.5);
  const over = taken.map((ms) => ms - directMs);
  return { p50Ms: quantile(over, 0.5), p99Ms: quantile(over, 0.99), directMs, decisions: over.length };
}

async function putUpCards({ slack, service }: World, wanted: number): Promise<Message[]> {
  const { workspace, acts } = slack;
  const count = Math.ceil(wanted / PER_CHANNEL);
  for (let index = 0; index < count; index += 1) {
    const channel = `C0BENCH${index}`;
    const members = ["U0ANA", workspace.app.person];
    workspace.channels.set(channel, {
      id: channel,
      name: `bench-${index}`,
      kind: "public",
      members,
      archived: false,
    });
    const run = service.control.createRun("release forever");
    for (let nth = 0; nth < PER_CHANNEL; nth += 1)
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

/** Each by a person of their own, so that no look-up is shared (ms). */
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

/** When the service next sees a decision. */
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
