// Runs that start from a message: a mention with a task, and the shortcut in the menu of a message.

import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, aWorld, ben, guest, opsAgents, payments, random, type Stage } from "../make/world.ts";

const openings = (world: Stage, channel: string): Message[] =>
  world.posted(channel).filter(({ thread }) => thread === null);
const say = (world: Stage, ...said: Parameters<Stage["slack"]["acts"]["say"]>) =>
  world.slack.acts.say(...said);
/** Returns the newest event of this type, as Slack sent it. */
function lastEvent(world: Stage, type: string): Record<string, unknown> {
  const bodies = world.slack.traffic.lines().flatMap(({ from, detail }) => {
    const { payload } = detail as { payload?: { body: Record<string, unknown> } };
    return from === "slack" && payload !== undefined ? [payload.body] : [];
  });
  const found = bodies.findLast(({ event }) => (event as { type?: string } | undefined)?.type === type);
  if (found === undefined) throw new Error(`Slack sent no ${type} yet`);
  return found;
}
const deliver = (world: Stage, body: Record<string, unknown>) =>
  world.slack.deliverRaw({ kind: "events_api", body });

describe.concurrent("a mention with a task", () => {
  test.for([opsAgents, payments])(
    "starts one run in its channel, in the name of its author: %s",
    async (place, context) => {
      const world = await aWorld(context);
      await say(world, ana, place, "@countersign just say `a` & <b>");
      const opening = await world.until(() => openings(world, place)[0]);
      const event = lastEvent(world, "app_mention");
      await deliver(world, event);
      await deliver(world, { ...event, event_id: "Ev0OTHER" });
      await world.saidIn(opening, "outcome:succeeded");
      expect(textOf(opening)).toContain(`@${ana}`);
      expect(openings(world, place)).toHaveLength(1);
      expect(world.tasksSent()).toEqual(["just say `a` & <b>"]);
    },
  );

  test("is acknowledged only when it is handled, so that Slack repeats a lost one", async (context) => {
    const world = await aWorld(context);
    world.slack.faults.next("users.info", { hang: "before" });
    await say(world, ana, opsAgents, "@countersign just say hello");
    await world.told(ana, "command-refusal:unverified");
    const lines = () => world.slack.traffic.lines();
    const sent = lines().find(({ detail }) => JSON.stringify(detail).includes('"type":"app_mention"'));
    const acknowledged = await world.until(() => lines().find(({ answers }) => answers === sent?.number));
    const answered = lines().find(({ what }) => what.includes("chat.postEphemeral"));
    expect(acknowledged.what).toBe("acknowledges events_api");
    expect(answered?.number).toBeLessThan(acknowledged.number);
  });

  test("and the shortcut also work over HTTP, and a mention is acknowledged within Slack's three seconds", async (context) => {
    const world = await aWorld(context, { entrance: "http" });
    await say(world, ana, opsAgents, "@countersign just say hello");
    const opening = await world.until(() => openings(world, opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    const { channel, ts } = opening;
    expect(await world.slack.shortcut(ana, "run_on_message", { channel, ts })).toEqual({ ok: true });
    await world.modalOf(ana, "task");
    expect(world.slack.traffic.lines().filter(({ lost }) => lost)).toEqual([]);
    expect(world.tasksSent()).toEqual(["just say hello"]);
  });

  test("in a thread also starts a run, and a leading `run` is not part of the task", async (context) => {
    const world = await aWorld(context);
    await say(world, ana, opsAgents, "What do we do?");
    const asked = world.slack.workspace.messages.find(({ author }) => author === ana);
    await say(world, ben, opsAgents, "@countersign: run just say hello", asked?.ts);
    const opening = await world.until(() => openings(world, opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual(["just say hello"]);
  });

  test.for(["thread_broadcast", "file_share"])(
    "starts a run if its message is a %s",
    async (subtype, context) => {
      const world = await aWorld(context);
      await say(world, guest, opsAgents, "@countersign just say hello");
      await world.told(guest, "command-refusal:guest");
      const body = lastEvent(world, "app_mention");
      await deliver(world, { ...body, event: { ...(body["event"] as object), user: ana, subtype } });
      const opening = await world.until(() => openings(world, opsAgents)[0]);
      await world.saidIn(opening, "outcome:succeeded");
      expect(world.tasksSent()).toEqual(["just say hello"]);
    },
  );

  test.for([
    ["a guest", guest, "deploy billing-api", "command-refusal:guest"],
    ["someone who approves by text", ben, "approve it", "answer:decide-on-card"],
    ["someone who types a command", ben, "status run_7", "answer:did-you-mean"],
    ["someone who says one word", ben, "thanks", "answer:mention-without-task"],
    ["someone who says nothing", ben, "", "answer:mention-without-task"],
  ] as const)("starts nothing for %s, and says so privately", async ([, person, text, answer], context) => {
    const world = await aWorld(context);
    await say(world, person, opsAgents, `@countersign ${text}`);
    await world.told(person, answer);
    expect(openings(world, opsAgents)).toEqual([]);
    expect(world.tasksSent()).toEqual([]);
  });

  test.for([
    ["in the middle of a message", "ask @countersign to deploy billing-api"],
    ["of someone else", "@ben deploy billing-api now"],
  ])("starts nothing %s", async ([, text = ""], context) => {
    const world = await aWorld(context);
    await say(world, ana, opsAgents, text);
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(world.ephemeralMessages(ana)).toHaveLength(1);
    expect(world.tasksSent()).toEqual([]);
  });

  test.for([
    ["of another app", { bot_id: "B0OTHER" }],
    ["that was edited", { edited: { user: ana, ts: "1.1" } }],
    ["of another subtype", { subtype: "bot_message" }],
  ] as const)("starts nothing in a message %s", async ([, change], context) => {
    const world = await aWorld(context);
    await say(world, guest, opsAgents, "@countersign just say hello");
    await world.told(guest, "command-refusal:guest");
    const body = lastEvent(world, "app_mention");
    await deliver(world, { ...body, event: { ...(body["event"] as object), user: ana, ...change } });
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(world.tasksSent()).toEqual([]);
  });
});

describe.concurrent("the shortcut on a message", () => {
  const used = async (world: Stage, person: string, text: string, channel = opsAgents): Promise<void> => {
    await say(world, ben, channel, text);
    const message = world.slack.workspace.messages.findLast(({ author }) => author === ben);
    await world.slack.shortcut(person, "run_on_message", { channel, ts: message?.ts ?? "" });
  };

  test("opens the form with the message as an editable task", async (context) => {
    const world = await aWorld(context);
    await used(world, ana, "just say *hi* & <b> see https://x.example\u202E");
    const form = await world.modalOf(ana, "task");
    expect(JSON.stringify(form.view)).toContain("just say *hi* & <b> see https://x.example⟨U+202E⟩");
    await world.fillModal(ana, "just say something else");
    const opening = await world.until(() => openings(world, opsAgents)[0]);
    await world.deliver(world.lastPayload("view_submission"));
    await world.saidIn(opening, "outcome:succeeded");
    expect(textOf(opening)).toContain(`@${ana}`);
    expect(world.tasksSent()).toEqual(["just say something else"]);
  });

  test("starts nothing for a guest, or in a channel without Countersign", async (context) => {
    const world = await aWorld(context, { troubled: true });
    await used(world, guest, "just say hello");
    await world.modalOf(guest, "task");
    await world.fillModal(guest, "just say hello");
    await world.told(guest, "command-refusal:guest");
    await used(world, ana, "just say hello", random);
    await world.modalOf(ana, "task");
    await world.fillModal(ana, "just say hello");
    await world.until(() => world.privately(ana).some((each) => each.says("notice:cannot-post")));
    expect(world.tasksSent()).toEqual([]);
  });

  test("says how much of a long message is cut", async (context) => {
    const world = await aWorld(context);
    await used(world, ana, `just say ${"long ".repeat(700)}`);
    const { view } = await world.modalOf(ana, "task");
    const { element } = view.blocks.find(({ block_id }) => block_id === "task") as unknown as {
      element: { initial_value: string };
    };
    expect(element.initial_value.length).toBeLessThanOrEqual(3_000);
    expect(element.initial_value).toMatch(/\d+ more characters/);
    expect(says("task", view)).toBe(true);
  });
});
