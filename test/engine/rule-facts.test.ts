// The rule that applies can change by itself: the requester joins a group, or its hours begin. The card follows. A
// decision is judged by the rule at the time when it is made and when it is sent.

import { describe, expect, test } from "vitest";
import { GroupId, UserId } from "#src/domain/ids.ts";
import type { Hours } from "#src/domain/policy/hours.ts";
import type { When } from "#src/domain/policy/policy.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, NOON, REQUESTER, TEAM } from "../make/run.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const SRE = GroupId("S0SRE");
const SECOND = UserId("U0SECOND");
/** After this time, Slack's earlier answers are too old. */
const OLD_MS = 70_000;

const byGroup = aPolicy(
  { name: "trusted", when: { ...ALWAYS, requesters: [], requesterGroups: [SRE] }, holdMs: 10_000 },
  { name: "others", needs: 2, holdMs: 10_000 },
);
const minuteOf = (at: number): string => new Date(at).toISOString().slice(11, 16);
const office: Hours = {
  tz: "UTC",
  days: ["mon", "tue", "wed", "thu", "fri", "sat", "sun"],
  from: "00:00",
  to: minuteOf(NOON + 10 * 60_000),
};
const byTime = aPolicy(
  { name: "day", when: { ...ALWAYS, hours: [office] }, holdMs: 10_000 },
  { name: "night", needs: 2 },
);

const ruleShown = async (bench: Bench, id: Parameters<Bench["run"]>[0]) =>
  (await bench.run(id)).approvals[0]?.appliedRule.rule.name;

async function approve(
  { flow }: Bench,
  click: Awaited<ReturnType<Bench["withCard"]>>["click"],
  user = APPROVER,
) {
  const opened = await flow.openForm.open({ ...click, user }, "approve");
  if (!opened.ok) return opened;
  return flow.submitDecision({ team: TEAM, user }, opened.value.ticket.nonce, "go");
}

describe("a rule for the requester's groups", () => {
  async function withRequesterIn(sets: readonly GroupId[]) {
    const bench = await createBench();
    bench.policy = byGroup;
    bench.people.ownSets = new Map([[REQUESTER, new Set(sets)]]);
    const card = await bench.withCard();
    await bench.clock.pass(30_000);
    return { bench, ...card };
  }

  test("shows on the card once Slack has said which groups they are in", async () => {
    const { bench, id } = await withRequesterIn([SRE]);
    expect(await ruleShown(bench, id)).toBe("trusted");
  });

  test("does not apply to others", async () => {
    const { bench, id } = await withRequesterIn([]);
    expect(await ruleShown(bench, id)).toBe("others");
  });

  test("is looked up again while the request waits", async () => {
    const { bench, id } = await withRequesterIn([SRE]);
    bench.people.ownSets = new Map();
    await bench.clock.pass(6 * 60_000);
    expect(await ruleShown(bench, id)).toBe("others");
  });

  test("applies according to Slack's answer at the submit, whatever the card shows", async () => {
    const { bench, id, click } = await withRequesterIn([SRE]);
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no form");
    bench.people.ownSets = new Map();
    await bench.clock.pass(OLD_MS);
    expect(await ruleShown(bench, id)).toBe("trusted");
    const { nonce } = opened.value.ticket;
    expect((await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, nonce, "go")).ok).toBe(true);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, votes: [{}] });
  });

  test("holds the request to the stricter rule if Slack does not answer", async () => {
    const bench = await createBench();
    bench.policy = byGroup;
    bench.people.memberOf = () => Promise.reject(failure("timeout"));
    const { id, click } = await bench.withCard();
    await bench.clock.pass(30_000);
    expect(await ruleShown(bench, id)).toBe("others");
    bench.people.memberOf = (_user, sets) => Promise.resolve(new Map(sets.map((set) => [set, true])));
    expect((await approve(bench, click)).ok).toBe(true);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("decided");
  });

  test("voids a held approval when the requester has left the group", async () => {
    const { bench, id, click } = await withRequesterIn([SRE]);
    await approve(bench, click);
    bench.people.ownSets = new Map();
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toEqual([]);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, votes: [{}] });
  });

  test("keeps a held approval waiting while Slack does not answer, and sends it then", async () => {
    const { bench, click } = await withRequesterIn([SRE]);
    await approve(bench, click);
    bench.people.memberOf = () => Promise.reject(failure("timeout"));
    await bench.clock.pass(20_000);
    expect(bench.agents.resolved).toEqual([]);
    bench.people.memberOf = (_user, sets) => Promise.resolve(new Map(sets.map((set) => [set, true])));
    await bench.clock.pass(60_000);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "approve" }]);
  });

  test("asks Slack nothing about the requester under a policy that does not need it", async () => {
    const bench = await createBench();
    bench.people.memberOf = () => Promise.reject(new Error("asked"));
    bench.policy = byTime;
    const { id } = await bench.withCard();
    await bench.clock.pass(6 * 60_000);
    expect((await bench.run(id)).requesterGroups).toBeUndefined();
  });
});

describe("a rule for certain hours", () => {
  async function atNoon() {
    const bench = await createBench();
    bench.policy = byTime;
    return { bench, ...(await bench.withCard()) };
  }

  test("is replaced on the card when they end, even if nothing else happens", async () => {
    const { bench, id } = await atNoon();
    expect(await ruleShown(bench, id)).toBe("day");
    await bench.clock.pass(10 * 60_000 + 2_000);
    expect(await ruleShown(bench, id)).toBe("night");
  });

  test("judges a decision by the time at which it is made", async () => {
    const { bench, id, click } = await atNoon();
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error("no form");
    await bench.clock.pass(10 * 60_000);
    const { nonce } = opened.value.ticket;
    expect((await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, nonce, "go")).ok).toBe(true);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, votes: [{}] });
    expect((await approve(bench, click, SECOND)).ok).toBe(true);
    expect((await bench.run(id)).approvals[0]?.state.type).toBe("decided");
  });

  test("asks the person who approved again when it comes to need fewer approvals", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(
      { name: "day", when: { ...ALWAYS, hours: [office] }, needs: 2 },
      { name: "night", needs: 1 },
    );
    const { id, click } = await bench.withCard();
    expect((await approve(bench, click)).ok).toBe(true);
    await bench.clock.pass(10 * 60_000 + 2_000);
    const [open] = (await bench.run(id)).approvals;
    expect(open).toMatchObject({ votes: [], past: [{ cause: "rule-changed" }] });
    expect(bench.agents.resolved).toEqual([]);
    const press = { ...click, nonce: open?.nonce ?? click.nonce };
    expect((await approve(bench, press)).ok).toBe(true);
    await bench.clock.pass(15_000);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "approve" }]);
  });

  test("does not let an approval leave that it would not allow at that time", async () => {
    const { bench, id, click } = await atNoon();
    await bench.clock.pass(10 * 60_000 - 8_000);
    expect((await approve(bench, click)).ok).toBe(true);
    await bench.clock.pass(15_000);
    expect(bench.agents.resolved).toEqual([]);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, votes: [{}] });
  });
});
