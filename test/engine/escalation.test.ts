// Reminders and escalation as the engine carries them out: who may decide because of a stage, what is posted, and
// what the audit records.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { withFollowUp } from "#src/domain/follow-up.ts";
import { ChannelId, GroupId, MessageTs, type RunId, TeamId, UserId } from "#src/domain/ids.ts";
import { type FollowUpRule, NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, CHANNEL, TEAM } from "../make/run.ts";

const MIN = 60_000;
const ON_CALL = GroupId("S0ONCALL");
const LEADS = ChannelId("C0LEADS");
const STAGE: FollowUpRule["escalate"] = [
  { afterMs: 30 * MIN, to: { users: [], groups: [ON_CALL], channels: [] }, call: null },
  { afterMs: 60 * MIN, to: null, call: { users: [], groups: [], channels: [LEADS] } },
];

async function waiting(followUp: Partial<FollowUpRule>) {
  const bench = await createBench();
  bench.policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, ...followUp } });
  const card = await bench.withCard();
  return { bench, ...card };
}

const refusalTo = async (bench: Bench, click: Parameters<Bench["flow"]["openForm"]["open"]>[0]) => {
  const opened = await bench.flow.openForm.open(click, "approve");
  return opened.ok ? null : opened.error.refusal.type;
};

const entries = async ({ store }: Bench, what: "reminded" | "escalated") =>
  (await store.auditAfter(0, [what], 99)).map(({ entry }) => entry);

const posted = ({ chat }: Bench) =>
  chat.posts.filter(({ slot }) => /^(call|announcement) /.test(slot)).map(({ channel }) => channel);

describe("a person whom a stage names", () => {
  test("may decide from then on and not before, even without seeing the channel, and the service gets the decision", async () => {
    const { bench, id, click } = await waiting({ escalate: STAGE });
    const cat = { ...click, user: "U0CAT" as typeof click.user };
    bench.people.facts = { seesChannel: false };
    bench.people.sets = new Set([ON_CALL]);
    await bench.clock.pass(29 * MIN);
    expect(await refusalTo(bench, cat)).toBe("not-in-channel");
    await bench.clock.pass(2 * MIN);
    const opened = await bench.flow.openForm.open(cat, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    const by = { team: TEAM, user: cat.user };
    const done = await bench.flow.submitDecision(by, opened.value.ticket.nonce, "go");
    expect(done.ok).toBe(true);
    await bench.clock.pass(5_000);
    expect(bench.agents.resolved).toHaveLength(1);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test("may not decide if the policy no longer names them, even after the stage was reached", async () => {
    const { bench, click } = await waiting({ escalate: STAGE });
    bench.people.sets = new Set([ON_CALL]);
    const cat = { ...click, user: "U0CAT" as typeof click.user };
    await bench.clock.pass(31 * MIN);
    expect(await refusalTo(bench, cat)).toBeNull();
    bench.policy = { ...aPolicy({ approvers: these([APPROVER]) }), version: "ba9876543210" };
    expect(await refusalTo(bench, cat)).toBe("not-approver");
  });

  test("may not decide if they are only called", async () => {
    const { bench, click } = await waiting({ escalate: STAGE });
    bench.people.sets = new Set([LEADS]);
    await bench.clock.pass(61 * MIN);
    expect(await refusalTo(bench, { ...click, user: "U0CAT" as typeof click.user })).toBe("not-approver");
  });
});

describe("a person whom a stage names, but no part of the rule", () => {
  const SRE = { users: [APPROVER], groups: [], channels: [] };
  const SECURITY = { users: [], groups: [GroupId("S0SECURITY")], channels: [] };
  const CAT = UserId("U0CAT");

  async function inParts(needs: number, to: FollowUpRule["escalate"][number]["to"]) {
    const bench = await createBench();
    bench.policy = aPolicy({
      approvers: these([APPROVER], SECURITY.groups),
      parts: [SRE, SECURITY],
      needs,
      followUp: { ...NO_FOLLOW_UP, escalate: [{ afterMs: 30 * MIN, to, call: null }] },
    });
    const { id, click } = await bench.withCard();
    bench.people.sets = new Set([ON_CALL]);
    await bench.clock.pass(31 * MIN);
    const run = await bench.run(id);
    const approval = run.approvals[0];
    if (approval === undefined) throw new Error("no request");
    const card = JSON.stringify(approvalCard(run, approval));
    const by = { ...click, user: CAT };
    const denies = await bench.flow.openForm.open(by, "deny");
    const [entry] = await entries(bench, "escalated");
    return { card, approves: await refusalTo(bench, by), denies: denies.ok, outcome: entry?.outcome };
  }

  test("can deny, and neither the card nor the audit says that they can decide", async () => {
    const seen = await inParts(2, { users: [], groups: [ON_CALL], channels: [] });
    expect(seen).toMatchObject({ approves: "part-filled", denies: true, outcome: "may deny from here on" });
    expect(seen.card).toContain("who can deny it");
    expect(seen.card).not.toContain("who can decide too");
  });

  test("can decide if the rule requires an approval beyond its parts", async () => {
    const seen = await inParts(3, { users: [], groups: [ON_CALL], channels: [] });
    expect(seen).toMatchObject({ approves: null, denies: true, outcome: "may decide from here on" });
    expect(seen.card).toContain("who can decide too");
  });

  test("is named apart from people of the stage who are in a part", async () => {
    const seen = await inParts(2, { users: [], groups: [ON_CALL, ...SECURITY.groups], channels: [] });
    expect(seen.outcome).toBe("may decide from here on; S0ONCALL may only deny");
    expect(seen.card).toMatch(/S0SECURITY.*who can decide too.*S0ONCALL.*who can deny it/s);
  });
});

test("a person whom one rule names by id and the other by a group may decide after the stage, and the audit says so", async () => {
  const bench = await createBench();
  const rule = (name: string, to: FollowUpRule["escalate"][number]["to"]) => ({
    name,
    approvers: these([APPROVER]),
    followUp: { ...NO_FOLLOW_UP, escalate: [{ afterMs: 30 * MIN, to, call: null }] },
  });
  const [first, second] = [
    { ...rule("a", these([], [ON_CALL])), when: { ...BUILT_IN_RULE.when, action: ["DELETE *"] } },
    rule("b", these([UserId("U0CAT")])),
  ];
  bench.policy = aPolicy(first, second);
  const { id, click } = await bench.withCard();
  bench.people.sets = new Set([ON_CALL]);
  await bench.clock.pass(31 * MIN);
  expect((await bench.run(id)).approvals[0]?.appliedRule.rule.name).toBe("a and b");
  expect(await refusalTo(bench, { ...click, user: UserId("U0DEE") })).toBe("not-approver");
  expect(await refusalTo(bench, { ...click, user: UserId("U0CAT") })).toBe(null);
  expect(await entries(bench, "escalated")).toMatchObject([
    {
      outcome: "people who are in each of the lists (U0CAT) and (S0ONCALL) may decide from here on",
      mentioned: [ON_CALL, "U0CAT"],
    },
  ]);
});

describe("the queue of a person whom a stage names, but who is not in the run's channel", () => {
  const ASKER = { team: TEAM, user: UserId("U0CAT") };
  const inLeads = (bench: Bench) => {
    bench.people.facts = { seesChannel: false };
    bench.people.sets = new Set([ON_CALL]);
    bench.people.channels = new Set([LEADS]);
  };

  test("has the request once the stage is reached, and Review opens its form", async () => {
    const { bench } = await waiting({ escalate: STAGE });
    inLeads(bench);
    const queue = () => bench.flow.queries.pending(ASKER, LEADS);
    await bench.clock.pass(29 * MIN);
    expect(await queue()).toMatchObject({ yours: [], others: [] });
    await bench.clock.pass(2 * MIN);
    const [item] = (await queue()).yours;
    if (item === undefined) throw new Error("nothing waits");
    const opened = await bench.flow.review.open(
      ASKER,
      bench.flow.review.valueFor("one", ASKER, item.approval.nonce),
    );
    expect(opened.ok).toBe(true);
  });

  test("offers only the denial of a request whose whole text is a file in that channel", async () => {
    const { bench, id } = await waiting({ escalate: STAGE });
    bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "change", plan: "x ".repeat(30_000) } }]);
    await bench.clock.pass(31 * MIN);
    inLeads(bench);
    const inQueue = async () => (await bench.flow.queries.pending(ASKER, LEADS)).yours[0];
    // Every full member can open a public channel, and the form judges if Slack does not say that it is one.
    expect(await inQueue()).toMatchObject({ may: ["approve", "deny"] });
    bench.people.isPublic = () => Promise.reject(failure("http_503"));
    expect(await inQueue()).toMatchObject({ may: ["approve", "deny"] });
    bench.people.isPublic = () => Promise.resolve(false);
    const item = await inQueue();
    if (item === undefined) throw new Error("nothing waits");
    expect(item).toMatchObject({ may: ["deny"], refusal: { type: "file-not-seen" } });
    const review = () =>
      bench.flow.review.open(ASKER, bench.flow.review.valueFor("one", ASKER, item.approval.nonce));
    expect(await review()).toMatchObject({ value: { ticket: { verdict: "deny" } } });
    bench.people.facts = {};
    const form = await review();
    if (!form.ok) throw new Error(form.error.refusal.type);
    expect(form.value.ticket).toMatchObject({ choice: true });
    bench.people.facts = { seesChannel: false };
    const { nonce } = form.value.ticket;
    const submit = async (chosen: "approve" | "deny") => {
      const result = bench.flow.submitDecision(ASKER, nonce, "why", { chosen });
      await bench.clock.rest();
      await bench.clock.pass(1_000);
      return result;
    };
    expect(await submit("approve")).toMatchObject({ error: { refusal: { type: "file-not-seen" } } });
    expect(await submit("deny")).toMatchObject({ ok: true });
  });

  test("has nothing for someone else who is not in the channel", async () => {
    const { bench } = await waiting({ escalate: STAGE });
    inLeads(bench);
    bench.people.sets = new Set();
    await bench.clock.pass(61 * MIN);
    expect(await bench.flow.queries.pending(ASKER, LEADS)).toMatchObject({ yours: [], others: [] });
  });

  test("opens from the announcement in its channel, and from no other message there", async () => {
    const { bench, id } = await waiting({ escalate: STAGE });
    await bench.clock.pass(61 * MIN);
    const { key } = await bench.run(id);
    const announced = bench.chat.posts.find(({ channel }) => channel === LEADS);
    if (announced === undefined) throw new Error("nothing is announced");
    const press = { ...ASKER, channel: LEADS, ts: announced.ts, run: key };
    expect(await bench.flow.checkReviewPress(press)).toEqual({ ok: true, value: CHANNEL });
    const strange = [
      { ...press, channel: CHANNEL },
      { ...press, ts: MessageTs("1.1") },
      { ...press, run: null },
      { ...press, team: TeamId("T0OTHER") },
    ];
    for (const each of strange) expect((await bench.flow.checkReviewPress(each)).ok).toBe(false);
  });
});

describe("a stage", () => {
  test("has one entry, and is announced in the thread and in its channel, once, also after a restart", async () => {
    const { bench } = await waiting({ escalate: STAGE });
    await bench.clock.pass(31 * MIN);
    expect(await entries(bench, "escalated")).toMatchObject([{ stageMs: 30 * MIN, mentioned: [ON_CALL] }]);
    await bench.restart();
    await bench.clock.pass(31 * MIN);
    await bench.restart();
    await bench.clock.pass(5 * MIN);
    expect((await entries(bench, "escalated")).map(({ stageMs }) => stageMs)).toEqual([30 * MIN, 60 * MIN]);
    expect(posted(bench)).toEqual([CHANNEL, LEADS]);
  });

  test("calls the people whom another rule names for it, once, and the card says when each was called", async () => {
    const { bench, id, click } = await waiting({ escalate: STAGE });
    await bench.clock.pass(31 * MIN);
    const night = GroupId("S0NIGHT");
    const to = { users: [], groups: [night], channels: [] };
    const followUp = { ...NO_FOLLOW_UP, escalate: [{ afterMs: 30 * MIN, to, call: null }] };
    bench.policy = { ...aPolicy({ name: "night", approvers: these([APPROVER]), followUp }), version: "ba98" };
    await bench.flow.policyChanged();
    await bench.clock.pass(10 * MIN);
    await bench.restart();
    await bench.clock.pass(10 * MIN);
    expect(await entries(bench, "escalated")).toMatchObject([
      { stageMs: 30 * MIN, mentioned: [ON_CALL] },
      { stageMs: 30 * MIN, mentioned: [night], outcome: "may decide from here on" },
    ]);
    expect(posted(bench)).toEqual([CHANNEL, CHANNEL]);
    const run = await bench.run(id);
    const [approval] = run.approvals;
    if (approval === undefined) throw new Error("no request");
    const card = JSON.stringify(approvalCard(run, approval));
    expect(card).toMatch(/Called .*S0ONCALL.*Escalated to .*S0NIGHT.*who can decide too/s);
    bench.people.sets = new Set([night]);
    const by = { team: TEAM, user: UserId("U0CAT") };
    const opened = await bench.flow.openForm.open({ ...click, ...by }, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(by, opened.value.ticket.nonce, "go");
    await bench.clock.pass(10_000);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test("tells people who were only called once another rule lets them in, and so do the card and the audit", async () => {
    const onCall = these([], [ON_CALL]);
    const { bench, id } = await waiting({ escalate: [{ afterMs: 30 * MIN, to: null, call: onCall }] });
    await bench.clock.pass(31 * MIN);
    const followUp = { ...NO_FOLLOW_UP, escalate: [{ afterMs: 30 * MIN, to: onCall, call: null }] };
    bench.policy = { ...aPolicy({ name: "night", approvers: these([APPROVER]), followUp }), version: "ba98" };
    await bench.flow.policyChanged();
    await bench.clock.pass(10 * MIN);
    expect(await entries(bench, "escalated")).toMatchObject([
      { mentioned: [ON_CALL], outcome: "called" },
      { mentioned: [ON_CALL], outcome: "may decide from here on" },
    ]);
    expect(posted(bench)).toEqual([CHANNEL, CHANNEL]);
    const run = await bench.run(id);
    const [approval] = run.approvals;
    if (approval === undefined) throw new Error("no request");
    const card = JSON.stringify(approvalCard(run, approval));
    expect(card).toMatch(/Called .*S0ONCALL.*Escalated to .*S0ONCALL.*who can decide too/s);
  });

  test("without an entry lets no approval leave", async () => {
    const { bench, id, click } = await waiting({ escalate: STAGE });
    await forge(bench, id);
    bench.people.sets = new Set([ON_CALL]);
    const [approval] = (await bench.run(id)).approvals;
    const by = { team: TEAM, user: "U0CAT" as typeof click.user };
    const opened = await bench.flow.openForm.open(
      { ...click, ...by, nonce: approval?.nonce ?? null },
      "approve",
    );
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision(by, opened.value.ticket.nonce, "go");
    await bench.clock.pass(10_000);
    expect(bench.agents.resolved).toEqual([]);
    expect(bench.errors.some((each) => each.startsWith("TAMPERED"))).toBe(true);
  });
});

/** Stores the first stage as reached, without an entry. */
async function forge(bench: Bench, id: RunId): Promise<void> {
  const key = await bench.store.byRunId(id);
  const stored = key === null ? null : await bench.store.load(key);
  if (stored === null) throw new Error("no run");
  await bench.store.save(stored, reached(stored.run));
  await bench.restart();
  await bench.clock.pass(1_000);
}

function reached(run: Run): Run {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("no approval");
  const stage = { afterMs: 30 * MIN, at: run.askedAt, age: 30 * MIN, called: these([], [ON_CALL]), entry: 1 };
  return replaceApproval(run, withFollowUp(approval, { stages: [stage] }));
}

describe("a reminder", () => {
  const remind = { afterMs: 15 * MIN, doubles: false, atMost: 2 };

  test("is posted in the thread, mentions who can still decide, and has an entry", async () => {
    const { bench, id } = await waiting({ remind });
    await bench.clock.pass(16 * MIN);
    expect(posted(bench)).toEqual([CHANNEL]);
    expect(await entries(bench, "reminded")).toMatchObject([{ mentioned: [APPROVER] }]);
    expect((await bench.run(id)).approvals[0]?.calls?.[0]?.who?.users).toEqual([APPROVER]);
  });

  test("does not mention deactivated people, and is posted once, also after a restart", async () => {
    const { bench } = await waiting({ remind });
    bench.people.facts = { kind: "deactivated" };
    await bench.clock.pass(15 * MIN + 1_000);
    await bench.restart();
    await bench.clock.pass(2 * MIN);
    await bench.restart();
    await bench.clock.pass(60 * MIN);
    expect(await entries(bench, "reminded")).toMatchObject([{ mentioned: [] }, { mentioned: [] }]);
    expect(posted(bench)).toEqual([CHANNEL, CHANNEL]);
  });

  test("is not posted once the request is decided", async () => {
    const { bench, click } = await waiting({ remind });
    const opened = await bench.flow.openForm.open(click, "deny");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    await bench.flow.submitDecision({ team: TEAM, user: click.user }, opened.value.ticket.nonce, "no");
    await bench.clock.pass(60 * MIN);
    expect(posted(bench)).toEqual([]);
  });
});
