import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { ana, aWorld, ben, opsAgents, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";

/** Resolves to the only card of the thread, once it differs from the old one. */
async function replacementOf(world: Stage, opening: Message, old: Message): Promise<Message> {
  return world.until(() => {
    const [card, ...more] = world.cardsOf(opening);
    return card !== undefined && card.ts !== old.ts && more.length === 0 && card;
  });
}

/** Deletes a message without sending an event. */
function deleteWithoutEvent({ slack }: Stage, message: Message): void {
  const { messages, byPlace } = slack.workspace;
  messages.splice(messages.indexOf(message), 1);
  byPlace.delete(`${message.channel} ${message.ts}`);
}

describe.concurrent("a card that someone deletes in Slack", () => {
  test.for(["socket", "http"] as const)(
    "is posted again at once, and works (%s)",
    async (entrance, context) => {
      const world = await aWorld(context, { entrance });
      const { opening, card } = await world.asking(ana, opsAgents, TASK);
      world.slack.faults.deleteMessage(card);
      const again = await replacementOf(world, opening, card);
      await world.decide(ben, again, "Approve", "go");
      await world.becomes(again, "approved");
      expect(world.cardsOf(opening)).toEqual([again]);
    },
  );

  test("is posted again when someone asks what is pending, although Slack sent no event", async (context) => {
    // Slack returns no link to a deleted card.
    const world = await aWorld(context, { troubled: true });
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    deleteWithoutEvent(world, card);
    await world.command(ben, opsAgents, "pending");
    const again = await replacementOf(world, opening, card);
    await world.decide(ben, again, "Deny", "no");
    await world.becomes(again, "denied");
  });

  test("is posted again when its run is watched again", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, TASK);
    const { id } = await world.runAt(TASK);
    deleteWithoutEvent(world, card);
    await world.command(ben, opsAgents, `watch ${id}`);
    await replacementOf(world, opening, card);
  });
});

test("a card that a channel refused is posted as soon as the app is let in again", async (context) => {
  const world = await aWorld(context, { troubled: true });
  const bot = world.slack.workspace.app.person;
  const opening = await world.run(ana, opsAgents, "work forever");
  const { id } = await world.runAt("work forever", ({ phase }) => phase === "working");
  await world.becomes(opening, "run:working");
  world.slack.faults.removeFromChannel(opsAgents, bot);
  world.service.control.addApproval(id, { action: "Tell the customers" });
  await world.until(() => world.logged.some((line) => line.includes('"outcome":"refused"')));
  expect(world.cardsOf(opening)).toEqual([]);
  world.slack.faults.addToChannel(opsAgents, bot);
  const card = await world.cardOf(opening);
  await world.decide(ben, card, "Approve", "go");
  await world.becomes(card, "approved");
});
