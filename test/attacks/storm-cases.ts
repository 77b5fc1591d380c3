// Review on the notice of many requests: pressed with a forged value, in another channel, or by people who may not decide.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { idOf, says } from "../make/message-id.ts";
import { ana, ben, guest, opsAgents, releases } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import type { Body } from "./people-cases.ts";

/** More than eight runs, each of which asks for one approval. */
const RUNS = 14;
/** How long Slack accepts no message (s), so that all requests wait at once, however slow the machine is. */
const REST_S = 8;

/** Many requests wait in the story's channel, and Ben has pressed Review on their notice. */
export type Storm = Story & { readonly notice: Message; readonly click: Body };

export async function aStorm(story: Story): Promise<Storm> {
  const { world } = story;
  const { control } = world.service;
  const ids = Array.from({ length: RUNS }, () => control.createRun("release forever").id);
  for (const id of ids) await world.command(ana, opsAgents, `watch ${id}`);
  await world.until(() => world.posted(opsAgents).filter(({ thread }) => thread === null).length > RUNS);
  world.slack.faults.next("chat.postMessage", { retryAfter: REST_S });
  for (const id of ids) control.addApproval(id, { action: "Deploy", details: { tool: "deploy" } });
  const notice = await world.until(() => world.posted(opsAgents).find((each) => says("thread:storm", each)));
  await world.click(ben, notice, "Review");
  await world.told(ben, "answer:pending");
  return { ...story, notice, click: world.lastPayload("block_actions") };
}

type Row = readonly [what: string, forge: (click: Body, on: Storm) => Body];

const withValue = (click: Body, value: string): Body => {
  const [first] = click["actions"] as [object];
  return { ...click, actions: [{ ...first, value }] };
};

const rows: readonly Row[] = [
  ["a made-up key", (click) => withValue(click, "A".repeat(22))],
  ["no key", (click) => withValue(click, "")],
  ["the id of an approval as its key", (click, on) => withValue(click, on.approval)],
  [
    "the button under another message",
    (click, { card }) => ({ ...click, message: { ts: card.ts }, container: { message_ts: card.ts } }),
  ],
  ["the button in another channel", (click) => ({ ...click, channel: { id: releases } })],
];

const forged = attacks<Storm, Row>(6, 56, rows, async (on, [, forge]) => {
  const before = on.world.ephemeralMessages(ben).length;
  on.refused("unknown");
  await on.world.deliver(forge(on.click, on));
  const answers = () => [
    ...on.world.ephemeralMessages(ben).slice(before).map(idOf),
    ...on.world.slack.workspace.viewsOf(ben).map(({ view }) => idOf(view)),
  ];
  await on.world.until(() => answers().length > 0);
  expect(answers()).toEqual(["refusal:unknown"]);
  for (const { id } of on.world.slack.workspace.viewsOf(ben).slice())
    await on.world.slack.acts.close(ben, id);
  expect(on.decisions()).toEqual([]);
});

const guests = attacks<Storm, readonly [string]>(
  12,
  60,
  [["a guest who presses Review on the notice of many requests"]],
  async (on) => {
    await on.world.click(guest, on.notice, "Review");
    expect(await on.world.told(guest, "answer:pending:empty")).not.toContain("Deploy");
    expect(on.world.hasForm(guest)).toBe(false);
    expect(on.decisions()).toEqual([]);
  },
);

export const stormCases: readonly Attack<Storm>[] = [...guests, ...forged];
