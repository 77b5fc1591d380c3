// A claim, its end, a hand-over and more time, from the click to the audit.

import { describe, expect, test } from "vitest";
import { claimOf } from "#src/domain/handling.ts";
import { type Nonce, UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { handoverSlot } from "#src/domain/question.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { type Bench, clickOn, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, REQUESTER, TEAM } from "../make/run.ts";

const MINUTE = 60_000;
const CLEO = UserId("U0CLEO");
const DAN = UserId("U0DAN");
const EXTENDABLE = {
  expiry: { afterMs: 60 * MINUTE, outcome: "deny" },
  followUp: { ...NO_FOLLOW_UP, extend: { byMs: 30 * MINUTE, atMostMs: 50 * MINUTE } },
} as const;

const by = (click: Click, user: UserId): Click => ({ ...click, user });
const who = (user: UserId) => ({ team: TEAM, user });
const first = async (bench: Bench, { id }: { id: Parameters<Bench["run"]>[0] }) => {
  const [approval] = (await bench.run(id)).approvals;
  if (approval === undefined) throw new Error("no approval");
  return approval;
};

const WHAT = ["claimed", "claim-ended", "snoozed", "handed-over", "extended", "refused"] as const;
const entries = async ({ store }: Bench): Promise<readonly string[]> =>
  (await store.auditAfter(0, WHAT, 100)).map(({ entry: { what, step, refusal, by, other } }) =>
    what === "refused"
      ? `refused ${step}: ${refusal}`
      : [what, by?.user, ...(other === undefined ? [] : [other.user])].join(" "),
  );

async function withForm(bench: Bench, click: Click, asks: "hand-over" | "snooze"): Promise<Nonce> {
  const opened = await bench.flow.claimRequest.open(click, asks);
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  return opened.value.ticket.nonce;
}

const refusalOf = (result: Awaited<ReturnType<Bench["flow"]["claimRequest"]["claim"]>>): string | null =>
  result.ok ? null : result.error.refusal.type;

describe("a claim", () => {
  test("is stored with its entry, changes nothing about who decides, and lapses by itself", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    expect(await bench.flow.claimRequest.claim(card.click)).toMatchObject({ ok: true });
    expect(claimOf(await first(bench, card))).toMatchObject({ by: APPROVER });
    expect(await entries(bench)).toEqual([`claimed ${APPROVER}`]);
    expect(await bench.flow.openForm.open(by(card.click, CLEO), "approve")).toMatchObject({ ok: true });
    await bench.clock.pass(NO_FOLLOW_UP.claimMs + 1_000);
    expect(claimOf(await first(bench, card))).toBeNull();
    expect(await entries(bench)).toEqual([`claimed ${APPROVER}`]);
  });

  test("is not handed over to a person of a stage who does not see the channel, because the thread cannot tell them", async () => {
    const bench = await createBench();
    const dan = { users: [DAN], groups: [], channels: [] };
    const escalate = [{ afterMs: MINUTE, to: dan, call: null }];
    bench.policy = aPolicy({ followUp: { ...NO_FOLLOW_UP, escalate } });
    const card = await bench.withCard();
    const lookUp = bench.people.lookUp.bind(bench.people);
    bench.people.lookUp = async (team, user, ...more) => ({
      ...(await lookUp(team, user, ...more)),
      seesChannel: user !== DAN,
    });
    await bench.clock.pass(2 * MINUTE);
    const { click } = clickOn(await bench.run(card.id));
    expect(await bench.flow.openForm.open(by(click, DAN), "deny")).toMatchObject({ ok: true });
    await bench.flow.claimRequest.claim(click);
    const handed = await bench.flow.claimRequest.handOver(
      who(APPROVER),
      await withForm(bench, click, "hand-over"),
      DAN,
    );
    expect(handed).toMatchObject({ error: { refusal: { why: "not-in-channel" } } });
    expect(claimOf(await first(bench, card))).toMatchObject({ by: APPROVER });
  });

  test("can be taken over by a second person, and both are named", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    await bench.flow.claimRequest.claim(by(card.click, CLEO));
    expect(claimOf(await first(bench, card))).toMatchObject({ by: CLEO, instead: APPROVER });
    expect(await entries(bench)).toEqual([`claimed ${APPROVER}`, `claimed ${CLEO} ${APPROVER}`]);
  });

  test("counts once if the click is delivered twice, and can be ended only by its owner", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    await bench.flow.claimRequest.claim(card.click);
    expect(refusalOf(await bench.flow.claimRequest.release(by(card.click, CLEO)))).toBe("not-claimer");
    expect(await bench.flow.claimRequest.release(card.click)).toMatchObject({ ok: true });
    expect(claimOf(await first(bench, card))).toBeNull();
    expect(await entries(bench)).toEqual([
      `claimed ${APPROVER}`,
      "refused release: not-claimer",
      `claim-ended ${APPROVER}`,
    ]);
  });

  test("is refused to the requester, to a guest, on an old card and on a decided request", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    const claim = (click: Click) => bench.flow.claimRequest.claim(click);
    expect(refusalOf(await claim(by(card.click, REQUESTER)))).toBe("requester");
    bench.people.facts = { kind: "guest" };
    expect(refusalOf(await claim(card.click))).toBe("guest");
    bench.people.facts = {};
    expect(refusalOf(await claim({ ...card.click, nonce: null }))).toBe("unknown");
    bench.agents.pending.set(card.id, [{ id: card.approval, content: { action: "something else" } }]);
    await bench.clock.pass(20_000);
    expect(refusalOf(await claim(card.click))).toBe("changed");
    bench.agents.pending.set(card.id, []);
    await bench.clock.pass(60_000);
    expect(refusalOf(await claim(card.click))).toBe("closed");
  });

  test("ends when the request changes", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    bench.agents.pending.set(card.id, [{ id: card.approval, content: { action: "something else" } }]);
    await bench.clock.pass(20_000);
    expect((await first(bench, card)).followUp).toBeUndefined();
  });
});

describe("a claim, if the rule needs two approvals,", () => {
  const REMIND = { ...NO_FOLLOW_UP, remind: { afterMs: 10 * MINUTE, doubles: false, atMost: 3 } };
  const TWO = aPolicy({ needs: 2, followUp: REMIND });

  async function approve(bench: Bench, click: Click): Promise<void> {
    const opened = await bench.flow.openForm.open(click, "approve");
    if (!opened.ok) throw new Error(opened.error.refusal.type);
    expect(await bench.flow.submitDecision(who(click.user), opened.value.ticket.nonce, "")).toMatchObject({
      ok: true,
    });
  }

  test("ends with the approval of its owner, and the others are reminded on time", async () => {
    const bench = await createBench();
    bench.policy = TWO;
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    await approve(bench, card.click);
    expect(claimOf(await first(bench, card))).toBeNull();
    await bench.clock.pass(11 * MINUTE);
    expect((await first(bench, card)).calls).toMatchObject([{ says: "waits" }]);
  });

  test("that has lapsed directs no reminder to its owner once they have approved", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ needs: 2, followUp: { ...REMIND, claimMs: MINUTE } });
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    await bench.clock.pass(2 * MINUTE);
    expect((await first(bench, card)).followUp?.lapsed).toEqual({ by: APPROVER });
    await approve(bench, card.click);
    await bench.clock.pass(9 * MINUTE);
    const { calls = [] } = await first(bench, card);
    expect(calls.map(({ says, first: only }) => [says, only])).toEqual([["waits", undefined]]);
  });

  test("outlives the approval of another person", async () => {
    const bench = await createBench();
    bench.policy = TWO;
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    await approve(bench, by(card.click, CLEO));
    expect(claimOf(await first(bench, card))).toMatchObject({ by: APPROVER });
  });

  test("is not for a person who has approved, neither by a press nor by a hand-over", async () => {
    const bench = await createBench();
    bench.policy = TWO;
    const card = await bench.withCard();
    await approve(bench, by(card.click, CLEO));
    expect(refusalOf(await bench.flow.claimRequest.claim(by(card.click, CLEO)))).toBe("already-voted");
    await bench.flow.claimRequest.claim(card.click);
    const form = await withForm(bench, card.click, "hand-over");
    expect(await bench.flow.claimRequest.handOver(who(APPROVER), form, CLEO)).toMatchObject({
      error: { refusal: { type: "cannot-take-over", why: "already-voted" } },
    });
    expect(claimOf(await first(bench, card))).toMatchObject({ by: APPROVER });
  });

  test("that was handed over ends with the taker's approval, and the form counts once even then", async () => {
    const bench = await createBench();
    bench.policy = TWO;
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    const form = await withForm(bench, card.click, "hand-over");
    const handOver = () => bench.flow.claimRequest.handOver(who(APPROVER), form, CLEO);
    expect(await handOver()).toMatchObject({ ok: true });
    await approve(bench, by(card.click, CLEO));
    expect(await handOver()).toMatchObject({ ok: true });
    expect(claimOf(await first(bench, card))).toBeNull();
  });
});

describe("a snooze", () => {
  test("is for the claimer, once per form, and ends at the deadline", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(EXTENDABLE);
    const card = await bench.withCard();
    const { claimRequest } = bench.flow;
    expect(await claimRequest.open(card.click, "snooze")).toMatchObject({
      error: { refusal: { type: "not-claimer" } },
    });
    await claimRequest.claim(card.click);
    const form = await withForm(bench, card.click, "snooze");
    expect(refusalOf(await claimRequest.snooze(who(CLEO), form, 30 * MINUTE))).toBe("unknown");
    expect(refusalOf(await claimRequest.snooze(who(APPROVER), form, 5 * MINUTE))).toBe("time-needed");
    await claimRequest.snooze(who(APPROVER), form, 180 * MINUTE);
    const before = claimOf(await first(bench, card));
    expect(before?.snoozedUntil).toBe((await first(bench, card)).waitsSince + 60 * MINUTE);
    await bench.clock.pass(MINUTE);
    await claimRequest.snooze(who(APPROVER), form, 180 * MINUTE);
    expect(claimOf(await first(bench, card))).toEqual(before);
    expect((await entries(bench)).filter((each) => each.startsWith("snoozed"))).toHaveLength(1);
  });
});

test("a form that handed over or snoozed refuses another person or time, and changes nothing more", async () => {
  const bench = await createBench();
  const card = await bench.withCard();
  const { claimRequest } = bench.flow;
  await claimRequest.claim(card.click);
  const snooze = await withForm(bench, card.click, "snooze");
  await claimRequest.snooze(who(APPROVER), snooze, 60 * MINUTE);
  const snoozed = claimOf(await first(bench, card));
  for (const other of [30 * MINUTE, 180 * MINUTE])
    expect(refusalOf(await claimRequest.snooze(who(APPROVER), snooze, other))).toBe("form-used");
  expect(claimOf(await first(bench, card))).toEqual(snoozed);
  const handOver = await withForm(bench, card.click, "hand-over");
  await claimRequest.handOver(who(APPROVER), handOver, CLEO);
  expect(await claimRequest.handOver(who(APPROVER), handOver, DAN)).toMatchObject({
    error: { refusal: { type: "form-used", did: { handedTo: CLEO } } },
  });
  expect(claimOf(await first(bench, card))).toMatchObject({ by: CLEO });
});

describe("a hand-over", () => {
  test("gives the claim to a person who may decide, names both, and tells them in the thread once", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    await bench.flow.claimRequest.claim(card.click);
    const form = await withForm(bench, card.click, "hand-over");
    const handOver = () => bench.flow.claimRequest.handOver(who(APPROVER), form, CLEO);
    expect(await handOver()).toMatchObject({ ok: true });
    expect(await handOver()).toMatchObject({ ok: true });
    await bench.clock.pass(1_000);
    expect(claimOf(await first(bench, card))).toMatchObject({ by: CLEO, from: APPROVER });
    expect(bench.chat.posts.filter(({ slot }) => slot === handoverSlot(form))).toHaveLength(1);
    expect(await entries(bench)).toEqual([`claimed ${APPROVER}`, `handed-over ${APPROVER} ${CLEO}`]);
  });

  test("to a person who may not decide is refused, and so is one on to a third person", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ approvers: { users: [APPROVER, CLEO], groups: [], channels: [] } });
    const card = await bench.withCard();
    const { claimRequest } = bench.flow;
    await claimRequest.claim(card.click);
    const form = await withForm(bench, card.click, "hand-over");
    for (const to of [DAN, REQUESTER, APPROVER, null])
      expect(refusalOf(await claimRequest.handOver(who(APPROVER), form, to))).toBe("cannot-take-over");
    await claimRequest.handOver(who(APPROVER), form, CLEO);
    expect(await claimRequest.open(by(card.click, CLEO), "hand-over")).toMatchObject({
      error: { refusal: { type: "handed-over-before" } },
    });
    expect(claimOf(await first(bench, card))).toMatchObject({ by: CLEO });
  });
});

describe("more time", () => {
  test("is added up to the cap of the rule, once for each click, and moves the expiry", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(EXTENDABLE);
    const card = await bench.withCard();
    const extend = (click: Click, times: number) => bench.flow.claimRequest.extend(click, times);
    expect(await extend(card.click, 0)).toMatchObject({ ok: true });
    expect(await extend(card.click, 0)).toMatchObject({ ok: true });
    expect(refusalOf(await extend(by(card.click, CLEO), 0))).toBe("extended-meanwhile");
    expect(await extend(by(card.click, CLEO), 1)).toMatchObject({ ok: true });
    expect(refusalOf(await extend(card.click, 2))).toBe("extension-cap");
    expect((await first(bench, card)).followUp?.extensions?.map(({ byMs }) => byMs / MINUTE)).toEqual([
      30, 20,
    ]);
    await bench.clock.pass(109 * MINUTE);
    expect((await first(bench, card)).state.type).toBe("pending");
    await bench.clock.pass(2 * MINUTE);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny" }]);
  });

  test("is refused if the rule allows none, to people who may not approve, and after the expiry", async () => {
    const bench = await createBench();
    const card = await bench.withCard();
    const extend = (click: Click, times: number) => bench.flow.claimRequest.extend(click, times);
    expect(refusalOf(await extend(card.click, 0))).toBe("not-extendable");
    bench.policy = aPolicy(EXTENDABLE);
    expect(refusalOf(await extend(by(card.click, REQUESTER), 0))).toBe("requester");
    await bench.clock.pass(61 * MINUTE);
    expect(refusalOf(await extend(card.click, 0))).toMatch(/closed|already-decided/);
  });
});
