// Many approvals at once: they are listed, each can be decided on its line, and each gets a card afterwards.

import { expect, test } from "vitest";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { cardStateOf, says } from "../make/message-id.ts";
import { ana, aWorld, ben, cat, opsAgents, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const MANY = 30;

/** Makes the run request 30 more approvals at once, so that they are listed. */
async function aStorm(world: Stage): Promise<{ opening: Message; listings: readonly Message[] }> {
  const { opening } = await world.asking(ana, opsAgents, TASK);
  const { id } = await world.runAt(TASK);
  for (let nth = 1; nth <= MANY; nth += 1)
    world.service.control.addApproval(id, { action: `Deploy part ${nth}`, details: { tool: "deploy" } });
  const listings = (): Message[] => world.cardsOf(opening).filter((each) => says("digest:waiting", each));
  await world.until(() => listings().flatMap(valuesOf).length === MANY);
  return { opening, listings: listings() };
}

/** Returns the values of the Approve buttons. */
const valuesOf = ({ blocks }: Message): string[] =>
  [...JSON.stringify(blocks).matchAll(/"card_approve","value":"([^"]+)"/g)].map(([, value]) => value ?? "");

const cardsIn = (world: Stage, opening: Message, state: string): Message[] =>
  world.cardsOf(opening).filter((each) => cardStateOf(each) === state);

test("a storm is listed, can be decided line by line, and ends in cards", async (context) => {
  const world = await aWorld(context, { rateLimits: true, timing: slackTiming });
  const { opening, listings } = await aStorm(world);
  expect(listings).toHaveLength(2);
  const [first] = listings;
  if (first === undefined) throw new Error("no listing");
  const [value = ""] = valuesOf(first);
  await world.decide(ben, first, "Approve", "fine");
  await world.until(() => !valuesOf(first).includes(value));
  const approved = await world.until(() => cardsIn(world, opening, "approved")[0]);
  expect(world.decisions()).toEqual([{ decision: "approve", reason: "fine" }]);
  expect(JSON.stringify(approved.blocks)).toContain("fine");
  await world.stopApp();
  await world.startApp();
  await world.decide(cat, first, "Deny", "no");
  await world.until(() => cardsIn(world, opening, "denied")[0]);
  expect(world.cardsOf(opening).filter((each) => says("digest:waiting", each))).toHaveLength(2);
});

test("a deleted listing is posted again, once, and works", async (context) => {
  const world = await aWorld(context);
  const { opening, listings } = await aStorm(world);
  const [gone] = listings;
  if (gone === undefined) throw new Error("no listing");
  const lines = valuesOf(gone);
  world.slack.faults.deleteMessage(gone);
  const again = await world.until(() =>
    world.cardsOf(opening).find((each) => each.ts !== gone.ts && valuesOf(each).join() === lines.join()),
  );
  await world.decide(ben, again, "Approve", "go");
  await world.until(() => world.decisions().length === 1);
  expect(world.cardsOf(opening).filter((each) => says("digest:waiting", each))).toHaveLength(2);
});

test("the last few approvals of a storm get cards of their own", async (context) => {
  const world = await aWorld(context);
  const { opening } = await aStorm(world);
  const { id, approvals } = await world.runAt(TASK);
  for (const { id: approval } of approvals.slice(1, -3)) world.service.control.withdrawApproval(id, approval);
  await world.until(() => cardsIn(world, opening, "pending").length === 4);
  expect(world.cardsOf(opening).filter((each) => says("digest:waiting", each))).toEqual([]);
  const [card] = cardsIn(world, opening, "pending").slice(-1);
  if (card === undefined) throw new Error("no card");
  await world.decide(ben, card, "Approve", "the last");
  await world.becomes(card, "approved");
});
