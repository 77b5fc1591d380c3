// Buttons of a listing (a message that lists many approvals), pressed under another message, or after their line became a card.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ben } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { isStored } from "./ground.ts";

const MANY = 30;

type Listings = readonly [first: Message, second: Message];
type Row = readonly [what: string, attack: (on: Story, listings: Listings) => Promise<void>];

const valuesOf = ({ blocks }: Message): string[] =>
  elementsOf(blocks).flatMap(({ action_id, value }) => (action_id === "card_approve" ? [String(value)] : []));

async function aStorm({ world, opening, run }: Story): Promise<Listings> {
  for (let nth = 1; nth <= MANY; nth += 1)
    world.service.control.addApproval(run, { action: `Deploy part ${nth}`, details: { tool: "deploy" } });
  const listings = (): Message[] => world.cardsOf(opening).filter((each) => says("digest:waiting", each));
  await world.until(() => listings().flatMap(valuesOf).length === MANY);
  const [first, second] = listings();
  if (first === undefined || second === undefined) throw new Error("a listing is missing");
  return [first, second];
}

/** Delivers the click that Slack would send if a button of the message had this value. */
async function press({ world }: Story, under: Message, value: string): Promise<void> {
  const body = world.lastPayload("block_actions");
  const [first] = body["actions"] as [object];
  const actions = [{ ...first, action_id: "card_approve", value }];
  const origin = { channel: { id: under.channel }, message: { ts: under.ts } };
  await world.deliver({ ...body, ...origin, user: { id: ben }, actions });
}

async function isRefused(on: Story, under: Message, value: string): Promise<void> {
  on.refused("unknown");
  await press(on, under, value);
  await on.world.told(ben, "refusal:unknown");
  expect(on.decisions()).toEqual([]);
}

const rows: readonly Row[] = [
  [
    "the button of a listing's line, under another listing",
    (on, [first, second]) => isRefused(on, second, valuesOf(first)[0] ?? ""),
  ],
  [
    "the button of a listing's line, under a card",
    (on, [first]) => isRefused(on, on.card, valuesOf(first)[0] ?? ""),
  ],
  [
    "the button of a card, under a listing",
    (on, [first]) => isRefused(on, first, valuesOf(on.card)[0] ?? ""),
  ],
];

export const listingCases: readonly Attack<Story>[] = attacks<Story, Row>(6, 41, rows, async (on, row) => {
  const listings = await aStorm(on);
  await on.world.until(() => [on.card, ...listings].every((each) => isStored(on.world, each)));
  // A valid press, to get a payload that can be forged.
  await on.world.openForm(ben, on.card, "Approve");
  await row[1](on, listings);
});
