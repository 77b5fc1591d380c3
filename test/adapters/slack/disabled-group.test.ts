// A user group that Slack no longer has, or that an admin has disabled, says nothing. Whoever a rule names in another way may still decide.
import { expect, test } from "vitest";
import type { Answer } from "#src/adapters/slack/clients.ts";
import { createPeople } from "#src/adapters/slack/people.ts";
import { refusalToDecide } from "#src/domain/authorization.ts";
import { GroupId } from "#src/domain/ids.ts";
import { setsOfRule } from "#src/domain/rule-facts.ts";
import { lookUp } from "#src/engine/fresh-facts.ts";
import { PortError } from "#src/ports.ts";
import { createHandClock } from "../../make/clock.ts";
import { aRule } from "../../make/policy.ts";
import { APPROVER, aWatchedRun, CHANNEL, TEAM } from "../../make/run.ts";

const [GONE, ONCALL] = [GroupId("S0GONE"), GroupId("S0ONCALL")];
const call = async (method: string, args: { readonly [name: string]: unknown }): Promise<Answer> => {
  if (method === "users.info") return { user: { id: args["user"], team_id: TEAM } };
  if (method === "conversations.info")
    return { channel: { id: CHANNEL, is_private: false, is_member: true } };
  if (method === "usergroups.users.list" && args["usergroup"] === ONCALL) return { users: [APPROVER] };
  throw new PortError("no", { applied: "no", retry: "never", code: "no_such_subteam" });
};

test.each([
  ["named by id", aRule({ approvers: { users: [APPROVER], groups: [GONE], channels: [] } })],
  ["in another group", aRule({ approvers: { users: [], groups: [ONCALL, GONE], channels: [] } })],
  [
    "in a group, while the escalation names the deleted one",
    aRule({
      approvers: { users: [], groups: [ONCALL], channels: [] },
      escalated: { users: [], groups: [GONE], channels: [] },
    }),
  ],
])("a person %s may decide although Slack no longer has a group of the rule", async (_how, rule) => {
  const people = createPeople(call, { team: TEAM, enterprise: null }, createHandClock());
  const run = aWatchedRun();
  const person = await lookUp({ people }, run, { user: APPROVER, sets: setsOfRule(rule), maxAgeMs: 0 });
  expect("type" in person ? person : refusalToDecide(person, run, rule)).toBeNull();
});
