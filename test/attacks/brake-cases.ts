// Ways around a stop or a freeze: forbidden presses, forms that were opened before, races, and restarts.

import { expect } from "vitest";
import { modalSays } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, cat, guest, opsAgents, outsider, payments } from "../make/world.ts";
import { type Attack, attacks, type Story } from "./classes.ts";
import { rowsOf } from "./ground.ts";

type Row = readonly [what: string, attack: (on: Story) => Promise<void>];

/** The `ADMINS` of these stories. */
export const FREEZERS = `${cat},${ben}`;

const entries = ({ world }: Story, what: string): number =>
  rowsOf(world, `select seq from audit where what = '${what}'`).length;
const verdicts = (on: Story): string[] => on.decisions().map(({ decision }) => decision);
const keyOf = ({ world, run }: Story): string =>
  String(rowsOf(world, `select key from runs where service_run_id = '${run}'`)[0]?.["key"]);

type Press = {
  readonly user: string;
  readonly action: "run_stop" | "run_lift";
  readonly value?: string;
  readonly channel?: string;
};

/** Delivers the click that Slack would send if this person pressed such a button. */
async function press(
  on: Story,
  { user, action, value = keyOf(on), channel = opsAgents }: Press,
): Promise<void> {
  const { world, card } = on;
  await world.click(ben, card, "Details");
  const body = world.lastPayload("block_actions");
  const [first] = body["actions"] as [object];
  const actions = [{ ...first, action_id: action, value }];
  await world.deliver({ ...body, channel: { id: channel }, user: { id: user }, actions });
}

const notStopped = (on: Story): void => {
  expect(entries(on, "stopped")).toBe(0);
  expect(on.decisions()).toEqual([]);
};

/** Returns why this person was refused, the newest last. Ben's press of Details may be refused, too, while the card is being posted. */
function refusalsOf({ world }: Story, user: string): string[] {
  return rowsOf(world, "select entry from audit where what = 'refused' order by seq")
    .map(({ entry }) => JSON.parse(String(entry)) as { by: { user: string }; refusal: string })
    .filter(({ by, refusal }) => by.user === user && refusal !== "being-posted")
    .map(({ refusal }) => refusal);
}

async function refusedStop(on: Story, facts: Press, because: string): Promise<void> {
  on.refused(because, facts.user);
  // On a loaded machine, Slack may not say in time who the person is. Then they press again.
  do {
    const before = refusalsOf(on, facts.user).length;
    await press(on, facts);
    await on.world.until(() => refusalsOf(on, facts.user).length > before);
    notStopped(on);
  } while (refusalsOf(on, facts.user).at(-1) === "unverified");
}

async function stop(on: Story, user = ben): Promise<void> {
  await on.world.click(user, on.card, "Stop");
  await on.world.becomes(on.card, "denied");
}

async function freeze({ world }: Story, user = cat): Promise<void> {
  await world.command(user, opsAgents, "freeze here");
  await world.told(user, "answer:frozen");
}

const rows: readonly Row[] = [
  ["a guest stops a run", (on) => refusedStop(on, { user: guest, action: "run_stop" }, "guest")],
  [
    "someone from another organization stops a run",
    (on) => refusedStop(on, { user: outsider, action: "run_stop" }, "outsider"),
  ],
  [
    "a button with an invented key stops nothing",
    (on) => refusedStop(on, { user: ben, action: "run_stop", value: "0".repeat(20) }, "unknown"),
  ],
  [
    "a run is not stopped from another channel",
    (on) => refusedStop(on, { user: ben, action: "run_stop", channel: payments }, "unknown"),
  ],
  [
    "the requester lifts the stop of their own run",
    async (on) => {
      await stop(on);
      on.refused("requester", ana);
      await press(on, { user: ana, action: "run_lift" });
      await on.world.until(() => entries(on, "refused") > 0);
      expect(entries(on, "stop-lifted")).toBe(0);
      expect(verdicts(on)).toEqual(["deny"]);
    },
  ],
  [
    "a form to approve that was open before the stop is submitted after it",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Approve");
      on.refused("already-decided");
      await on.world.click(ana, on.card, "Stop");
      await on.world.becomes(on.card, "denied");
      await on.world.fillModal(ben, "it was open");
      await on.world.until(() => modalSays(form, "refusal:already-decided"));
      expect(verdicts(on)).toEqual(["deny"]);
    },
  ],
  [
    "a stop that Slack delivers three times is one stop",
    async (on) => {
      await stop(on);
      const body = on.world.lastPayload("block_actions");
      await on.world.deliver(body);
      await on.world.deliver(body);
      expect(entries(on, "stopped")).toBe(1);
      expect(verdicts(on)).toEqual(["deny"]);
    },
  ],
  [
    "a form to approve that was open before a freeze is submitted after it",
    async (on) => {
      const form = await on.world.openForm(ben, on.card, "Approve");
      on.refused("frozen");
      await freeze(on);
      await on.world.fillModal(ben, "it was open");
      await on.world.until(() => modalSays(form, "refusal:frozen"));
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "a person lifts their own freeze",
    async (on) => {
      await freeze(on);
      on.refused("own-freeze", cat);
      await on.world.command(cat, opsAgents, "freeze lift");
      await on.world.told(cat, "command-refusal:own-freeze");
      expect(entries(on, "freeze-lifted")).toBe(0);
    },
  ],
  [
    "someone without the right to freeze freezes and lifts",
    async (on) => {
      on.refused("not-freezer", ana);
      await on.world.command(ana, opsAgents, "freeze everywhere");
      await on.world.told(ana, "command-refusal:not-freezer");
      expect(entries(on, "frozen")).toBe(0);
      await freeze(on);
      await on.world.command(ana, opsAgents, "freeze lift");
      await on.world.until(() => entries(on, "refused") === 2);
      expect(entries(on, "freeze-lifted")).toBe(0);
    },
  ],
  [
    "an Approve from before the freeze is pressed after a restart",
    async (on) => {
      const { world } = on;
      await freeze(on);
      await world.stopApp();
      await world.startApp();
      await world.click(ben, on.card, "Details");
      const body = world.lastPayload("block_actions");
      const [first] = body["actions"] as [object];
      on.refused("frozen");
      await world.deliver({ ...body, actions: [{ ...first, action_id: "card_approve" }] });
      await world.told(ben, "refusal:frozen");
      expect(on.decisions()).toEqual([]);
    },
  ],
  [
    "a press on Stop is delivered again after the stop was lifted",
    async (on) => {
      keepRunning(on);
      await stop(on);
      const body = on.world.lastPayload("block_actions");
      const message = await on.world.saidIn(on.opening, "thread:stopped");
      await on.world.click(cat, message, "Lift the stop");
      await on.world.becomes(message, "thread:stop-lifted");
      on.refused("other-stop");
      await on.world.deliver(body);
      await on.world.until(() => entries(on, "refused") > 0);
      expect(entries(on, "stopped")).toBe(1);
      on.world.service.control.clearFaults();
    },
  ],
  [
    "a press that lifted one stop is delivered again after another stop",
    async (on) => {
      keepRunning(on);
      await stop(on);
      const message = await on.world.saidIn(on.opening, "thread:stopped");
      await on.world.click(cat, message, "Lift the stop");
      const body = on.world.lastPayload("block_actions");
      await on.world.becomes(message, "thread:stop-lifted");
      on.refused("other-stop", cat);
      await on.world.click(ben, on.opening, "Stop");
      await on.world.until(() => entries(on, "stopped") === 2);
      await on.world.deliver(body);
      await on.world.until(() => entries(on, "refused") > 0);
      expect(entries(on, "stop-lifted")).toBe(1);
      on.world.service.control.clearFaults();
    },
  ],
];

/** From now on, the service confirms decisions without acting on them, so the run goes on. */
const keepRunning = ({ world }: Story): unknown =>
  world.service.control.fault({ route: "decide" }, { type: "answer", status: 200, body: "{}" }, "all");

export const brakeCases: readonly Attack<Story>[] = attacks<Story, Row>(
  37,
  1,
  rows,
  async (on, [, attack]) => {
    await attack(on);
    expect(says("approved", on.card)).toBe(false);
  },
);
