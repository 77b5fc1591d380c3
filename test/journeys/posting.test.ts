import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "work forever";

/** Starts a run that keeps working, so that its next message appears when the test requests an approval. */
async function startWorkingRun(world: Stage): Promise<{ opening: Message; run: string }> {
  const opening = await world.run(ana, opsAgents, TASK);
  const { id } = await world.runAt(TASK, ({ phase }) => phase === "working");
  await world.becomes(opening, "run:working");
  return { opening, run: id };
}

/** Resolves to the card that the app knows after a lost answer: found by reading back and updated, or posted again. */
async function settledCard(world: Stage, opening: Message): Promise<Message> {
  return world.until(() => {
    const readBack = world.slack.traffic.lines().findLast(({ what }) => what === "conversations.replies");
    const [card] = world.cardsOf(opening);
    const known = card !== undefined && readBack !== undefined && (card.edited || card.at >= readBack.at);
    return known && card;
  });
}

/** Decides on the card, and waits until the service has the decision. This proves that the card's buttons are the valid ones. */
async function approve(world: Stage, card: Message): Promise<void> {
  await world.decide(ben, card, "Approve", "go");
  await world.becomes(card, "approved");
}

describe.concurrent("a card whose post fails", () => {
  test.for([
    ["its answer is lost after it was posted", { drop: "after" }],
    ["it is lost on the way", { drop: "before" }],
    ["Slack says HTTP 500 after it was posted", { http: 500, when: "after" }],
    ["Slack says HTTP 503 and posted nothing", { http: 503 }],
    ["Slack says that it may be half done", { error: "fatal_error" }],
  ] as const)("ends up posted exactly once, and works: %s", async ([, fault], context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    world.slack.faults.next("chat.postMessage", fault);
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const card = await settledCard(world, opening);
    await approve(world, card);
    expect(world.cardsOf(opening)).toEqual([card]);
  });

  test("whose thread was deleted is posted in the channel, once, even if the answer is lost", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    world.slack.workspace.remove(opening);
    world.slack.faults.next("chat.postMessage", { drop: "after" });
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const cards = () => world.posted(opsAgents).filter((each) => buttonsOf(each).includes("Approve"));
    const readBack = () =>
      world.slack.traffic
        .lines()
        .find(({ what, refused }) => what === "conversations.history" && refused === null);
    await world.until(() => readBack() !== undefined && cards()[0]?.edited);
    const [card] = cards();
    if (card === undefined) throw new Error("there is no card");
    await world.decide(ben, card, "Approve", "go");
    await world.until(() => world.decisions().length === 1);
    expect(world.posted(opsAgents).filter((each) => textOf(each).includes("Tell the customers"))).toEqual([
      card,
    ]);
  });

  test("is posted when Slack allows it again, and a modal can be opened meanwhile", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    world.service.control.addApproval(run, { action: "first" });
    const first = await world.cardOf(opening);
    world.slack.faults.next("chat.postMessage", { retryAfter: 2 });
    world.service.control.addApproval(run, { action: "second" });
    await world.until(() => world.slack.traffic.lines().some(({ refused }) => refused === "ratelimited"));
    await world.openForm(ben, first, "Approve");
    expect(world.cardsOf(opening)).toEqual([first]);
    await world.fillModal(ben, "");
    const second = await world.cardOf(opening, 1);
    await approve(world, second);
    expect(world.cardsOf(opening)).toEqual([first, second]);
  });

  test("twice ends up posted exactly once", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    world.slack.faults.next("chat.postMessage", { drop: "after" }, 2);
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const card = await settledCard(world, opening);
    await approve(world, card);
    expect(world.cardsOf(opening)).toEqual([card]);
    expect(world.decisions()).toHaveLength(1);
  });
});

describe.concurrent("a card that is clicked before Slack has answered its post", () => {
  test("says to click again, and works once it is known", async (context) => {
    const world = await aWorld(context);
    const { opening, run } = await startWorkingRun(world);
    const gate = Promise.withResolvers<void>();
    world.slack.faults.next("chat.postMessage", { until: gate.promise, when: "after" });
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const card = await world.cardOf(opening);
    await world.click(ben, card, "Approve");
    await world.told(ben, "refusal:being-posted");
    expect(world.hasForm(ben)).toBe(false);
    gate.resolve();
    await approve(world, card);
  });
});

describe.concurrent("a thread's first message", () => {
  test.for([
    ["after it was posted", "after"],
    ["on its way", "before"],
  ] as const)(
    "is there once although its answer is lost %s, and the run starts once",
    async ([, drop], context) => {
      const world = await aWorld(context, { troubled: true });
      world.slack.faults.next("chat.postMessage", { drop });
      expect(await world.command(ana, opsAgents, "run just say hello")).toEqual({ ok: true });
      const opening = await world.until(() => world.posted(opsAgents).find(({ thread }) => thread === null));
      await world.saidIn(opening, "outcome:succeeded");
      expect(world.posted(opsAgents).filter(({ thread }) => thread === null)).toEqual([opening]);
      expect(world.tasksSent()).toEqual(["just say hello"]);
    },
  );
});

describe.concurrent("a card that can no longer be updated", () => {
  test("because it was deleted is posted again, with buttons that work", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    const approval = world.service.control.addApproval(run, { action: "Tell the customers" });
    const card = await world.cardOf(opening);
    await world.becomes(opening, "run:awaiting-approval");
    world.slack.workspace.remove(card);
    world.service.control.changeApproval(run, approval, { action: "Tell all customers" });
    // The card may be posted again before the change is seen. Then the update includes the change.
    const again = await world.until(() =>
      world.cardsOf(opening).find((each) => textOf(each).includes("Tell all customers")),
    );
    await approve(world, again);
    expect(world.cardsOf(opening)).toEqual([again]);
  });

  test("because Slack refuses the update is replaced by a new card", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    const approval = world.service.control.addApproval(run, { action: "Tell the customers" });
    const stale = await world.cardOf(opening);
    await world.becomes(opening, "run:awaiting-approval");
    world.slack.faults.next("chat.update", { error: "cant_update_message" });
    world.service.control.changeApproval(run, approval, { action: "Tell all customers" });
    const fresh = await world.until(() => world.cardsOf(opening).find((each) => each !== stale));
    expect(textOf(fresh)).toContain("Tell all customers");
    await approve(world, fresh);
    expect(world.cardsOf(opening)).toEqual([fresh]);
  });

  test("for a while is updated as soon as Slack accepts it", async (context) => {
    const world = await aWorld(context, { troubled: true });
    const { opening, run } = await startWorkingRun(world);
    world.service.control.addApproval(run, { action: "Tell the customers" });
    const card = await world.cardOf(opening);
    await world.becomes(opening, "run:awaiting-approval");
    world.slack.faults.next("chat.update", { http: 503 });
    world.slack.faults.next("chat.update", { drop: "after" });
    world.slack.faults.next("chat.update", { retryAfter: 1 });
    await approve(world, card);
    expect(buttonsOf(card)).toEqual([]);
    expect(world.cardsOf(opening)).toEqual([card]);
  });
});

describe.concurrent("under Slack's rate limits", () => {
  test("a burst of runs in one channel is not refused, and everything is posted", async (context) => {
    const world = await aWorld(context, { rateLimits: true });
    const tasks = ["one", "two", "three"].map((name) => `just say ${name}`);
    await Promise.all(tasks.map((task) => world.command(ana, opsAgents, `run ${task}`)));
    await world.until(
      () => world.posted(opsAgents).filter((each) => says("outcome:succeeded", each)).length === 3,
    );
    expect(world.tasksSent().toSorted()).toEqual(tasks.toSorted());
  });

  test("a run at the end of the queue notifies its requester at once, and nobody else", async (context) => {
    const world = await aWorld(context, { rateLimits: true });
    await Promise.all(
      Array.from({ length: 12 }, (_, nth) => world.command(ana, opsAgents, `run just say ${nth}`)),
    );
    await world.command(ben, opsAgents, "run just say last");
    await world.told(ben, "notice:queued");
    expect(
      world
        .posted(opsAgents)
        .map((each) => textOf(each))
        .join("\n"),
    ).not.toContain("just say last");
    const [notice = { blocks: [] }] = world.ephemeralMessages(ben);
    expect(Number(/\d+/.exec(textOf(notice))?.[0])).toBeGreaterThanOrEqual(2);
  });

  test("a run that is posted at once sends its requester no notice", async (context) => {
    const world = await aWorld(context, { rateLimits: true });
    await world.run(ana, opsAgents, "just say hello");
    expect(world.ephemeralsFor(ana)).toEqual([]);
  });
});
