// Runs attacks one after the other in one world. Each must be answered and change nothing. At the end, the stored state must be unchanged,
// and the audit must have an entry for each refusal of a person.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { modalSays, textOf } from "../make/journey-sight.ts";
import { says, saysInJson } from "../make/message-id.ts";
import { ana, aSharedWorld, ben, type Choices, opsAgents, payments, type Stage } from "../make/world.ts";
import type { Attack } from "./classes.ts";
import { rowsOf, stateOf, storedRuns } from "./ground.ts";
import type { Body, Expected, People } from "./people-cases.ts";

const TASK = "deploy billing-api to production";
type Noted = Expected & { readonly id: string; readonly from: number; readonly to: number };

export function attackedByPeople(cases: readonly Attack<People>[], choices: Choices = {}): void {
  const stage = aSharedWorld({ troubled: true, ...choices });
  const afterAudit: Noted[] = [];
  let ground: Ground | null = null;
  let running = "";

  beforeAll(async () => {
    addStrangers(stage());
    ground = await settle(stage(), (expected) => void afterAudit.push({ ...expected, id: running }));
  });

  test.for(cases.map((each) => [each.id, each.what, each] as const))("%s %s", async ([id, , attack]) => {
    if (ground === null) throw new Error("the world was not started");
    running = id;
    const before = stateOf(stage());
    await attack.run(ground.people);
    expect(stateOf(stage())).toEqual(before);
    const forms = stage().slack.workspace.views.filter((view) => view.view["submit"] !== undefined);
    expect(forms).toEqual([]);
  });

  afterAll(async () => {
    const world = stage();
    const before = stateOf(world);
    await world.command(ana, opsAgents, "help");
    await world.stopApp();
    expect(stateOf(world)).toEqual(before);
    expect(storedRuns(world)).toEqual(ground?.runs);
    const harmless = "'refused', 'started', 'start-confirmed', 'opened', 'program-started', 'policy-loaded'";
    expect(rowsOf(world, `select * from audit where what not in (${harmless})`)).toEqual([]);
    expect(missingRefusals(world, afterAudit), "refusals without an audit entry").toEqual([]);
  });
}

type Ground = { readonly people: People; readonly runs: unknown };
type Note = (afterAudit: Omit<Noted, "id">) => void;

function addStrangers(world: Stage): void {
  const solo = { id: "U0SOLO", team: "T0SANDBOX", name: "Solo", handle: "solo", kind: "member" as const };
  const fake = { ...solo, id: "U0FAKE", name: "Ben Okafor", handle: "ben", kind: "guest" as const };
  for (const each of [solo, fake]) world.slack.workspace.people.set(each.id, { ...each, deactivated: false });
}

async function settle(world: Stage, note: Note): Promise<Ground> {
  const { card } = await world.asking(ana, opsAgents, `${TASK} 1`);
  const { card: other } = await world.asking(ana, opsAgents, `${TASK} 2`);
  const { card: hidden } = await world.asking(ana, payments, `${TASK} 3`);
  const [first, third] = await Promise.all([1, 3].map((at) => world.runAt(`${TASK} ${at}`)));
  const form = await world.openForm(ben, card, "Approve");
  await world.slack.acts.close(ben, form.id);
  await world.openForm(ben, hidden, "Approve");
  await closeAll(world, ben);
  // An attack without visible effect can only be found in the stored state, which must stay as it is now.
  await world.stopApp();
  const runs = storedRuns(world);
  await world.startApp();
  const ids = { run: first?.id ?? "", hidden: third?.id ?? "", approval: first?.approvals[0]?.id ?? "" };
  const on = { world, card, other, hidden, ids, form };
  const people: People = {
    ...on,
    click: (at = card) => freshClick(world, at),
    refused: async (deliver, expected) => {
      const from = Date.now();
      await untilAnswered(world, deliver, expected);
      note({ ...expected, from, to: Date.now() });
    },
  };
  return { people, runs };
}

async function closeAll(world: Stage, person: string): Promise<void> {
  for (const view of world.slack.workspace.viewsOf(person).toReversed())
    await world.slack.acts.close(person, view.id);
}

async function freshClick(world: Stage, card: Message): Promise<Body> {
  await world.openForm(ben, card, "Approve");
  const click = world.lastPayload("block_actions");
  await closeAll(world, ben);
  return click;
}

/** Delivers an attack, and waits until the person gets a private answer: in the acknowledgment, a form or a message. */
async function untilAnswered(
  world: Stage,
  deliver: () => Promise<unknown>,
  expected: Expected,
): Promise<void> {
  const { workspace } = world.slack;
  const messages = new Set(workspace.messages);
  const views = new Set(workspace.views);
  const outcome = JSON.stringify(await deliver());
  await world.until(
    () =>
      saysInJson(expected.says, outcome) ||
      workspace.messages.some(
        (each) => !messages.has(each) && each.ephemeralFor !== null && says(expected.says, each),
      ) ||
      workspace.views.some((each) => !views.has(each) && modalSays(each, expected.says)),
    () =>
      `unexpected answer: ${outcome}\n${workspace.messages
        .filter((each) => !messages.has(each))
        .map((each) => textOf(each))
        .join("\n")}`,
  );
  for (const { id, person } of workspace.views.slice()) await world.slack.acts.close(person, id);
}

function missingRefusals(world: Stage, afterAudit: readonly Noted[]): readonly Noted[] {
  const audit = rowsOf(world, "select at, entry from audit where what = 'refused'").map(({ at, entry }) => ({
    at: Number(at),
    ...(JSON.parse(String(entry)) as { by: { user: string }; refusal: string }),
  }));
  return afterAudit.filter(
    ({ user, because, from, to }) =>
      because !== null &&
      !audit.some((row) => row.by.user === user && row.refusal === because && row.at >= from && row.at <= to),
  );
}
