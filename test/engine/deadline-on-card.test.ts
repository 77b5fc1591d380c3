// The deadline on a card is the one that holds, also once Slack has said which rule applies.

import { expect, test } from "vitest";
import { deadlineOf } from "#src/domain/applied-rule.ts";
import { GroupId } from "#src/domain/ids.ts";
import type { Rule, When } from "#src/domain/policy/policy.ts";
import { createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { REQUESTER } from "../make/run.ts";

const MIN = 60_000;
const PAY = GroupId("S0PAY");
const IN_GROUP: When = {
  channels: null,
  requesters: [],
  requesterGroups: [PAY],
  action: null,
  input: null,
  fields: {},
};
const denyAfter = (minutes: number): Rule["expiry"] => ({ afterMs: minutes * MIN, outcome: "deny" });

test("the deadline on a card is that of a rule that applies only to a group, once Slack has said that the requester is in it", async () => {
  const bench = await createBench();
  bench.policy = aPolicy(
    { name: "payments team", when: IN_GROUP, expiry: denyAfter(60) },
    { name: "others", expiry: denyAfter(24 * 60) },
  );
  bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]]);
  const memberOf = bench.people.memberOf.bind(bench.people);
  bench.people.memberOf = () => Promise.reject(failure("timeout"));
  const { id } = await bench.withCard();
  const update = bench.chat.update.bind(bench.chat);
  const drawn: (number | null)[] = [];
  bench.chat.update = (run, ...rest) => {
    drawn.push(...run.approvals.map(deadlineOf));
    return update(run, ...rest);
  };
  await bench.clock.pass(10 * MIN);
  bench.people.memberOf = memberOf;
  await bench.clock.pass(6 * MIN);
  const [approval] = (await bench.run(id)).approvals;
  expect(drawn.at(-1)).toBe((approval?.since ?? 0) + 60 * MIN);
});
