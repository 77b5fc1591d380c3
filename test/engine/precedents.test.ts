// Earlier decisions on the same request, on its card and in its form, with a real store and the people and channels
// of a bench.

import { describe, expect, test } from "vitest";
import type { Verdict } from "#src/domain/approval.ts";
import { ChannelId, type RunId, UserId } from "#src/domain/ids.ts";
import { MAX_READ, PRECEDENT_AGE_MS, type Precedents } from "#src/domain/precedent.ts";
import { precedentsOf } from "#src/domain/same-request.ts";
import type { Run } from "#src/domain/run.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const OTHER = ChannelId("C0OTHER");
const OUTSIDER = UserId("U0CAT");

/** Starts a run with only this request, and its card up. */
async function ask(bench: Bench, target = "db-1", channel = CHANNEL): Promise<RunId> {
  const id = aRunId();
  bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "delete it", target } }]);
  bench.people.channels = new Set([...bench.people.channels, channel]);
  await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel }, id);
  await bench.clock.pass(2_000);
  return id;
}

async function open(bench: Bench, id: RunId, verdict: Verdict = "approve", user = APPROVER) {
  const { click } = clickOn(await bench.run(id));
  const opened = await bench.flow.openForm.open({ ...click, user }, verdict);
  if (!opened.ok) throw new Error(`refused: ${opened.error.refusal.type}`);
  return opened.value.ticket;
}

/** Decides the request; the service confirms it. */
async function decide(
  bench: Bench,
  id: RunId,
  verdict: Verdict,
  { reason = "", user = APPROVER }: { readonly reason?: string; readonly user?: UserId } = {},
) {
  const { nonce } = await open(bench, id, verdict, user);
  const done = await bench.flow.submitDecision({ team: TEAM, user }, nonce, reason);
  if (!done.ok) throw new Error(`refused: ${JSON.stringify(done.error)}`);
  await bench.clock.pass(2_000);
  bench.agents.pending.set(id, []);
  await bench.clock.pass(16_000);
}

async function onCard(bench: Bench, id: RunId): Promise<Precedents> {
  const run: Run = await bench.run(id);
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("nothing is listed");
  expect(approval.precedents).toBeDefined();
  return precedentsOf(approval);
}

const NONE = { denied: null, approved: null };

describe("a card", () => {
  test("shows who denied and who approved the same before, and nothing about other requests", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench), "deny", { reason: "change freeze" });
    await decide(bench, await ask(bench), "approve");
    await decide(bench, await ask(bench), "approve", { user: UserId("U0OTHER") });
    await decide(bench, await ask(bench, "db-2"), "deny", { reason: "never" });
    const { denied, approved } = await onCard(bench, await ask(bench));
    expect(denied).toMatchObject({ times: 1, more: false, by: APPROVER, reason: "change freeze" });
    expect(approved).toMatchObject({ times: 2, more: false, by: "U0OTHER" });
    expect(await onCard(bench, await ask(bench, "db-3"))).toMatchObject(NONE);
  });

  test("counts no decision that the service did not confirm, that no person made, or that its requester made", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ name: "lax", selfApproval: true });
    await decide(bench, await ask(bench), "approve", { user: REQUESTER });
    bench.agents.answer = () => Promise.resolve({ type: "elsewhere", words: "denied in the console" });
    await decide(bench, await ask(bench), "approve");
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
  });

  test("counts no decision under another rule, and none that is too old", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench), "approve");
    bench.policy = aPolicy({ name: "stricter" });
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
    await decide(bench, await ask(bench), "approve");
    expect((await onCard(bench, await ask(bench))).approved).toMatchObject({ times: 1 });
    bench.clock.step(PRECEDENT_AGE_MS);
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
  });

  test("shows decisions of a public channel, and none of a private one", async () => {
    const bench = await createBench();
    bench.people.isPublic = (channel) => Promise.resolve(channel === CHANNEL);
    await decide(bench, await ask(bench), "approve");
    await decide(bench, await ask(bench, "db-1", OTHER), "approve");
    expect((await onCard(bench, await ask(bench, "db-1", OTHER))).approved).toMatchObject({ times: 2 });
    expect((await onCard(bench, await ask(bench))).approved).toMatchObject({ times: 1 });
  });

  test("names no other channel if a guest reads it, or if Slack does not say who does", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench, "db-1", OTHER), "approve");
    const before = { ...bench.people };
    bench.people.lookUp = async (team, user, ...rest) => ({
      ...(await before.lookUp(team, user, ...rest)),
      kind: user === APPROVER ? "guest" : "member",
    });
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
    Object.assign(bench.people, before);
    bench.people.membersOf = () => Promise.reject(failure("timeout"));
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
    Object.assign(bench.people, before);
    expect((await onCard(bench, await ask(bench))).approved).toMatchObject({ times: 1 });
  });

  test("is posted even if they cannot be looked up", async () => {
    const bench = await createBench();
    bench.store.decidedBefore = () => Promise.reject(failure("store_down"));
    const id = await ask(bench);
    expect(await onCard(bench, id)).toMatchObject(NONE);
    expect(clickOn(await bench.run(id)).approval).toBe("apr_1");
  });

  test("does not believe an index that names another entry", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench, "db-2"), "deny", { reason: "never" });
    const settled = await bench.store.auditAfter(0, ["settled"], 9);
    bench.store.decidedBefore = () => Promise.resolve(settled.map(({ seq }) => seq));
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
  });

  test("shows nothing about a request whose text was erased", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench), "deny", { reason: "change freeze" });
    bench.store.auditText = () => Promise.resolve(null);
    expect(await onCard(bench, await ask(bench))).toMatchObject(NONE);
  });
});

describe("newer decisions of a private channel", () => {
  const afterNewer = async (newer: number): Promise<Precedents> => {
    const bench = await createBench();
    bench.people.isPublic = () => Promise.resolve(false);
    await decide(bench, await ask(bench), "deny", { reason: "change freeze" });
    const [denial] = await bench.store.auditAfter(0, ["settled"], 1);
    if (denial === undefined) throw new Error("the denial is not in the audit");
    await bench.store.audit(Array.from({ length: newer }, () => ({ ...denial.entry, channel: OTHER })));
    return onCard(bench, await ask(bench));
  };

  test("do not hide an older denial of this channel", async () => {
    expect((await afterNewer(MAX_READ - 1)).denied).toMatchObject({
      times: 1,
      more: true,
      reason: "change freeze",
    });
    const { denied, unread } = await afterNewer(MAX_READ - 2);
    expect([denied?.times, denied?.more, unread]).toEqual([1, false, undefined]);
  });

  test("do not hide that there are too many to look at all", async () => {
    expect(await afterNewer(MAX_READ)).toMatchObject({ ...NONE, unread: true });
  });
});

describe("a form", () => {
  test("shows decisions from the channels that its person sees", async () => {
    const bench = await createBench();
    bench.people.isPublic = () => Promise.resolve(false);
    await decide(bench, await ask(bench, "db-1", OTHER), "deny", { reason: "change freeze" });
    const id = await ask(bench);
    expect(await onCard(bench, id)).toMatchObject(NONE);
    expect((await open(bench, id)).precedents?.denied).toMatchObject({ reason: "change freeze" });
    bench.people.channels = new Set([CHANNEL]);
    expect((await open(bench, id)).precedents).toBeUndefined();
  });

  test("opens without them if Slack does not answer", async () => {
    const bench = await createBench();
    await decide(bench, await ask(bench, "db-1", OTHER), "deny", { reason: "change freeze" });
    const id = await ask(bench);
    bench.people.channelsOf = () => Promise.reject(failure("timeout"));
    expect((await open(bench, id)).precedents).toBeUndefined();
    bench.people.channelsOf = () => new Promise(() => undefined);
    const opening = open(bench, id);
    await bench.clock.pass(500);
    expect((await opening).precedents).toBeUndefined();
  });

  test("shows no decision of a private channel to a person whom an escalation brought in from outside", async () => {
    const bench = await createBench();
    const stage = { afterMs: 60_000, to: { users: [OUTSIDER], groups: [], channels: [] }, call: null };
    bench.policy = aPolicy({
      approvers: these([APPROVER, OUTSIDER]),
      followUp: { ...NO_FOLLOW_UP, escalate: [stage] },
    });
    bench.people.isPublic = () => Promise.resolve(false);
    await decide(bench, await ask(bench), "deny", { reason: "change freeze" });
    const id = await ask(bench);
    expect((await onCard(bench, id)).denied).toMatchObject({ reason: "change freeze" });
    await bench.clock.pass(90_000);
    expect((await open(bench, id)).precedents?.denied).toMatchObject({ reason: "change freeze" });
    expect(await inReview(bench, id, APPROVER)).toMatchObject({ denied: { reason: "change freeze" } });
    bench.people.channels = new Set([OTHER]);
    bench.people.facts = { seesChannel: false };
    expect((await open(bench, id, "deny", OUTSIDER)).precedents).toBeUndefined();
    expect(await inReview(bench, id, OUTSIDER)).toEqual(NONE);
  });
});

/** Resolves to the precedents in the form for several requests, which stay the same when it is drawn again. */
async function inReview({ flow, ...bench }: Bench, id: RunId, user: UserId): Promise<Precedents> {
  const by = { team: TEAM, user };
  const { nonce } = clickOn(await bench.run(id)).click;
  if (nonce === null) throw new Error("the card has no buttons");
  const value = flow.review.valueFor("run", by, nonce);
  const opened = await flow.review.openSeveral(by, "run", value);
  if (!opened.ok) throw new Error(`refused: ${opened.error.refusal.type}`);
  const { bundle, forms } = opened.value;
  const shown = forms.map((form) => form.nonce);
  const again = await flow.review.severalOfPerson(by, bundle, shown, opened.value);
  const [first, second] = [forms, again?.forms ?? []].map(([form]) => form?.item.approval);
  if (first === undefined || second === undefined) throw new Error("the form is empty");
  expect(precedentsOf(second)).toEqual(precedentsOf(first));
  return precedentsOf(first);
}
