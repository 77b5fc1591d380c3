// Many runs in one channel request approvals at once. A notice leads people to their own queues until the cards are posted.

import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { buttonsOf, elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, aWorld, ben, cat, guest, opsAgents, type Stage } from "../make/world.ts";

type Context = Parameters<typeof aWorld>[0];

const RUNS = 14;
/** How long Slack accepts no messages (s). All cards wait at once, however slow the machine is. */
const REST_S = 8;

/** Creates watched runs with open threads, each of which then requests one approval. Resolves to the notice. */
async function startStorm(context: Context): Promise<{ world: Stage; notice: Message }> {
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
  test("are all in the reader's queue before their cards are posted, and the notice ends when they are", async (context) => {
    const { world, notice } = await startStorm(context);
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

  test("have one notice, even if the app restarts in between", async (context) => {
    const { world } = await startStorm(context);
    await world.stopApp();
    await world.startApp();
    await isOver(world);
  });

  test("are not shown to guests", async (context) => {
    const { world, notice } = await startStorm(context);
    accepted(await world.click(guest, notice, "Review"));
    expect(await world.told(guest, "answer:pending:empty")).not.toContain("Deploy part");
    await isOver(world);
  });

  test("cannot be decided in the notice, whoever clicks its button", async (context) => {
    const { world, notice } = await startStorm(context);
    const names = elementsOf(notice.blocks).map(({ action_id }) => action_id);
    expect(names.filter(Boolean)).toEqual(["storm_review"]);
    for (const person of [ana, ben, cat]) accepted(await world.click(person, notice, "Review"));
    expect(await world.told(ana, "answer:pending")).not.toContain("Waiting for you (");
    expect(world.decisions()).toEqual([]);
    await isOver(world);
  });
});
