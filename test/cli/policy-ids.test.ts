// What `npm run policy -- lint` finds by asking Slack about the ids in a policy.

import { expect, test } from "vitest";
import { startWorld } from "#sandbox/world/world.ts";
import { checkIds, slackPeople } from "#src/cli/slack/slack-people.ts";
import { ChannelId } from "#src/domain/ids.ts";
import { aPolicy } from "../make/policy.ts";

test("a channel that a rule excepts is reported if the app cannot see it", async () => {
  const world = await startWorld({ databaseUrl: "sqlite::memory:" });
  const channels = [ChannelId("C0PAYMENTS"), ChannelId("C0RANDOM")];
  const policy = aPolicy({ name: "payments", except: { users: [], groups: [], channels } });
  const doubts = (): Promise<readonly string[]> => checkIds(policy, world.env);
  try {
    expect(await doubts()).toEqual([]);
    world.slack.faults.removeFromChannel("C0PAYMENTS", "U0COUNTERSIGN");
    expect(await doubts()).toEqual([
      "Slack's answer about C0PAYMENTS: channel_not_found",
      expect.stringMatching(/^"payments" excepts C0PAYMENTS.*no one may decide under this rule/),
    ]);
  } finally {
    await world.stop();
  }
});

test("a person on a later page of a channel's members is a member, and a channel too large to list is unknown", async () => {
  const world = await startWorld({ databaseUrl: "sqlite::memory:" });
  const { faults } = world.slack;
  const join = (count: number, name: string): void => {
    for (let nth = 0; nth < count; nth += 1) faults.addToChannel("C0PAYMENTS", `U0${name}${nth}`);
  };
  const members = async () => (await slackPeople(world.env)).members("C0PAYMENTS");
  try {
    faults.removeFromChannel("C0PAYMENTS", "U0BEN");
    join(250, "FEW");
    faults.addToChannel("C0PAYMENTS", "U0BEN");
    expect(await members()).toContain("U0BEN");
    join(2_000, "MANY");
    expect(await members()).toBeNull();
  } finally {
    await world.stop();
  }
});
