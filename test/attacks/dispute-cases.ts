// "This was not me", pressed by other people or twice, and disputes closed by people who may not. Each would raise a false alarm or silence
// a true one.

import { expect } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, elementsOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, cat, opsAgents } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rowsOf } from "./ground.ts";
import { chosen, several } from "./queue-cases.ts";

type Row = readonly [what: string, attack: (on: Story, receipt: Message) => Promise<void>];

const disputesOf = ({ world }: Story): number =>
  rowsOf(world, "select seq from audit where what = 'disputed'").length;

/** Delivers the click that Slack would send if this person pressed the button of the receipt. */
function press({ world }: Story, receipt: Message, user: string): Promise<unknown> {
  const body = world.lastPayload("block_actions");
  const [button] = elementsOf(receipt.blocks).filter(({ action_id }) => action_id === "receipt_not_me");
  const [first] = body["actions"] as [object];
  const actions = [{ ...first, action_id: "receipt_not_me", value: button?.["value"] }];
  const origin = { channel: { id: receipt.channel }, message: { ts: receipt.ts } };
  return world.deliver({ ...body, ...origin, user: { id: user }, actions });
}

/** Ben disputes his own decision. */
async function disputeDecision(on: Story, receipt: Message): Promise<void> {
  await on.world.click(ben, receipt, "This was not me");
  await on.world.becomes(on.card, "dispute:1:open");
}

async function expectCloseRefused(on: Story, receipt: Message, user: string): Promise<void> {
  await disputeDecision(on, receipt);
  on.refused("not-admin", user);
  await on.world.command(user, opsAgents, `audit close ${on.run} it was me`);
  await on.world.told(user, "command-refusal:not-admin");
  expect(says("dispute:1:open", on.card)).toBe(true);
  expect(rowsOf(on.world, "select seq from audit where what = 'dispute-closed'")).toEqual([]);
}

const rows: readonly Row[] = [
  [
    "someone who did not decide presses the button of the decider's receipt",
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
      await disputeDecision(on, receipt);
      const again = on.world.lastPayload("block_actions");
      await on.world.deliver(again);
      await on.world.deliver(again);
      await on.world.told(ben, "answer:reported-before");
      expect(disputesOf(on)).toBe(1);
      expect(says("dispute:2:open", on.card)).toBe(false);
    },
  ],
  [
    "a person closes the dispute of their own decision",
    (on, receipt) => expectCloseRefused(on, receipt, ben),
  ],
  ["someone who is not an admin closes a dispute", (on, receipt) => expectCloseRefused(on, receipt, cat)],
];

const refusals = ({ world }: Story): number =>
  rowsOf(world, "select seq from audit where what = 'refused'").length;

const single: readonly Attack<Story>[] = attacks<Story, Row>(15, 7, rows, async (on, [, attack]) => {
  await on.world.decide(ben, on.card, "Approve", "looked at it");
  const receipt = await on.world.until(() =>
    on.world.directTo(ben).find((each) => says("receipt:approve", each)),
  );
  await on.world.becomes(on.card, "approved");
  await attack(on, receipt);
  expect(on.decisions()).toHaveLength(1);
});

// The same, with several receipts in one message.

/** Ben decides two requests in one form, so that their receipts share a message. */
async function bundledReceipt({ world }: Story): Promise<Message> {
  const { opening } = await world.asking(ana, opsAgents, "two approvals");
  await world.cardOf(opening, 1);
  const { blocks, submit } = await several(world);
  const verdicts = Object.fromEntries(blocks.map((block) => [block, chosen("deny")]));
  await submit(ben, { ...verdicts, reason_deny: { reason_text: { value: "not today" } } });
  const receipt = await world.until(() => world.directTo(ben).find((each) => says("receipt:several", each)));
  await world.until(() => rowsOf(world, "select id from notifications where to_do = 1").length === 0);
  return receipt;
}

const notMeValues = (message: Message): unknown[] =>
  elementsOf(message.blocks).flatMap(({ action_id, value }) =>
    action_id === "receipt_not_me" ? [value] : [],
  );

const disputedEntries = ({ world }: Story): unknown[] =>
  rowsOf(world, "select entry from audit where what = 'disputed'").map(
    ({ entry }) => (JSON.parse(String(entry)) as { refers: number }).refers,
  );

/** Delivers the click that Slack would send for a button with this value, under this message. */
function pressValue({ world }: Story, receipt: Message, user: string, value: unknown): Promise<unknown> {
  const body = world.lastPayload("block_actions");
  const [first] = body["actions"] as [object];
  const actions = [{ ...first, action_id: "receipt_not_me", value }];
  const { view: _home, ...click } = body;
  const origin = {
    channel: { id: receipt.channel },
    message: { ts: receipt.ts },
    response_url: "https://hooks.slack.com/actions/spent",
  };
  return world.deliver({ ...click, ...origin, user: { id: user }, actions });
}

async function nothingDisputed(on: Story, receipt: Message, user: string, value: unknown): Promise<void> {
  const before = refusals(on);
  on.refused("unknown", user);
  await pressValue(on, receipt, user, value);
  await on.world.until(() => refusals(on) > before);
  expect(disputesOf(on)).toBe(0);
  expect(notMeValues(receipt)).toHaveLength(2);
}

const bundledRows: readonly Row[] = [
  [
    "one receipt of several, whose button someone else presses",
    (on, receipt) => nothingDisputed(on, receipt, cat, notMeValues(receipt)[0]),
  ],
  [
    "one receipt of several, with a made-up value or the number of an entry",
    async (on, receipt) => {
      await nothingDisputed(on, receipt, ben, "A".repeat(22));
      await nothingDisputed(on, receipt, ben, "3");
    },
  ],
  [
    "one receipt of several that is reported three times raises one alarm, and the other keeps its button",
    async (on, receipt) => {
      const [first, second] = notMeValues(receipt);
      await on.world.click(ben, receipt, "This was not me");
      await on.world.until(() => notMeValues(receipt).length === 1);
      expect(notMeValues(receipt)).toEqual([second]);
      await pressValue(on, receipt, ben, first);
      await pressValue(on, receipt, ben, first);
      await on.world.command(ben, opsAgents, "help");
      await on.world.told(ben, "answer:help");
      expect(disputesOf(on)).toBe(1);
      await on.world.click(ben, receipt, "This was not me");
      await on.world.until(() => notMeValues(receipt).length === 0);
      expect(new Set(disputedEntries(on)).size).toBe(2);
    },
  ],
];

const bundled: readonly Attack<Story>[] = attacks<Story, Row>(15, 11, bundledRows, async (on, [, attack]) =>
  attack(on, await bundledReceipt(on)),
);

export const disputeCases: readonly Attack<Story>[] = [...single, ...bundled];
