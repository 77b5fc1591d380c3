// Three replicas on one PostgreSQL database share the runs of several channels. One is killed with SIGKILL and stays down. Measures the
// time until every run has been polled again and a click on a card in every channel has opened its form. Each trial kills another replica.
// The runs and channels of the surviving replicas are waited for, too, so no measured time is too short. Slack enforces no limits here:
// each replica has a share of them, and many people who press at once would wait for that, not for the fail-over.

import { randomBytes } from "node:crypto";
import { startPostgres } from "#sandbox/bot/own-postgres.ts";
import type { Replica } from "#sandbox/bot/replicas.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { addChannel, addPerson, isOpenCard, pause, range } from "./deciding.ts";

export type Failover = {
  /** The longest time of all trials (ms). */
  readonly ms: number;
  /** The longest times until the last run was polled again, and until the last click was answered (ms). */
  readonly polledMs: number;
  readonly clickedMs: number;
  readonly trials: number;
};

const REPLICAS = 3;
const CHANNELS = 12;
const RUNS_PER_CHANNEL = 4;
/** Every run is polled about once a second, like a run that has just asked for something. */
const POLL_MAX_MS = "1000";
const CARDS_MS = 120_000;
/** Only a bug makes this take longer (ms). */
const SHARED_MS = 60_000;
const POLLED_MS = 60_000;
/** How long people wait before they press again (ms). */
const PATIENCE_MS = 1_000;
const ASK_EVERY_MS = 100;

export async function failover(trials: number): Promise<Failover> {
  const postgres = await startPostgres((words) => console.error(words));
  const env = { LOG_LEVEL: "warn", POLL_MAX_MS, AUDIT_KEY: randomBytes(32).toString("base64") };
  const world = await startWorld({
    databaseUrl: postgres.url,
    slack: { rateLimits: false },
    bot: { env, replicas: REPLICAS },
  });
  try {
    await world.bot?.ready();
    const cards = await putUpCards(world);
    const all: { polledMs: number; clickedMs: number }[] = [];
    for (const trial of range(trials)) all.push(await killOne(world, cards, trial));
    const polledMs = Math.max(...all.map((each) => each.polledMs));
    const clickedMs = Math.max(...all.map((each) => each.clickedMs));
    return { ms: Math.max(polledMs, clickedMs), polledMs, clickedMs, trials };
  } finally {
    await world.stop();
    await postgres.stop();
  }
}

/** Posts the cards. Resolves to one card of each channel. */
async function putUpCards(world: World): Promise<Message[]> {
  const { workspace, acts } = world.slack;
  const channels = range(CHANNELS).map((index) => addChannel(world, index));
  for (const channel of channels.flatMap((each) => range(RUNS_PER_CHANNEL).map(() => each))) {
    const run = world.service.control.createRun("release forever");
    world.service.control.addApproval(run.id, { action: "Deploy the release", details: { tool: "deploy" } });
    const { ok } = await acts.command("U0ANA", channel, "/agent", `watch ${run.id}`);
    if (!ok) throw new Error("the bot did not take a command");
  }
  const cards = () => workspace.messages.filter(isOpenCard);
  const wanted = CHANNELS * RUNS_PER_CHANNEL;
  await workspace.until(() => cards().length >= wanted, { timeoutMs: CARDS_MS, what: `${wanted} cards` });
  return channels.flatMap((channel) => cards().find((each) => each.channel === channel) ?? []);
}

async function killOne(world: World, cards: readonly Message[], trial: number) {
  await workIsShared(world);
  // Vary the moment between two renewals of a lease.
  await pause(Math.random() * 1_000);
  const victim = replicasOf(world)[trial % REPLICAS];
  if (victim === undefined) throw new Error("there is no such replica");
  await victim.stop("SIGKILL");
  const from = performance.now();
  const since = (): number => performance.now() - from;
  const clicks = cards.map((card, nth) => opens(world, card, `U0CLICKS${nth}`));
  const [polledMs, clickedMs] = await Promise.all([
    allPolled(world).then(since),
    Promise.all(clicks).then(since),
  ]);
  await victim.start();
  return { polledMs, clickedMs };
}

const replicasOf = ({ bot }: World): readonly Replica[] => bot?.replicas ?? [];

/** Resolves when all replicas have runs and each run belongs to one of them. */
async function workIsShared(world: World): Promise<void> {
  for (const end = performance.now() + SHARED_MS; performance.now() < end; await pause(ASK_EVERY_MS)) {
    const metrics = replicasOf(world).map(({ metric }) => metric("countersign_runs_watched"));
    const watched = (await Promise.all(metrics)).map((runs) => runs ?? 0);
    const all = watched.reduce((sum, runs) => sum + runs, 0);
    if (all === CHANNELS * RUNS_PER_CHANNEL && watched.every((runs) => runs > 0)) return;
  }
  throw new Error("the replicas did not share the runs");
}

async function allPolled({ service }: World): Promise<void> {
  const before = service.requests.all().at(-1)?.number ?? 0;
  const polled = (): number =>
    new Set(
      service.requests
        .after(before)
        .filter(({ route }) => route === "read-run")
        .map(({ path }) => path),
    ).size;
  await service.requests.until(() => polled() >= CHANNELS * RUNS_PER_CHANNEL, { timeoutMs: POLLED_MS });
}

/** A person presses until the form opens, and then closes it. */
async function opens({ slack }: World, card: Message, person: string): Promise<void> {
  const { workspace, acts } = slack;
  addPerson({ slack }, person);
  const block = card.blocks.find(({ type }) => type === "actions")?.block_id ?? "";
  for (let isForm = false; !isForm;) {
    await acts.click(person, { channel: card.channel, ts: card.ts }, block, "card_approve");
    const shown = (): boolean => workspace.viewsOf(person).length > 0;
    await workspace.until(shown, { timeoutMs: PATIENCE_MS }).catch(() => undefined);
    for (const { id, view } of workspace.viewsOf(person).slice()) {
      isForm ||= view["callback_id"] === "decision_modal";
      await acts.close(person, id);
    }
    if (!isForm) await pause(PATIENCE_MS);
  }
}
