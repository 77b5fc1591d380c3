// While Slack has not said in which groups the requester is, several rules apply together. That is no news: people are called by the last
// rule that surely applied, or by all of these rules if none did yet.

import { describe, expect, test } from "vitest";
import { GroupId, type RunId, UserId } from "#src/domain/ids.ts";
import { type FollowUpRule, NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { WEEKDAYS } from "#src/domain/policy/hours.ts";
import type { When } from "#src/domain/policy/policy.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, REQUESTER } from "../make/run.ts";
import { failsFor } from "../make/silent-slack.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const PAY = GroupId("S0PAY");
const ON_CALL = GroupId("S0ONCALL");
const LEADS = GroupId("S0LEADS");
const MIN = 60_000;

const stage = (minutes: number, ...groups: readonly GroupId[]) => ({
  afterMs: minutes * MIN,
  to: these([], groups),
  call: null,
});
const remind = (minutes: number, atMost: number) => ({ afterMs: minutes * MIN, doubles: false, atMost });

/** Slack is asked about the requester every five minutes, and every minute while it does not answer. */
async function waiting(rules: {
  readonly team: Partial<FollowUpRule>;
  readonly others: Partial<FollowUpRule>;
}) {
  const bench = await createBench();
  const ofTeam = { ...ALWAYS, requesters: [], requesterGroups: [PAY] };
  const approvers = these([APPROVER]);
  // Neither rule covers the other, so both hold while either may apply.
  bench.policy = aPolicy(
    {
      name: "team",
      when: ofTeam,
      approvers,
      receiptAtOnce: true,
      followUp: { ...NO_FOLLOW_UP, ...rules.team },
    },
    { name: "others", approvers, holdMs: 1_000, followUp: { ...NO_FOLLOW_UP, ...rules.others } },
  );
  return {
    bench,
    silent: () => failsFor(bench, (user) => user === REQUESTER),
    joins: () => void (bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]])),
  };
}

/** Returns the calls so far, each with its minute and, for a stage, its groups. */
async function callsOf(bench: Bench, id: RunId): Promise<readonly string[]> {
  const [approval] = (await bench.run(id)).approvals;
  if (approval === undefined) throw new Error("no request");
  return (approval.calls ?? []).map(({ says, at, who }) => {
    const groups = says === "stage" ? ` ${who?.groups.join(" ")}` : "";
    return `${says} ${Math.floor((at - approval.since) / MIN)}${groups}`;
  });
}

async function ruleNow(bench: Bench, id: RunId): Promise<string | undefined> {
  return (await bench.run(id)).approvals[0]?.appliedRule.rule.name;
}

describe("a look-up that fails once", () => {
  const team = { remind: remind(5, 9), escalate: [stage(10, LEADS)] };

  test.each<[string, Partial<FollowUpRule>, readonly string[]]>([
    ["has a stage of its own", { escalate: [stage(10, ON_CALL)] }, [`stage 10 ${ON_CALL}`]],
    ["has sent all its reminders", { remind: remind(10, 1) }, ["waits 10"]],
    ["has neither stage nor reminder", {}, []],
  ])(
    "calls and reminds no one at once because of a rule that does not apply, if the rule that applies %s",
    async (_title, others, calls) => {
      const { bench, silent } = await waiting({ team, others });
      const { id } = await bench.withCard();
      await bench.clock.pass(12 * MIN);
      expect(await callsOf(bench, id)).toEqual(calls);
      const answerAgain = silent();
      await bench.clock.pass(4 * MIN);
      expect(await ruleNow(bench, id)).toBe("team and others");
      answerAgain();
      await bench.clock.pass(3 * MIN);
      expect(await ruleNow(bench, id)).toBe("others");
      expect(await callsOf(bench, id)).toEqual(calls);
      expect(await bench.store.auditAfter(0, ["escalated"], 9)).toHaveLength(
        calls.filter((call) => call.startsWith("stage")).length,
      );
    },
  );

  test("delays what another rule brings only until Slack answers that it applies", async () => {
    const { bench, silent, joins } = await waiting({ team, others: { escalate: [stage(10, ON_CALL)] } });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(4 * MIN);
    joins();
    answerAgain();
    await bench.clock.pass(2 * MIN);
    expect(await callsOf(bench, id)).toEqual([`stage 10 ${ON_CALL}`, `stage 17 ${LEADS}`, "waits 17"]);
  });
});

test("a new policy that puts the rule in doubt calls no one before Slack has answered, and then everyone once", async () => {
  const before = { escalate: [stage(10, LEADS)] };
  const { bench, silent } = await waiting({ team: before, others: before });
  const { id } = await bench.withCard();
  await bench.clock.pass(15 * MIN);
  const answerAgain = silent();
  const followUp = { ...NO_FOLLOW_UP, escalate: [stage(10, ON_CALL)] };
  const requesterGroups = [GroupId("S0NEW")];
  const rules = bench.policy.rules.map((rule, at) => ({
    ...rule,
    name: `new ${rule.name}`,
    when: at === 0 ? { ...rule.when, requesterGroups } : rule.when,
    followUp,
  }));
  bench.policy = { ...bench.policy, version: "ba9876543210", rules };
  await bench.clock.pass(4 * MIN);
  expect(await ruleNow(bench, id)).toBe("new team and new others");
  expect(await callsOf(bench, id)).toEqual([`stage 10 ${LEADS}`]);
  answerAgain();
  await bench.clock.pass(2 * MIN);
  expect(await callsOf(bench, id)).toEqual([`stage 10 ${LEADS}`, `stage 19 ${ON_CALL}`]);
});

describe("what falls due while Slack does not answer", () => {
  test("is sent, and not again for the same moment once Slack has answered", async () => {
    const { bench, silent } = await waiting({
      team: { remind: remind(10, 9) },
      others: { remind: remind(20, 9) },
    });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(10 * MIN);
    expect(await callsOf(bench, id)).toEqual(["waits 20"]);
    answerAgain();
    await bench.clock.pass(20 * MIN);
    expect(await ruleNow(bench, id)).toBe("others");
    expect(await callsOf(bench, id)).toEqual(["waits 20", "waits 40"]);
  });

  test.each([
    ["others", false, [`stage 18 ${ON_CALL}`]],
    ["team", true, []],
  ])(
    "from the beginning is done once; if %s applies in the end, the people whom it lets in are called again",
    async (name, joined, again) => {
      const followUp = { remind: remind(10, 1) };
      const { bench, silent, joins } = await waiting({
        team: followUp,
        others: { ...followUp, escalate: [stage(15, ON_CALL)] },
      });
      if (joined) joins();
      const answerAgain = silent();
      const { id } = await bench.withCard();
      await bench.clock.pass(17 * MIN);
      const calls = ["waits 10", `stage 15 ${ON_CALL}`];
      expect(await callsOf(bench, id)).toEqual(calls);
      answerAgain();
      await bench.clock.pass(30 * MIN);
      expect(await ruleNow(bench, id)).toBe(name);
      expect(await callsOf(bench, id)).toEqual([...calls, ...again]);
    },
  );

  test("of a rule that may not apply calls no one until Slack answers that it does", async () => {
    const { bench, silent, joins } = await waiting({ team: { escalate: [stage(20, LEADS)] }, others: {} });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(10 * MIN);
    expect(await callsOf(bench, id)).toEqual([]);
    joins();
    answerAgain();
    await bench.clock.pass(2 * MIN);
    expect(await callsOf(bench, id)).toEqual([`stage 23 ${LEADS}`]);
  });

  test("counts only for the rule under which it was sent", async () => {
    const { bench, silent, joins } = await waiting({
      team: { remind: remind(10, 2) },
      others: { remind: remind(10, 9) },
    });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(20 * MIN);
    joins();
    answerAgain();
    await bench.clock.pass(30 * MIN);
    expect(await ruleNow(bench, id)).toBe("team");
    expect(await callsOf(bench, id)).toEqual(["waits 10", "waits 20", "waits 30", "waits 33"]);
  });

  test("is sent even if it was due before and waited for the hours of its rule", async () => {
    const others = { remind: remind(10, 1) };
    const { bench, silent } = await waiting({ team: {}, others });
    const { id } = await bench.withCard();
    const opens = new Date(bench.clock.now() + 20 * MIN).toISOString().slice(11, 16);
    const hours = { tz: "UTC", days: WEEKDAYS, from: opens, to: opens === "23:59" ? "24:00" : "23:59" };
    bench.policy = {
      ...bench.policy,
      rules: bench.policy.rules.map((rule) => ({ ...rule, followUp: { ...rule.followUp, hours } })),
    };
    await bench.clock.pass(12 * MIN);
    expect(await callsOf(bench, id)).toEqual([]);
    silent();
    await bench.clock.pass(12 * MIN);
    expect(await callsOf(bench, id)).toEqual(["waits 20"]);
  });

  test("calls people whom the rule only called once more when another rule lets them in", async () => {
    const onlyCalls = { afterMs: 20 * MIN, to: null, call: these([], [ON_CALL]) };
    const { bench, silent, joins } = await waiting({
      team: { escalate: [stage(20, ON_CALL)] },
      others: { escalate: [onlyCalls] },
    });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(10 * MIN);
    expect(await callsOf(bench, id)).toEqual([`stage 20 ${ON_CALL}`]);
    joins();
    answerAgain();
    await bench.clock.pass(2 * MIN);
    expect(await callsOf(bench, id)).toEqual([`stage 20 ${ON_CALL}`, `stage 23 ${ON_CALL}`]);
  });

  test("calls people only once whom the rule that applies lets in", async () => {
    const { bench, silent } = await waiting({ team: {}, others: { escalate: [stage(20, ON_CALL)] } });
    const { id } = await bench.withCard();
    await bench.clock.pass(12 * MIN);
    const answerAgain = silent();
    await bench.clock.pass(10 * MIN);
    answerAgain();
    await bench.clock.pass(10 * MIN);
    expect(await callsOf(bench, id)).toEqual([`stage 20 ${ON_CALL}`]);
  });
});

describe("a person whose claim has lapsed while Slack does not answer", () => {
  const GONE = GroupId("S0GONE");

  test.each([
    ["names other people", these([UserId("U0LEAD")])],
    ["names a group of which Slack does not speak", these([], [GONE])],
  ])("is the only one whom the next reminder mentions if a rule that may apply %s", async (_title, team) => {
    const followUp = { claimMs: 7 * MIN, remind: remind(17, 1) };
    const { bench, silent } = await waiting({ team: followUp, others: followUp });
    const others = these([APPROVER, UserId("U0OTHER")]);
    const rules = bench.policy.rules.map((rule, at) => ({ ...rule, approvers: at === 0 ? team : others }));
    bench.policy = { ...bench.policy, rules };
    const { id, click } = await bench.withCard();
    await bench.clock.pass(11 * MIN);
    expect(await bench.flow.claimRequest.claim(click)).toMatchObject({ ok: true });
    silent();
    failsFor(bench, (_user, sets) => sets.includes(GONE));
    await bench.clock.pass(8 * MIN);
    const calls = (await bench.run(id)).approvals[0]?.calls ?? [];
    expect(calls.map(({ who }) => who?.users)).toEqual([[APPROVER]]);
  });
});
