// What `npm run policy -- lint` finds by asking Slack about the ids of a policy.

import { expect, test } from "vitest";
import { startWorld } from "#sandbox/world/world.ts";
import { checkIds } from "#src/cli/slack/slack-people.ts";
import { ChannelId } from "#src/domain/ids.ts";
import { aPolicy } from "../make/policy.ts";

test("a channel that a rule excepts and that the app cannot see", async () => {
  const world = await startWorld({ databaseUrl: "sqlite::memory:" });
  const channels = [ChannelId("C0PAYMENTS"), ChannelId("C0RANDOM")];
  const policy = aPolicy({ name: "payments", except: { users: [], groups: [], channels } });
  const doubts = (): Promise<readonly string[]> => checkIds(policy, world.env);
  try {
    expect(await doubts()).toEqual([]);
    world.slack.faults.removeFromChannel("C0PAYMENTS", "U0COUNTERSIGN");
    expect(await doubts()).toEqual([
      "Slack says of C0PAYMENTS: channel_not_found",
      expect.stringMatching(/^"payments" excepts C0PAYMENTS.*no one may decide under this rule/),
    ]);
  } finally {
    await world.stop();
  }
});
