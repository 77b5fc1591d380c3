// A day of the real bot on the sandbox: everything that it calls and receives for a run, from its start to its end.

import type { TestContext } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { elementsOf } from "../../../make/journey-sight.ts";
import { ana, aWorld, ben, cat, opsAgents, payments, type Stage } from "../../../make/world.ts";
import { sentBy, type Sent } from "./sent.ts";

const TASK = "deploy billing-api to production";

export async function aBotsDay(context: TestContext): Promise<readonly Sent[]> {
  const world = await aWorld(context, { env: { APPROVERS: "S0APPROVERS" } });
  await fromTheQueueAndHome(world);
  await fromTheMenu(world);
  await world.slack.acts.say(ana, payments, "@countersign just say hello");
  const opening = await world.until(() => world.posted(payments)[0]);
  await world.saidIn(opening, "outcome:succeeded");
  await aFile(world);
  await aShortcut(world, opening);
  world.slack.faults.removeFromChannel(opsAgents, world.slack.workspace.app.person);
  world.slack.faults.addToChannel(opsAgents, world.slack.workspace.app.person);
  return sentBy(world.slack);
}

async function fromTheQueueAndHome(world: Stage): Promise<void> {
  const { opening, card } = await world.asking(ana, opsAgents, TASK);
  await world.command(ben, opsAgents, "pending");
  await world.slack.openHome(ben);
  const home = await world.until(() => world.slack.workspace.homes.get(ben));
  await use(world, [ben, { view: home.id }], home.view, "button");
  // A deleted card is posted again.
  world.slack.workspace.remove(card);
  const again = await world.cardOf(opening);
  await world.decide(ben, again, "Approve", "looks right");
  await world.becomes(again, "approved");
}

/** Claims the request with the card's menu. */
async function fromTheMenu(world: Stage): Promise<void> {
  const { card } = await world.asking(ana, opsAgents, TASK);
  await use(world, [cat, card], card, "overflow");
  await world.decide(ben, card, "Deny", "not today");
  await world.becomes(card, "denied");
}

async function aFile(world: Stage): Promise<void> {
  const opening = await world.run(ana, opsAgents, "huge report");
  await world.saidIn(opening, "outcome:succeeded");
  await world.until(() => world.threadOf(opening).some(({ files }) => files.length > 0));
}

async function aShortcut(world: Stage, { channel, ts }: Message): Promise<void> {
  await world.slack.shortcut(ana, "run_on_message", { channel, ts });
  const form = await world.modalOf(ana, "task");
  await world.slack.acts.close(ana, form.id);
}

type Place = { readonly view: string } | { readonly channel: string; readonly ts: string };

/** Uses the first element of this kind, with its first choice. */
async function use(
  { slack }: Stage,
  [person, at]: readonly [person: string, at: Place],
  { blocks }: Pick<Message, "blocks">,
  kind: "button" | "overflow",
): Promise<void> {
  const block = blocks.find((each) => elementsOf(each).some((one) => one["type"] === kind));
  const element = elementsOf(block).find((one) => one["type"] === kind);
  const [option] = (element?.["options"] ?? []) as { readonly value?: string }[];
  const ids = [String(block?.block_id), String(element?.["action_id"])] as const;
  await slack.acts.click(person, at, ...ids, option?.value);
}
