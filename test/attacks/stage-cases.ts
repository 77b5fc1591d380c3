// Escalation: people of a stage that has not begun, people who are only called, the requester in a stage, and Review on calls.

import { expect } from "vitest";
import { idOf, says } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents, releases } from "../make/world.ts";
import { type Attack, attacks } from "./classes.ts";
import { isStored } from "./ground.ts";
import type { Body } from "./people-cases.ts";
import type { Ruled } from "./ruled-cases.ts";

const byCat = (stage: string): string =>
  `rules:\n  - { name: staged, approvers: { users: [${cat}] }, escalate: [${stage}] }\n`;

async function underRules(on: Ruled, rules: string): Promise<void> {
  on.rules(rules);
  await on.world.reload();
}

/** Waits until the stage has begun and was announced in the thread. */
const untilStageBegins = (on: Ruled) =>
  on.world.until(() => on.world.posted(opsAgents).find((each) => says("call:stage", each)));

type Row = readonly [what: string, stage: string, person: string, because: "not-approver" | "requester"];

const people = attacks<Ruled, Row>(
  14,
  40,
  [
    [
      "a person of a stage that is not reached yet",
      `{ after: 1 h, to: { users: [${ben}] } }`,
      ben,
      "not-approver",
    ],
    ["a person whom a stage only calls", `{ after: 1 s, call: { users: [${ben}] } }`, ben, "not-approver"],
    [
      "the requester, whom a stage that is reached names",
      `{ after: 1 s, to: { users: [${ana}, ${ben}] } }`,
      ana,
      "requester",
    ],
  ],
  async (on, [, stage, person, because]) => {
    await underRules(on, byCat(stage));
    if (!stage.includes("1 h")) await untilStageBegins(on);
    on.refused(because, person);
    await on.world.isRefused(person, on.card, "Approve", because);
  },
);

const withValue = (click: Body, value: string): Body => {
  const [first] = click["actions"] as [object];
  return { ...click, actions: [{ ...first, value }] };
};

type Forgery = readonly [what: string, forge: (click: Body, on: Ruled) => Body];

const reviews = attacks<Ruled, Forgery>(
  6,
  95,
  [
    ["Review on an announcement with a made-up key", (click) => withValue(click, "A".repeat(22))],
    ["Review on an announcement with an approval's id", (click, on) => withValue(click, on.approval)],
    [
      "the Review of an announcement pressed in the run's channel",
      (click) => ({ ...click, channel: { id: opsAgents } }),
    ],
    [
      "the Review of an announcement under the card",
      (click, { card }) => ({ ...click, message: { ts: card.ts }, container: { message_ts: card.ts } }),
    ],
  ],
  async (on, [, forge]) => {
    await underRules(on, byCat(`{ after: 1 s, to: { channel: ${releases} } }`));
    const announced = await on.world.until(() =>
      on.world.posted(releases).find((each) => says("announcement:stage", each)),
    );
    await on.world.until(() => isStored(on.world, announced));
    const earlier = on.world.ephemeralMessages(ben).length;
    await on.world.click(ben, announced, "Review");
    await on.world.until(() => on.world.ephemeralMessages(ben).length > earlier);
    const click = on.world.lastPayload("block_actions");
    const before = on.world.ephemeralMessages(ben).length;
    on.refused("unknown");
    await on.world.deliver(forge(click, on));
    const answers = () => [
      ...on.world.ephemeralMessages(ben).slice(before).map(idOf),
      ...on.world.slack.workspace.viewsOf(ben).map(({ view }) => idOf(view)),
    ];
    await on.world.until(() => answers().length > 0);
    expect(answers()).toEqual(["refusal:unknown"]);
    for (const { id } of on.world.slack.workspace.viewsOf(ben).slice())
      await on.world.slack.acts.close(ben, id);
  },
);

export const stageCases: readonly Attack<Ruled>[] = [...people, ...reviews];
