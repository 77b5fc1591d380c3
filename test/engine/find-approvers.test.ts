// Who can approve a request: how many they are, and whom a reminder mentions.

import { describe, expect, test } from "vitest";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { Rule, When } from "#src/domain/policy/policy.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy, aRule, these } from "../make/policy.ts";
import { APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

test("in a private channel, inviting people helps if the rule lets anyone approve", async () => {
  const bench = await createBench();
  bench.people.isPublic = () => Promise.resolve(false);
  bench.people.membersOf = () => Promise.resolve([REQUESTER]);
  const { id } = await bench.withCard();
  await bench.clock.pass(30_000);
  expect((await bench.run(id)).approvals[0]?.approverCount).toMatchObject({ able: 0, grows: true });
  expect(bench.chat.told).toMatchObject([
    { to: REQUESTER, says: { type: "nobody-can-approve", grows: true } },
  ]);
});

test("the requester and the fallback channel are told once if a changed rule needs more people than there are", async () => {
  const bench = await createBench();
  const [ana, ben] = [UserId("U0ANA"), UserId("U0BEN")];
  const needing = (needs: number, version: string) => ({
    ...aPolicy({ approvers: these([ana, ben]), needs }),
    fallback: ChannelId("C0FALLBACK"),
    version,
  });
  bench.policy = needing(2, "one");
  await bench.withCard();
  await bench.clock.pass(30_000);
  expect(bench.chat.told).toEqual([]);
  for (const [needs, version] of [
    [3, "two"],
    [4, "three"],
  ] as const) {
    bench.policy = needing(needs, version);
    await bench.flow.policyChanged();
    await bench.clock.pass(30_000);
    expect(bench.chat.told).toMatchObject([
      { to: REQUESTER, says: { type: "nobody-can-approve", able: 2, needs: 3 } },
      { to: "C0FALLBACK", says: { type: "nobody-can-approve", able: 2, needs: 3 } },
    ]);
  }
});

describe("two rules apply, and one names people by id and the other by a group", () => {
  const ON_CALL = GroupId("S0ONCALL");
  const [ana, ben, cat] = [UserId("U0ANA"), UserId("U0BEN"), UserId("U0CAT")];
  const inEnv = (env: string): When => ({ ...aRule().when, fields: { env: [env] } });
  const REMIND = { ...NO_FOLLOW_UP, remind: { afterMs: 60_000, doubles: false, atMost: 1 } };

  async function waiting(needs: number) {
    const bench = await createBench();
    bench.policy = aPolicy(
      { name: "prod", when: inEnv("prod"), approvers: these([ana, ben]), needs, followUp: REMIND },
      { name: "test", when: inEnv("test"), approvers: these([], [ON_CALL]), holdMs: 1_000 },
      { name: "others" },
    );
    bench.people.membersOf = (set) => Promise.resolve(set === ON_CALL ? [ana, cat] : [ana, ben, cat]);
    bench.people.ownSets = new Map([ana, cat].map((user) => [user, new Set([ON_CALL])]));
    const id = aRunId();
    // Both spellings may be the field that the rules ask for, so the request must meet both rules.
    bench.agents.pending.set(id, [{ id: "appr_1", content: { env: "prod", Env: "test" } }]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(30_000);
    return { bench, id };
  }
  const countOf = async ({ bench, id }: Awaited<ReturnType<typeof waiting>>) =>
    (await bench.run(id)).approvals[0]?.approverCount?.able;

  test("only the person whom both allow is counted", async () => {
    expect(await countOf(await waiting(1))).toBe(1);
    expect(await countOf(await waiting(2))).toBe(1);
  });

  test("only that person is reminded", async () => {
    const { bench, id } = await waiting(1);
    await bench.clock.pass(60_000);
    expect((await bench.run(id)).approvals[0]?.calls).toMatchObject([{ who: { users: [ana], groups: [] } }]);
  });
});

test.each([
  ["fits the form", "short", 1],
  ["is whole only in a file", "x ".repeat(30_000), 0],
])(
  "a person of a stage who does not see the channel is counted if the request fits the form (it %s)",
  async (_, plan, able) => {
    const bench = await createBench();
    const stage = { afterMs: 60_000, to: these([UserId("U0CAT")]), call: null };
    bench.policy = aPolicy({ approvers: these([]), followUp: { ...NO_FOLLOW_UP, escalate: [stage] } });
    const id = aRunId();
    bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "change", plan } }]);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    bench.people.facts = { seesChannel: false };
    await bench.clock.pass(120_000);
    expect((await bench.run(id)).approvals[0]?.approverCount).toMatchObject({ able });
  },
);

describe("a person whose claim has lapsed", () => {
  const MIN = 60_000;
  const SRE = GroupId("S0SRE");
  const FOLLOW_UP = {
    ...NO_FOLLOW_UP,
    claimMs: 20 * MIN,
    remind: { afterMs: MIN, doubles: false, atMost: 1 },
  };
  const members = [APPROVER, ...Array.from({ length: 30 }, (_, n) => UserId(`U0SRE${n}`))];

  /** Resolves to whom the first reminder mentions. */
  async function firstReminded(rule: Partial<Rule>, meanwhile: (bench: Bench) => void = () => undefined) {
    const bench = await createBench();
    bench.policy = aPolicy({ ...rule, followUp: FOLLOW_UP });
    bench.people.membersOf = () => Promise.resolve(members);
    bench.people.sets = new Set([SRE]);
    const { id, click } = await bench.withCard();
    expect(await bench.flow.claimRequest.claim(click)).toMatchObject({ ok: true });
    await bench.clock.pass(19 * MIN);
    meanwhile(bench);
    await bench.clock.pass(2 * MIN);
    return (await bench.run(id)).approvals[0]?.calls?.[0]?.who;
  }

  test.each<[string, Partial<Rule>]>([
    ["belong to a group that is too large to mention everyone", { approvers: these([], [SRE]) }],
    ["may decide as anyone may", { approvers: "anyone", mention: { users: [], groups: [SRE] } }],
  ])("is the only one whom the next reminder mentions if they %s", async (_, rule) => {
    expect(await firstReminded(rule)).toEqual({ users: [APPROVER], groups: [], more: 0 });
  });

  test("and who may no longer decide is not mentioned, and the group is", async () => {
    const left = (bench: Bench) => (bench.people.sets = new Set());
    const called = await firstReminded({ approvers: these([], [SRE]) }, left);
    expect(called).toEqual({ users: [], groups: [SRE], more: 0 });
  });
});
