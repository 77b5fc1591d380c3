// "This was not me", pressed by others, twice, or closed by those who may not: each would raise a false alarm or silence a true one.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ben, cat, opsAgents } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rowsOf } from "./ground.ts";

type Row = readonly [what: string, attack: (on: Story, receipt: Message) => Promise<void>];

const disputesOf = ({ world }: Story): number =>
  rowsOf(world, "select seq from audit where what = 'disputed'").length;

/** The click that Slack would send if this person pressed the button of the receipt. */
function press({ world }: Story, receipt: Message, user: string): Promise<unknown> {
  const body = world.lastPayload("block_actions");
  const [button] = elementsOf(receipt.blocks).filter(({ action_id }) => action_id === "receipt_not_me");
  const [first] = body["actions"] as [object];
  const actions = [{ ...first, action_id: "receipt_not_me", value: button?.["value"] }];
  const origin = { channel: { id: receipt.channel }, message: { ts: receipt.ts } };
  return world.deliver({ ...body, ...origin, user: { id: user }, actions });
}

/** Ben's decision is disputed by Ben. */
async function disputed(on: Story, receipt: Message): Promise<void> {
  await on.world.click(ben, receipt, "This was not me");
  await on.world.becomes(on.card, "dispute:1:open");
}

async function closedBy(on: Story, receipt: Message, user: string): Promise<void> {
  await disputed(on, receipt);
  on.refused("not-admin", user);
  await on.world.command(user, opsAgents, `audit close ${on.run} it was me`);
  await on.world.told(user, "command-refusal:not-admin");
  expect(says("dispute:1:open", on.card)).toBe(true);
  expect(rowsOf(on.world, "select seq from audit where what = 'dispute-closed'")).toEqual([]);
}

const rows: readonly Row[] = [
  [
    "somebody who did not decide presses the button of the decider's receipt",
    async (on, receipt) => {
      on.refused("unknown", cat);
      await press(on, receipt, cat);
      await on.world.until(() => refusals(on) > 0);
      expect(disputesOf(on)).toBe(0);
      expect(says("dispute:1:open", on.card)).toBe(false);
      expect(buttonsOf(receipt)).toEqual(["This was not me"]);
    },
  ],
  [
    "a report that Slack delivers three times raises one alarm",
    async (on, receipt) => {
      await disputed(on, receipt);
      const again = on.world.lastPayload("block_actions");
      await on.world.deliver(again);
      await on.world.deliver(again);
      await on.world.told(ben, "answer:reported-before");
      expect(disputesOf(on)).toBe(1);
      expect(says("dispute:2:open", on.card)).toBe(false);
    },
  ],
  ["who decided closes their own dispute", (on, receipt) => closedBy(on, receipt, ben)],
  ["somebody who is no admin closes a dispute", (on, receipt) => closedBy(on, receipt, cat)],
];

const refusals = ({ world }: Story): number =>
  rowsOf(world, "select seq from audit where what = 'refused'").length;

export const disputeCases: readonly Attack<Story>[] = attacks<Story, Row>(
  15,
  7,
  rows,
  async (on, [, attack]) => {
    await on.world.decide(ben, on.card, "Approve", "looked at it");
    const receipt = await on.world.until(() =>
      on.world.directTo(ben).find((each) => says("receipt:approve", each)),
    );
    await on.world.becomes(on.card, "approved");
    await attack(on, receipt);
    expect(on.decisions()).toHaveLength(1);
  },
);
