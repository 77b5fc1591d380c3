// Until Slack says in which groups the requester is, several rules apply together. Nobody may satisfy all of them, which is no news.

import { expect, test } from "vitest";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import type { When } from "#src/domain/policy/policy.ts";
import { createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, REQUESTER } from "../make/run.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const PAY = GroupId("S0PAY");
const policy = {
  ...aPolicy(
    {
      name: "payments team",
      when: { ...ALWAYS, requesters: [], requesterGroups: [PAY] },
      approvers: these([UserId("U0LEAD")]),
    },
    { name: "others", approvers: these([APPROVER]) },
  ),
  fallback: ChannelId("C0FALL"),
};

test("no false alarm while Slack has not yet said in which groups the requester is", async () => {
  const bench = await createBench();
  bench.policy = policy;
  const memberOf = bench.people.memberOf.bind(bench.people);
  bench.people.memberOf = async (...args) => {
    await new Promise<void>((done) => void bench.clock.after(300, () => done()));
    return memberOf(...args);
  };
  await bench.withCard();
  await bench.clock.pass(30_000);
  expect(bench.chat.told).toEqual([]);
});

test("no false alarm when a later look-up of the requester's groups fails", async () => {
  const bench = await createBench();
  bench.policy = policy;
  bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]]);
  const { id } = await bench.withCard();
  await bench.clock.pass(30_000);
  const before = bench.chat.told.length;
  const memberOf = bench.people.memberOf.bind(bench.people);
  bench.people.memberOf = () => Promise.reject(failure("timeout"));
  await bench.clock.pass(6 * 60_000);
  bench.people.memberOf = memberOf;
  await bench.clock.pass(6 * 60_000);
  expect((await bench.run(id)).approvals[0]?.appliedRule.rule.name).toBe("payments team");
  expect(bench.chat.told.slice(before)).toEqual([]);
});
