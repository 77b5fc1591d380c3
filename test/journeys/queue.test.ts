// What waits for whom: Home and /agent pending.

import { describe, expect, test } from "vitest";
import { elementsOf, textOf } from "../make/journey-sight.ts";
import { type Saying, says } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import type { Stage } from "../make/world.ts";
import { ana, aWorld, ben, cat, guest, opsAgents } from "../make/world.ts";

const TASK = "deploy billing-api to production";

const TWO = `
rules:
  - name: two people
    approvers: anyone
    quorum: 2
`;

const home = (world: Stage, person: string) => world.slack.workspace.homes.get(person);

/** What this person's Home tab shows, as soon as it says this. */
async function homeOf(world: Stage, person: string, id: Saying): Promise<string> {
  await world.slack.openHome(person);
  return world.until(() => {
    const view = home(world, person)?.view;
    return view !== undefined && says(id, view) && textOf({ blocks: view.blocks });
  });
}

async function pendingOf(world: Stage, person: string, id: Saying): Promise<string> {
  await world.command(person, opsAgents, "pending");
  return world.told(person, id);
}

describe.concurrent("what waits", () => {
  test("is not listed for a guest, who may decide nothing", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    expect(await homeOf(world, guest, "home:runs")).not.toContain("billing-api");
    expect(await pendingOf(world, guest, "answer:pending:empty")).not.toContain("billing-api");
  });

  test("waits no longer for somebody who has voted, but for others", async (context) => {
    const { path } = policyFile(TWO, context);
    const world = await aWorld(context, { env: { POLICY_FILE: path } });
    const { card } = await world.asking(ana, opsAgents, TASK);
    await world.decide(ben, card, "Approve", "first");
    await world.becomes(card, "rule:1-of-2");
    for (const shown of [
      await homeOf(world, ben, "queue:yours:none"),
      await pendingOf(world, ben, "queue:yours:none"),
    ])
      expect(shown).toContain("1 of 2");
    const [rows] = [home(world, cat)];
    expect(rows).toBeUndefined();
    expect(await pendingOf(world, cat, "queue:yours")).toContain("1 of 2");
  });

  test("waits for others where the reader asked for it", async (context) => {
    const world = await aWorld(context);
    await world.asking(ana, opsAgents, TASK);
    expect(await homeOf(world, ana, "queue:yours:none")).toMatch(/billing-api/i);
    expect(await homeOf(world, ben, "queue:yours")).toMatch(/billing-api/i);
    expect(elementsOf(home(world, ana)?.view.blocks).map(({ action_id }) => action_id)).not.toContain(
      "queue_review",
    );
  });
});
