// Claims, questions, hand-overs and extensions: by people who may not, with forged values, in another channel, or in another person's form.
// Each is refused, and nothing is recorded about the request.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { accepted } from "../make/journey-acts.ts";
import { elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, cat, guest, opsAgents, releases } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rowsOf } from "./ground.ts";
import type { Body } from "./people-cases.ts";

/** Rules for the story's world. Cat may not approve. */
export const FOLLOWED = `
rules:
  - name: followed
    approvers: { users: [${ben}] }
    expiry: { after: 4 h, outcome: nothing, extend: { by: 30 min, at-most: 1 h } }
`;

/** Ben looks at the request and has asked Ana a question. Ana has opened the form for the answer. Slack's own payloads are kept. */
export type Followed = Story & {
  readonly question: Message;
  readonly claim: Body;
  readonly menu: Body;
  readonly ask: Body;
  readonly answer: Body;
};

const newestVersionOf = (world: Story["world"], card: Message): Message =>
  world.posted(opsAgents).find(({ ts }) => ts === card.ts) ?? card;

/** Chooses an item of the card's menu, as a person does. */
async function choose({ world, card }: Story, user: string, act: string): Promise<Body> {
  const shown = newestVersionOf(world, card);
  const block = shown.blocks.find((each) => elementsOf(each).some(({ type }) => type === "overflow"));
  const values = JSON.stringify(block).match(/"value":"[^"]+"/g) ?? [];
  const value = values.map((each) => each.slice(9, -1)).find((each) => each.includes(` ${act}`));
  const at = { channel: card.channel, ts: card.ts };
  accepted(await world.slack.acts.click(user, at, String(block?.block_id), "card_more", value));
  return world.lastPayload("block_actions");
}

export async function followed(story: Story): Promise<Followed> {
  const { world, card } = story;
  // The form opens only once the card is ready.
  const { id } = await world.openForm(ben, card, "Approve");
  accepted(await world.slack.acts.close(ben, id));
  await world.click(ben, card, "I'm looking at it");
  const claim = world.lastPayload("block_actions");
  await world.becomes(card, "claim:own");
  const menu = await choose(story, ben, "ask");
  const form = await world.modalOf(ben, "form:ask");
  accepted(await world.slack.acts.submit(ben, form.id, { said: { said_text: "Is it backed up?" } }));
  const ask = world.lastPayload("view_submission");
  const question = await world.until(() =>
    world.posted(opsAgents).find((each) => says("thread:question:open", each)),
  );
  await world.click(ana, question, "Answer");
  return { ...story, question, claim, menu, ask, answer: world.lastPayload("block_actions") };
}

type Forged = { readonly body: Body; readonly user?: string; readonly because?: string };
type Row = readonly [what: string, forge: (on: Followed) => Forged];

const withAction = (click: Body, change: object): Body => {
  const [first] = click["actions"] as [object];
  return { ...click, actions: [{ ...first, ...change }] };
};
const chosen = (value: string): object => ({ selected_option: { value } });
const nonceOf = ({ claim }: Followed): string => (claim["actions"] as [{ value: string }])[0].value;
const asPerson = (body: Body, user: string): Body => ({ ...body, user: { id: user } });
const underMessage = (body: Body, ts: string): Body => ({
  ...body,
  message: { ts },
  container: { message_ts: ts },
});
const inMenu = (on: Followed, act: string): Body => withAction(on.menu, chosen(`${nonceOf(on)} ${act}`));
const submitOf = ({ ask }: Followed, metadata: string, values: object): Body => ({
  ...ask,
  view: { ...(ask["view"] as object), private_metadata: metadata, state: { values } },
});
const SAID = { said: { said_text: { type: "plain_text_input", value: "Another question" } } };
const metadataOf = ({ ask }: Followed): string =>
  (ask["view"] as { private_metadata: string }).private_metadata;

const forgedRows: readonly Row[] = [
  ["a claim with a made-up key", (on) => ({ body: withAction(on.claim, { value: "A".repeat(22) }) })],
  ["a claim with the approval's id", (on) => ({ body: withAction(on.claim, { value: on.approval }) })],
  ["a claim under another message", (on) => ({ body: underMessage(on.claim, on.opening.ts) })],
  ["a claim in another channel", (on) => ({ body: { ...on.claim, channel: { id: releases } } })],
  ["a choice without a key", (on) => ({ body: withAction(on.menu, chosen(" ask")) })],
  ["a choice that the menu does not have", (on) => ({ body: inMenu(on, "approve") })],
  [
    "an extension with another count than the card shows",
    (on) => ({ body: inMenu(on, "extend 7"), because: "extended-meanwhile" }),
  ],
  [
    "an extension without a count",
    (on) => ({ body: inMenu(on, "extend -1"), because: "extended-meanwhile" }),
  ],
  [
    "an answer to a message that asks nothing",
    (on) => ({ body: underMessage(on.answer, on.card.ts), user: ana }),
  ],
  [
    "a question in another person's form",
    (on) => ({ body: asPerson(submitOf(on, metadataOf(on), SAID), cat), user: cat }),
  ],
  ["a question without a form", (on) => ({ body: submitOf(on, "A".repeat(22), SAID) })],
  [
    "a hand-over in the form for a question",
    (on) => ({
      body: {
        ...submitOf(on, metadataOf(on), { taker: { taker_chosen: { selected_user: cat } } }),
        view: {
          ...(on.ask["view"] as object),
          callback_id: "hand_over_modal",
          state: { values: { taker: { taker_chosen: { selected_user: cat } } } },
        },
      },
    }),
  ],
  [
    "a decision in the form for a question",
    (on) => ({
      body: {
        ...on.ask,
        view: {
          ...(on.ask["view"] as object),
          callback_id: "decision_modal",
          state: { values: { reason: { reason_text: { value: "let it through" } } } },
        },
      },
    }),
  ],
];

const peopleRows: readonly Row[] = [
  ["the requester claims it", (on) => ({ body: asPerson(on.claim, ana), user: ana, because: "requester" })],
  ["a guest claims it", (on) => ({ body: asPerson(on.claim, guest), user: guest, because: "guest" })],
  [
    "someone whom the rule does not list claims it",
    (on) => ({ body: asPerson(on.claim, cat), user: cat, because: "not-approver" }),
  ],
  [
    "someone whom the rule does not list extends it",
    (on) => ({ body: asPerson(inMenu(on, "extend 0"), cat), user: cat, because: "not-approver" }),
  ],
  [
    "the requester asks in the approvers' name",
    (on) => ({ body: asPerson(inMenu(on, "ask"), ana), user: ana, because: "requester" }),
  ],
  [
    "someone else hands over what Ben looks at",
    (on) => ({ body: asPerson(inMenu(on, "hand-over"), cat), user: cat, because: "not-approver" }),
  ],
  [
    "the approver answers for the requester",
    (on) => ({ body: asPerson(on.answer, ben), because: "not-asked" }),
  ],
];

/** Returns the number of audit entries about what people did with requests, or about their refusals. */
const recorded = ({ world }: Story, refused: boolean): number =>
  rowsOf(
    world,
    refused
      ? "select seq from audit where what = 'refused'"
      : "select seq from audit where what in ('claimed', 'claim-ended', 'snoozed', 'handed-over', 'asked', 'answered', 'extended', 'decided')",
  ).length;

async function attack(on: Followed, [, forge]: Row): Promise<void> {
  const { body, user = ben, because = "unknown" } = forge(on);
  const before = { done: recorded(on, false), refused: recorded(on, true) };
  on.refused(because, user);
  await on.world.deliver(body);
  await on.world.until(() => recorded(on, true) > before.refused);
  expect(recorded(on, false)).toBe(before.done);
  expect(on.decisions()).toEqual([]);
  for (const { id } of on.world.slack.workspace.viewsOf(user).slice())
    await on.world.slack.acts.close(user, id);
}

export const followUpCases: readonly Attack<Followed>[] = [
  ...attacks<Followed, Row>(6, 80, forgedRows, attack),
  ...attacks<Followed, Row>(8, 25, peopleRows, attack),
];
