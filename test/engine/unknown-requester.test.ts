// Until Slack says in which groups the requester is, several rules apply together. That is no news, and it ends no request.

import { describe, expect, test } from "vitest";
import { deadlineOf } from "#src/domain/applied-rule.ts";
import { refusalToLift } from "#src/domain/brake.ts";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { Rule, When } from "#src/domain/policy/policy.ts";
import { queueOf } from "#src/domain/queue.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";
import { failsFor } from "../make/silent-slack.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const PAY = GroupId("S0PAY");
const MIN = 60_000;
const usersOf = ({ approvers }: Rule): readonly UserId[] => (approvers === "anyone" ? [] : approvers.users);
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

function answersAfter({ people, clock }: Bench, ms: number): void {
  const memberOf = people.memberOf.bind(people);
  people.memberOf = async (...args) => {
    await new Promise<void>((done) => void clock.after(ms, () => done()));
    return memberOf(...args);
  };
}

async function openForm(
  bench: Bench,
  click: Awaited<ReturnType<Bench["withCard"]>>["click"],
): Promise<(reason: string) => ReturnType<Bench["flow"]["submitDecision"]>> {
  const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  return (reason) =>
    bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, reason);
}

test("no false alarm while Slack has not yet said in which groups the requester is", async () => {
  const bench = await createBench();
  bench.policy = policy;
  answersAfter(bench, 300);
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
  const answerAgain = failsFor(bench, () => true);
  await bench.clock.pass(6 * 60_000);
  answerAgain();
  await bench.clock.pass(6 * 60_000);
  expect((await bench.run(id)).approvals[0]?.appliedRule.rule.name).toBe("payments team");
  expect(bench.chat.told.slice(before)).toEqual([]);
});

test("the alarm that no one can approve comes at once if the rule is the same when Slack has answered", async () => {
  const bench = await createBench();
  bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]]);
  answersAfter(bench, 300);
  const [payments] = policy.rules;
  if (payments === undefined) throw new Error("no rule");
  bench.policy = {
    ...policy,
    rules: [{ ...payments, approvers: these([REQUESTER]) }, ...policy.rules.slice(1)],
  };
  await bench.withCard();
  await bench.clock.pass(MIN);
  expect(bench.chat.told.map(({ says }) => says.type)).toContain("nobody-can-approve");
});

describe("a rule that may apply only because Slack has not answered", () => {
  const denyAfter = (minutes: number) => ({ afterMs: minutes * MIN, outcome: "deny" }) as const;
  const others = { name: "others", expiry: denyAfter(24 * 60) };
  const team = (minutes: number) => ({
    name: "payments team",
    when: { ...ALWAYS, requesters: [], requesterGroups: [PAY] },
    expiry: denyAfter(minutes),
  });

  async function waitingUnder(...rules: Partial<Rule>[]) {
    const bench = await createBench();
    bench.policy = aPolicy(...rules);
    const card = await bench.withCard();
    await bench.clock.pass(30 * MIN + 30_000);
    return { bench, ...card };
  }

  async function expectWaits(bench: Bench, id: Awaited<ReturnType<Bench["withCard"]>>["id"]): Promise<void> {
    expect(bench.agents.resolved).toEqual([]);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("pending");
  }

  test("expires no request when a new policy brings it", async () => {
    const { bench, id } = await waitingUnder(others);
    answersAfter(bench, 200);
    bench.policy = { ...aPolicy(team(10), others), version: "ba9876543210" };
    await bench.clock.pass(2 * MIN);
    await expectWaits(bench, id);
  });

  test("expires no request after a look-up that failed", async () => {
    const { bench, id } = await waitingUnder(team(10), others);
    expect((await bench.run(id)).approvals[0]?.appliedRule.rule.name).toBe("others");
    const answerAgain = failsFor(bench, () => true);
    await bench.clock.pass(6 * MIN);
    answerAgain();
    await bench.clock.pass(6 * MIN);
    await expectWaits(bench, id);
  });

  test("expires no request at a submit, which is refused until Slack answers", async () => {
    const { bench, id, click } = await waitingUnder(team(10), others);
    const submit = await openForm(bench, click);
    const answerAgain = failsFor(bench, (user) => user === REQUESTER);
    expect(await submit("go")).toMatchObject({ error: { refusal: { type: "unverified" } } });
    answerAgain();
    await expectWaits(bench, id);
    await bench.clock.pass(5 * MIN);
    expect(await submit("go")).toMatchObject({ ok: true });
  });

  test("keeps no one from denying the request, however long Slack does not answer", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(team(10), { name: "others" });
    failsFor(bench, (user) => user === REQUESTER);
    const { id, click } = await bench.withCard();
    await bench.clock.pass(60 * MIN);
    await expectWaits(bench, id);
    const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "deny");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    const by = { team: TEAM, user: APPROVER };
    expect(await bench.flow.submitDecision(by, opened.value.ticket.nonce, "no")).toMatchObject({ ok: true });
    await bench.clock.pass(3_000);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny", reason: "no" }]);
  });

  test("announces no end", async () => {
    const { bench, id } = await waitingUnder(team(60), others);
    await bench.clock.pass(17 * MIN);
    for (let times = 0; times < 2; times += 1) {
      const answerAgain = failsFor(bench, () => true);
      await bench.clock.pass(4 * MIN);
      answerAgain();
      await bench.clock.pass(2 * MIN);
    }
    const [approval] = (await bench.run(id)).approvals;
    expect((approval?.calls ?? []).filter(({ says }) => says === "last")).toEqual([]);
  });

  test("does not set the deadline in the queue, which is the one on the card", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(team(10), others);
    const { id } = await bench.withCard();
    failsFor(bench, () => true);
    await bench.clock.pass(6 * MIN);
    const run = await bench.run(id);
    const person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const;
    const reader = { user: APPROVER, person, channels: new Set([CHANNEL]) };
    const { now, monotonic } = bench.clock;
    const queue = queueOf([run], reader, { policy: bench.policy, now: now(), monotonic: monotonic() });
    const shown = [...queue.yours, ...queue.others].map(({ deadline }) => deadline);
    expect(shown).toEqual(run.approvals.map(deadlineOf));
    expect(shown).toEqual(run.approvals.map(({ since }) => since + 24 * 60 * MIN));
  });

  test("expires the request when Slack has answered that it does apply", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(team(10), others);
    bench.people.ownSets = new Map([[REQUESTER, new Set([PAY])]]);
    const answerAgain = failsFor(bench, () => true);
    const { id } = await bench.withCard();
    await bench.clock.pass(30 * MIN);
    await expectWaits(bench, id);
    answerAgain();
    await bench.clock.pass(2 * MIN);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny" }]);
  });
});

describe("a group that Slack does not know, and that only a rule for another channel names,", () => {
  const elsewhere = {
    name: "elsewhere",
    when: {
      ...ALWAYS,
      channels: [ChannelId("C0ELSEWHERE")],
      requesters: [],
      requesterGroups: [GroupId("S0GONE")],
    },
  };

  async function withGroupGone(...rules: Partial<Rule>[]) {
    const bench = await createBench();
    failsFor(bench, (_user, sets) => sets.includes(GroupId("S0GONE")));
    bench.policy = { ...aPolicy(elsewhere, ...rules), fallback: ChannelId("C0FALL") };
    return { bench, ...(await bench.withCard()) };
  }

  test("keeps nobody from hearing that no one can approve", async () => {
    const { bench } = await withGroupGone({ name: "here", approvers: these([REQUESTER]) });
    await bench.clock.pass(MIN);
    expect(bench.chat.told.map(({ says }) => says.type)).toContain("nobody-can-approve");
  });

  test("keeps no approval whose approver has left from opening again", async () => {
    const { bench, id, click } = await withGroupGone({ name: "here", holdMs: 5_000 });
    const submit = await openForm(bench, click);
    expect(await submit("go")).toMatchObject({ ok: true });
    bench.people.facts = { kind: "deactivated" };
    await bench.clock.pass(5 * MIN);
    expect(bench.agents.resolved).toEqual([]);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("pending");
  });
});

test("a reminder calls everyone who may turn out to be able to decide, if no rule leaves anyone for sure", async () => {
  const bench = await createBench();
  const followUp = { ...NO_FOLLOW_UP, remind: { afterMs: 10 * MIN, doubles: false, atMost: 1 } };
  bench.policy = { ...policy, rules: policy.rules.map((rule) => ({ ...rule, followUp })) };
  failsFor(bench, (user) => user === REQUESTER);
  const { id } = await bench.withCard();
  await bench.clock.pass(11 * MIN);
  const calls = (await bench.run(id)).approvals[0]?.calls ?? [];
  expect(calls.map(({ who }) => who?.users.toSorted())).toEqual([["U0LEAD", APPROVER].toSorted()]);
});

describe("a person who may turn out to be able to decide is told that this is uncertain, not that they may not decide,", () => {
  async function inDoubt() {
    const bench = await createBench();
    bench.policy = policy;
    const answerAgain = failsFor(bench, (user) => user === REQUESTER);
    const card = await bench.withCard();
    const press = async (user: UserId, verdict: "approve" | "deny") => {
      const opened = await bench.flow.openForm.open({ ...card.click, user }, verdict);
      return opened.ok ? null : opened.error.refusal;
    };
    return { bench, answerAgain, press, ...card };
  }
  const UNCERTAIN = { type: "unverified", requester: REQUESTER };

  test("at the click", async () => {
    const { press, answerAgain } = await inDoubt();
    expect(await press(APPROVER, "approve")).toEqual(UNCERTAIN);
    expect(await press(UserId("U0LEAD"), "deny")).toEqual(UNCERTAIN);
    expect(await press(UserId("U0NOONE"), "approve")).toMatchObject({ type: "not-approver" });
    answerAgain();
    expect(await press(APPROVER, "approve")).toBeNull();
    expect(await press(UserId("U0LEAD"), "approve")).toMatchObject({ type: "not-approver" });
  });

  test("at the submit", async () => {
    const { bench, answerAgain, click } = await inDoubt();
    answerAgain();
    const submit = await openForm(bench, click);
    failsFor(bench, (user) => user === REQUESTER);
    await bench.clock.pass(MIN);
    expect(await submit("go")).toMatchObject({ ok: false, error: { refusal: UNCERTAIN } });
    expect(bench.agents.resolved).toEqual([]);
  });

  test("when they claim the request", async () => {
    const { bench, click } = await inDoubt();
    const claimed = await bench.flow.claimRequest.claim({ ...click, user: APPROVER });
    expect(claimed).toMatchObject({ ok: false, error: { refusal: UNCERTAIN } });
  });

  test("when a request is handed over to them", async () => {
    const { bench, click } = await inDoubt();
    bench.policy = {
      ...policy,
      rules: policy.rules.map((rule) => ({ ...rule, approvers: these([APPROVER, ...usersOf(rule)]) })),
    };
    await bench.clock.pass(MIN);
    const by = { team: TEAM, user: APPROVER };
    expect(await bench.flow.claimRequest.claim({ ...click, user: APPROVER })).toMatchObject({ ok: true });
    const form = await bench.flow.claimRequest.open({ ...click, user: APPROVER }, "hand-over");
    if (!form.ok) throw new Error(form.error.refusal.type);
    const handed = await bench.flow.claimRequest.handOver(by, form.value.ticket.nonce, UserId("U0LEAD"));
    expect(handed).toMatchObject({ error: { refusal: { type: "cannot-take-over", why: "unverified" } } });
  });

  test("when they press Stop, and they can stop the run as soon as Slack answers", async () => {
    const bench = await createBench();
    const [lead, other] = [GroupId("S0LEADS"), GroupId("S0OTHERS")];
    bench.policy = {
      ...policy,
      rules: policy.rules.map((rule, at) => ({ ...rule, approvers: these([], [at === 0 ? lead : other]) })),
    };
    bench.people.ownSets = new Map([[APPROVER, new Set([other])]]);
    const answerAgain = failsFor(bench, (user) => user === REQUESTER);
    const { id } = await bench.withCard();
    const { key: run } = await bench.run(id);
    const press = { team: TEAM, user: APPROVER, channel: CHANNEL, run, shown: null };
    expect(await bench.flow.stopRun.stop(press)).toMatchObject({ error: { refusal: UNCERTAIN } });
    answerAgain();
    expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  });

  test("when they lift a stop", async () => {
    const { bench, id } = await inDoubt();
    const run = await bench.run(id);
    const person = {
      ...bench.people.facts,
      team: TEAM,
      user: APPROVER,
      kind: "member",
      seesChannel: true,
    } as const;
    expect(refusalToLift(person, run, { policy: bench.policy, now: bench.clock.now() })).toEqual(UNCERTAIN);
  });
});

test("a rule that may not apply voids no vote", async () => {
  const bench = await createBench();
  const lead = UserId("U0LEAD");
  bench.policy = {
    ...policy,
    rules: policy.rules.map((rule, at) => ({
      ...rule,
      approvers: these(at === 0 ? [lead] : [lead, APPROVER]),
      needs: 2,
    })),
  };
  const { id, click } = await bench.withCard();
  const submit = await openForm(bench, click);
  expect(await submit("go")).toMatchObject({ ok: true });
  const opened = await bench.flow.openForm.open({ ...click, user: lead }, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.clock.pass(10_000);
  const answerAgain = failsFor(bench, (user) => user === REQUESTER);
  const by = { team: TEAM, user: lead };
  const again = () => bench.flow.submitDecision(by, opened.value.ticket.nonce, "go");
  expect(await again()).toMatchObject({ error: { refusal: { type: "unverified", requester: REQUESTER } } });
  expect((await bench.run(id)).approvals[0]).toMatchObject({ votes: [{ by: { user: APPROVER } }], past: [] });
  answerAgain();
  expect(await again()).toMatchObject({ ok: true });
  await bench.clock.pass(10_000);
  expect(bench.agents.resolved).toHaveLength(1);
});

test("a reminder leaves out only the approvers of whom Slack does not speak", async () => {
  const bench = await createBench();
  const followUp = { ...NO_FOLLOW_UP, remind: { afterMs: 10 * MIN, doubles: false, atMost: 1 } };
  const gone = GroupId("S0GONE");
  bench.policy = {
    ...policy,
    rules: policy.rules.map((rule, at) => ({
      ...rule,
      followUp,
      approvers: at === 0 ? these([], [gone]) : these([APPROVER]),
    })),
  };
  failsFor(bench, (user) => user === REQUESTER);
  const membersOf = bench.people.membersOf.bind(bench.people);
  bench.people.membersOf = (set, ...rest) =>
    set === gone ? Promise.reject(failure("no_such_subteam", { retry: "never" })) : membersOf(set, ...rest);
  const { id } = await bench.withCard();
  await bench.clock.pass(11 * MIN);
  const calls = (await bench.run(id)).approvals[0]?.calls ?? [];
  expect(calls.map(({ who }) => who?.users)).toEqual([[APPROVER]]);
});
