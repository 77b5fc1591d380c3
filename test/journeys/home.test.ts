import { describe, expect, test, type TestContext } from "vitest";
import { isJson } from "#sandbox/slack/json-object.ts";
import { stateOf } from "#sandbox/slack/state-values.ts";
import type { Stage } from "../make/world.ts";
import { ana, ben, cat, opsAgents, outsider, payments, random, aWorld } from "../make/world.ts";
import { elementsOf, textOf } from "../make/journey-sight.ts";
import { type Saying, says } from "../make/message-id.ts";

const TASK = "deploy billing-api to production";
/** The service's text of the request for the task. */
const ASKED = "Deploy billing-api to production";

/** Resolves to what the person sees on the Home tab, once it has this id and shows these words of people or the service. */
async function homeOf(
  world: Stage,
  person: string,
  id: Saying,
  ...words: readonly string[]
): Promise<string> {
  const shown = (): string => {
    const view = world.slack.workspace.homes.get(person)?.view;
    return view === undefined || !says(id, view) ? "" : textOf({ blocks: view.blocks });
  };
  return world.until(() => words.every((each) => shown().includes(each)) && shown(), shown);
}

/** Presses a button of the tab, or chooses in a menu there. */
async function use(world: Stage, person: string, action: string, chosen?: string): Promise<void> {
  const home = world.slack.workspace.homes.get(person);
  const block = home?.view.blocks.find((each) => elementsOf(each).some((one) => one["action_id"] === action));
  await world.slack.acts.click(person, { view: home?.id ?? "" }, String(block?.block_id), action, chosen);
}

/** Returns the filters that the person sees as chosen. */
function filtersOf(world: Stage, person: string): readonly unknown[] {
  const home = world.slack.workspace.homes.get(person);
  const states = home === undefined ? [] : Object.values(stateOf(home.view.blocks, home.values));
  return states.flatMap(({ queue_show: show, queue_channel: channel }) =>
    isJson(show) && isJson(channel)
      ? [
          isJson(show["selected_option"]) && show["selected_option"]["value"],
          channel["selected_conversation"],
        ]
      : [],
  );
}

/** Returns how many requests the tab lists as waiting for others. */
function othersOn(world: Stage, person: string): number {
  const view = world.slack.workspace.homes.get(person)?.view;
  return Number(/Waiting for others \((\d+)\)/.exec(JSON.stringify(view ?? ""))?.[1] ?? 0);
}

async function withACard(context: TestContext) {
  const world = await aWorld(context);
  const { card } = await world.asking(ana, opsAgents, TASK);
  return { world, card };
}

describe.concurrent("the Home tab", () => {
  test("lists pending requests with links to their cards, and the requester's own runs", async (context) => {
    const { world, card } = await withACard(context);
    await world.slack.openHome(ben);
    await homeOf(world, ben, "home:own:none", "Deploy billing-api");
    const link = `/p${card.ts.replace(".", "")}`;
    const blocks = (): string => JSON.stringify(world.slack.workspace.homes.get(ben)?.view.blocks);
    expect(await world.until(() => blocks().includes(link))).toBe(true);

    await world.slack.openHome(ana);
    await homeOf(world, ana, "queue:yours:none", TASK);
  });

  test("shows the current state after Refresh", async (context) => {
    const { world, card } = await withACard(context);
    await world.slack.openHome(ben);
    await homeOf(world, ben, "home:runs", ASKED);
    await world.decide(ben, card, "Approve", "");
    await world.becomes(card, "approved");
    await use(world, ben, "home_refresh");
    expect(await homeOf(world, ben, "queue:yours:none")).not.toContain(ASKED);
  });

  test("shows people no runs in channels that they are not in", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, payments, "pay the secret invoice");
    for (const person of [cat, outsider]) {
      await world.slack.openHome(person);
      expect(await homeOf(world, person, "home:runs")).not.toContain("secret");
    }
  });

  test("says that it could not check, not that nothing is pending, while Slack does not return the memberships", async (context) => {
    const world = await aWorld(context, { troubled: true });
    await world.asking(ana, opsAgents, TASK);
    world.slack.faults.next("users.conversations", { http: 500 });
    await world.slack.openHome(ben);
    await homeOf(world, ben, "home:unknown");
    await use(world, ben, "home_refresh");
    await homeOf(world, ben, "home:runs", ASKED);
  });

  test("shows a freeze and its end without Refresh, even if there has never been a run", async (context) => {
    const world = await aWorld(context, { env: { ADMINS: [ben, cat].join(",") } });
    const shown = (): string => JSON.stringify(world.slack.workspace.homes.get(ana)?.view ?? "");
    await world.slack.openHome(ana);
    await homeOf(world, ana, "home:own:none");
    await world.command(cat, opsAgents, "freeze everywhere the keys leaked");
    await world.until(() => shown().includes("the keys leaked"));
    await world.command(ben, opsAgents, "freeze lift the keys are changed");
    await world.until(() => !shown().includes("the keys leaked"));
  });

  test("lists what its menus show as chosen, also after Show everything", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    await world.asking(ana, payments, "pay the invoice");
    await world.slack.openHome(ana);
    const shows = async (channel: string | null, show: string, listed: number): Promise<void> => {
      const seen = () => ({ filters: filtersOf(world, ana), listed: othersOn(world, ana) });
      const due = JSON.stringify({ filters: [show, channel], listed });
      await world.until(
        () => JSON.stringify(seen()) === due,
        () => `${JSON.stringify(seen())}, not ${due}`,
      );
    };
    await shows(null, "all", 2);
    await use(world, ana, "queue_channel", opsAgents);
    await shows(opsAgents, "all", 1);
    await use(world, ana, "queue_clear");
    await shows(null, "all", 2);
    await use(world, ana, "queue_show", "mine");
    await shows(null, "mine", 2);
    await use(world, ana, "queue_channel", payments);
    await shows(payments, "mine", 1);
    await world.slack.openHome(ana);
    await shows(null, "all", 2);
  });

  test("starts a run in the chosen channel, and lists it at once", async (context) => {
    const world = await aWorld(context);
    await world.slack.openHome(ana);
    await homeOf(world, ana, "home:own:none");
    await use(world, ana, "home_start");
    const form = await world.modalOf(ana, "task");
    await world.slack.acts.submit(ana, form.id, {
      task: { task_text: TASK },
      channel: { channel_chosen: opsAgents },
    });
    await world.until(() => world.tasksSent().includes(TASK));
    await homeOf(world, ana, "home:runs", TASK);
    expect(world.posted(opsAgents).length).toBeGreaterThan(0);
  });

  test("keeps the form open with an error at the channel if the person is not in it", async (context) => {
    const world = await aWorld(context, { troubled: true });
    await world.slack.openHome(cat);
    await homeOf(world, cat, "home:own:none");
    await use(world, cat, "home_start");
    const form = await world.modalOf(cat, "task");
    const choose = (channel: string) =>
      world.slack.acts.submit(cat, form.id, {
        task: { task_text: TASK },
        channel: { channel_chosen: channel },
      });
    await choose(payments);
    expect(Object.keys(form.errors)).toEqual(["channel"]);
    expect(world.tasksSent()).toEqual([]);
    await choose(random);
    // Which answer appears depends on what Slack has returned for the channel before.
    await world.told(cat, ["notice:cannot-post", "command-refusal:hidden-channel"]);
    expect(world.tasksSent()).toEqual([]);
  });
});
