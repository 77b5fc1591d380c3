// Many runs that ask at once in one channel: a notice leads everyone to their own queue while the cards are on their way.

import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { buttonsOf, elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, aWorld, ben, cat, guest, opsAgents, type Stage } from "../make/world.ts";

type Context = Parameters<typeof aWorld>[0];

const RUNS = 14;
/** Slack takes no message for so long (s), so all of them wait at once, however slow the machine is. */
const REST_S = 8;

/** So many watched runs whose threads are open; then each asks for one approval. Resolves to the notice. */
async function storm(context: Context): Promise<{ world: Stage; notice: Message }> {
  const world = await aWorld(context, { troubled: true });
  const { control } = world.service;
  const ids = Array.from({ length: RUNS }, (_, nth) => control.createRun(`release forever ${nth}`).id);
  for (const id of ids) accepted(await world.command(ana, opsAgents, `watch ${id}`));
  const openings = () => world.posted(opsAgents).filter(({ thread }) => thread === null);
  await world.until(() => openings().length >= RUNS);
  world.slack.faults.next("chat.postMessage", { retryAfter: REST_S });
  for (const [nth, id] of ids.entries())
    control.addApproval(id, { action: `Deploy part ${nth}`, details: { tool: "deploy" } });
  return { world, notice: await noticeOf(world) };
}

const notices = (world: Stage): Message[] =>
  world.posted(opsAgents).filter((each) => says("thread:storm", each) || says("thread:storm-over", each));
const noticeOf = (world: Stage): Promise<Message> => world.until(() => notices(world)[0]);
const cards = (world: Stage): Message[] => world.posted(opsAgents).filter(({ broadcast }) => broadcast);

async function isOver(world: Stage): Promise<void> {
  await world.until(() => cards(world).length === RUNS);
  await world.until(() => notices(world).every((each) => says("thread:storm-over", each)));
  expect(notices(world)).toHaveLength(1);
  expect(notices(world).flatMap(buttonsOf)).toEqual([]);
}

describe.concurrent("many requests at once, of many runs", () => {
  test("are all in the reader's queue behind the notice, before their cards; the notice ends when it is calm", async (context) => {
    const { world, notice } = await storm(context);
    expect(cards(world).length).toBeLessThan(RUNS);
    accepted(await world.click(ben, notice, "Review"));
    const listed = await world.told(ben, "answer:pending");
    expect(listed).toContain(`Waiting for you (${RUNS})`);
    const [answer] = world.ephemeralMessages(ben);
    const together = elementsOf(answer?.blocks ?? []).map(({ action_id }) => action_id);
    expect(together).toContain("queue_review_rule");
    expect(world.decisions()).toEqual([]);
    await isOver(world);
  });

  test("have one notice, also when the app restarts in between", async (context) => {
    const { world } = await storm(context);
    await world.stopApp();
    await world.startApp();
    await isOver(world);
  });

  test("are shown to no guest", async (context) => {
    const { world, notice } = await storm(context);
    accepted(await world.click(guest, notice, "Review"));
    expect(await world.told(guest, "answer:pending:empty")).not.toContain("Deploy part");
    await isOver(world);
  });

  test("leave nothing to decide in the notice, whoever presses it", async (context) => {
    const { world, notice } = await storm(context);
    const names = elementsOf(notice.blocks).map(({ action_id }) => action_id);
    expect(names.filter(Boolean)).toEqual(["storm_review"]);
    for (const person of [ana, ben, cat]) accepted(await world.click(person, notice, "Review"));
    expect(await world.told(ana, "answer:pending")).not.toContain("Waiting for you (");
    expect(world.decisions()).toEqual([]);
    await isOver(world);
  });
});
