// Stop and freeze, from the click to what the service receives.

import { expect, test, describe } from "vitest";
import { STOP_REASON } from "#src/domain/brake.ts";
import { deniedByStop } from "#src/domain/stop-report.ts";
import { ApprovalId, ChannelId, GroupId, RunKey, TeamId, UserId } from "#src/domain/ids.ts";
import { STOPPED, cardSlot } from "#src/domain/slot.ts";
import type { Run } from "#src/domain/run.ts";
import type { BrakePress } from "#src/usecases/stop-and-freeze.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const OTHER_ADMIN = UserId("U0OTHERADMIN");
const HELD = { holdMs: 5_000 };

const press = (run: Run, user: UserId) => ({ ...asker(user), run: run.key, shown: run.stop?.at ?? null });
const asker = (user: UserId) => ({ team: TEAM, user, channel: CHANNEL });
const lost = { type: "unsure", why: "no answer", code: "timeout" } as const;

async function approved(bench: Bench) {
  const card = await bench.withCard();
  const opened = await bench.flow.openForm.open(card.click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  const { nonce } = opened.value.ticket;
  const result = await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, nonce, "checked");
  if (!result.ok) throw new Error(result.error.refusal.type);
  return { ...card, run: result.value.run };
}

const sent = ({ agents }: Bench): readonly string[] => agents.resolved.map(({ verdict }) => verdict);
const first = (run: Run) => run.approvals[0];
const kinds = async ({ store }: Bench): Promise<readonly string[]> =>
  (await store.auditAfter(0, ["stopped", "stop-lifted", "frozen", "freeze-lifted", "refused"], 100)).map(
    ({ entry }) => (entry.what === "refused" ? `refused ${entry.step} ${entry.refusal}` : entry.what),
  );

describe("a stopped run", () => {
  test("has its waiting approvals denied with a set reason, under no approver's name, and shows it on the card", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    const run = await bench.run(id);
    expect(await bench.flow.stopRun.stop(press(run, REQUESTER))).toMatchObject({ ok: true });
    await bench.clock.pass(1_000);
    expect(bench.agents.resolved).toEqual([{ approval: "apr_1", verdict: "deny", reason: STOP_REASON }]);
    const after = await bench.run(id);
    expect(first(after)?.state).toMatchObject({
      decision: { by: null, stoppedBy: REQUESTER },
      delivery: { type: "confirmed" },
    });
    expect(after.posts[STOPPED]).toMatchObject({ type: "up" });
    expect(await kinds(bench)).toEqual(["stopped"]);
    expect(await bench.flow.openForm.open(click, "approve")).toMatchObject({
      error: { refusal: { type: "already-decided" } },
    });
  });

  test("has later approvals denied at once, without a card, and counts them", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(1_000);
    expect(sent(bench)).toEqual(["deny"]);
    bench.agents.pending.set(id, [
      { id: "apr_2", content: { action: "delete everything" } },
      { id: "apr_3", content: { action: "delete it again" } },
    ]);
    await bench.clock.pass(20_000);
    expect(sent(bench)).toEqual(["deny", "deny", "deny"]);
    const run = await bench.run(id);
    const cards = run.approvals.map((each) => run.posts[cardSlot(each.id)]?.type ?? "none");
    expect(cards).toEqual(["up", "none", "none"]);
    const decided = await bench.store.auditAfter(0, ["decided"], 100);
    expect(decided.map(({ entry }) => entry.outcome)).toEqual(Array(3).fill("the run is stopped"));
  });

  test("counts a denial that was never confirmed as such, and denies what the request changed to", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(1_000);
    bench.agents.answer = () => Promise.resolve(lost);
    bench.agents.pending.set(id, [{ id: "apr_2", content: { action: "delete everything" } }]);
    await bench.clock.pass(4_000);
    bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
    bench.agents.pending.set(id, [{ id: "apr_2", content: { action: "delete the rest" } }]);
    await bench.clock.pass(20_000);
    const run = await bench.run(id);
    expect(run.approvals[1]?.state).toMatchObject({
      delivery: { type: "unconfirmed", cause: "request-changed" },
    });
    expect(deniedByStop(run)).toEqual({ denied: 3, confirmed: 2, notConfirmed: 1, refused: 0, expired: 0 });
    const post = run.posts[STOPPED];
    expect(post?.type === "up" && post.shows).toMatch(/2 of 3, not 1$/);
  });

  test("counts a denial that the service refused as not confirmed once nothing more can come", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.agents.answer = () => {
      bench.agents.pending.set(id, []);
      return Promise.resolve({ type: "refused", words: "no" });
    };
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(20_000);
    expect(deniedByStop(await bench.run(id))).toMatchObject({ denied: 1, confirmed: 0, notConfirmed: 1 });
    const ended = await createBench();
    const shown = await ended.withCard();
    ended.agents.answer = () => {
      ended.agents.statuses.set(shown.id, "succeeded");
      return Promise.resolve({ type: "refused", words: "no" });
    };
    await ended.flow.stopRun.stop(press(await ended.run(shown.id), APPROVER));
    await ended.clock.pass(20_000);
    expect(deniedByStop(await ended.run(shown.id))).toMatchObject({ denied: 1, notConfirmed: 1 });
  });

  test("says which requests wait because the service refused their denial, and shows them as stopped", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.agents.answer = () => Promise.resolve({ type: "refused", words: "no" });
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(20_000);
    const run = await bench.run(id);
    expect(sent(bench)).toEqual(["deny"]);
    expect(first(run)?.state.type).toBe("pending");
    expect(deniedByStop(run)).toEqual({ denied: 0, confirmed: 0, notConfirmed: 0, refused: 1, expired: 0 });
    expect(run.posts[STOPPED]).toMatchObject({ shows: expect.stringMatching(/refused 1$/) as string });
    const card = cardSlot(ApprovalId("apr_1"));
    const stopped = expect.stringContaining(`stopped ${run.stop?.at}`) as string;
    expect(run.posts[card]).toMatchObject({ shows: stopped });
    await bench.flow.stopRun.lift(press(await bench.run(id), APPROVER));
    await bench.clock.pass(20_000);
    expect((await bench.run(id)).posts[card]).not.toMatchObject({ shows: stopped });
  });

  test("counts a request that was withdrawn before its denial left as not confirmed", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.agents.pending.set(id, []);
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(60_000);
    expect(sent(bench)).toEqual([]);
    expect(first(await bench.run(id))?.state).toMatchObject({ type: "closed" });
    expect(deniedByStop(await bench.run(id))).toMatchObject({ denied: 1, confirmed: 0, notConfirmed: 1 });
  });

  test("undoes an approval that is held, and denies instead", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(HELD);
    const { id, run } = await approved(bench);
    await bench.flow.stopRun.stop(press(run, REQUESTER));
    await bench.clock.pass(20_000);
    expect(sent(bench)).toEqual(["deny"]);
    expect(first(await bench.run(id))?.past).toMatchObject([
      { cause: "stopped", decision: { by: { user: APPROVER } } },
    ]);
    expect(bench.chat.told).toMatchObject([
      { to: APPROVER, says: { type: "decision-void", cause: "stopped" } },
    ]);
  });

  test("does not send an approval again whose answer was lost", async () => {
    const bench = await createBench();
    bench.agents.answer = () => Promise.resolve(lost);
    const { id, run } = await approved(bench);
    await bench.clock.pass(500);
    expect(sent(bench)).toEqual(["approve"]);
    await bench.flow.stopRun.stop(press(run, REQUESTER));
    await bench.clock.pass(120_000);
    expect(sent(bench)).toEqual(["approve"]);
    expect(first(await bench.run(id))?.state).toMatchObject({
      delivery: { type: "unconfirmed", cause: "stopped" },
    });
  });

  test("replaces an approval that the service certainly did not accept", async () => {
    const bench = await createBench();
    bench.agents.answer = () =>
      Promise.resolve({ type: "later", afterMs: 5_000, why: "HTTP 429", code: "http_429" });
    const { run } = await approved(bench);
    await bench.clock.pass(500);
    bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
    await bench.flow.stopRun.stop(press(run, REQUESTER));
    await bench.clock.pass(20_000);
    expect(sent(bench)).toEqual(["approve", "deny"]);
  });

  test("stays stopped across a restart, until someone who may decide lifts the stop", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const run = await bench.run(id);
    await bench.flow.stopRun.stop(press(run, APPROVER));
    await bench.clock.pass(1_000);
    await bench.restart();
    bench.agents.pending.set(id, [{ id: "apr_2", content: { action: "x" } }]);
    await bench.clock.pass(20_000);
    expect(sent(bench)).toEqual(["deny", "deny"]);
    expect(await bench.flow.stopRun.lift(press(await bench.run(id), REQUESTER))).toMatchObject({
      error: { refusal: { type: "requester" } },
    });
    expect(await bench.flow.stopRun.lift(press(await bench.run(id), APPROVER))).toMatchObject({ ok: true });
    bench.agents.pending.set(id, [{ id: "apr_3", content: { action: "y" } }]);
    await bench.clock.pass(20_000);
    expect(first({ ...run, approvals: (await bench.run(id)).approvals.slice(2) })?.state.type).toBe(
      "pending",
    );
    expect(await kinds(bench)).toEqual(["stopped", "refused lift requester", "stop-lifted"]);
  });

  test("stays stopped if its requester presses, even under a rule that lets them approve", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ selfApproval: true });
    const { id } = await bench.withCard();
    const run = await bench.run(id);
    await bench.flow.stopRun.stop(press(run, APPROVER));
    expect(await bench.flow.stopRun.lift(press(await bench.run(id), REQUESTER))).toMatchObject({
      error: { refusal: { type: "requester" } },
    });
    expect((await bench.run(id)).stop).not.toHaveProperty("lifted");
  });

  test("does not repeat a denial that the service refused, but a person may deny", async () => {
    const bench = await createBench();
    bench.agents.answer = () => Promise.resolve({ type: "refused", words: "HTTP 409", code: "http_409" });
    const { id, click } = await bench.withCard();
    await bench.flow.stopRun.stop(press(await bench.run(id), APPROVER));
    await bench.clock.pass(60_000);
    expect(sent(bench)).toEqual(["deny"]);
    const { nonce = null } = first(await bench.run(id)) ?? {};
    expect(await bench.flow.openForm.open({ ...click, nonce }, "approve")).toMatchObject({
      error: { refusal: { type: "stopped" } },
    });
    expect(await bench.flow.openForm.open({ ...click, nonce }, "deny")).toMatchObject({ ok: true });
  });

  test.for<[string, Partial<BrakePress>]>([
    ["with the key of no run", { run: RunKey("f".repeat(20)) }],
    ["without a key", { run: null }],
    ["in another channel", { channel: ChannelId("C0OTHER") }],
    ["in another team", { team: TeamId("T0OTHER") }],
  ])("is not stopped by a click %s", async ([, facts]) => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const run = await bench.run(id);
    expect(await bench.flow.stopRun.stop({ ...press(run, APPROVER), ...facts })).toMatchObject({
      error: { refusal: { type: "unknown" } },
    });
    expect((await bench.run(id)).stop).toBeUndefined();
    expect(await kinds(bench)).toEqual(["refused stop unknown"]);
  });

  test("is not stopped by a person who may not decide, nor by a guest who asked for it", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ approvers: { users: [APPROVER], groups: [], channels: [] } });
    const { id } = await bench.withCard();
    const run = await bench.run(id);
    expect(await bench.flow.stopRun.stop(press(run, ADMIN))).toMatchObject({
      error: { refusal: { type: "not-approver" } },
    });
    bench.people.facts = { kind: "guest" };
    expect(await bench.flow.stopRun.stop(press(run, REQUESTER))).toMatchObject({
      error: { refusal: { type: "guest" } },
    });
    expect((await bench.run(id)).stop).toBeUndefined();
  });
});

describe("a freeze", () => {
  test("undoes held approvals, refuses approvals and starts, and lets denials go", async () => {
    const bench = await createBench();
    bench.policy = aPolicy(HELD);
    const { id, ...card } = await approved(bench);
    expect(await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops")).toMatchObject({ ok: true });
    await bench.clock.pass(60_000);
    expect(sent(bench)).toEqual([]);
    const run = await bench.run(id);
    expect(run.frozen).toMatchObject({ by: ADMIN, why: "it loops" });
    expect(first(run)).toMatchObject({ state: { type: "pending" }, past: [{ cause: "frozen" }] });
    const click = { ...card.click, nonce: first(run)?.nonce ?? null };
    expect(await bench.flow.openForm.open(click, "approve")).toMatchObject({
      error: { refusal: { type: "frozen" } },
    });
    const started = await bench.flow.startRun.start(asker(REQUESTER), {
      input: "x",
      intention: "i",
      answerUrl: "https://hooks.slack.com/x",
    });
    expect(started).toMatchObject({ error: { type: "frozen" } });
    const form = await bench.flow.openForm.open(click, "deny");
    if (!form.ok) throw new Error(form.error.refusal.type);
    await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, form.value.ticket.nonce, "no");
    await bench.clock.pass(1_000);
    expect(sent(bench)).toEqual(["deny"]);
  });

  test("applies to a form that was opened before it", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    const form = await bench.flow.openForm.open(click, "approve");
    if (!form.ok) throw new Error(form.error.refusal.type);
    await bench.flow.freeze.freeze(asker(ADMIN), null, "");
    expect(
      await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, form.value.ticket.nonce, "yes"),
    ).toMatchObject({
      error: { refusal: { type: "frozen" } },
    });
    await bench.clock.pass(20_000);
    expect(sent(bench)).toEqual([]);
  });

  test("stops an approval that is checked and about to be sent", async () => {
    const bench = await createBench();
    let frozen = false;
    bench.agents.beforeLook = async () => {
      const isDecided = (await bench.store.auditAfter(0, ["decided"], 1)).length > 0;
      if (!isDecided || frozen) return;
      frozen = true;
      await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "now");
    };
    await approved(bench);
    await bench.clock.pass(20_000);
    expect(frozen).toBe(true);
    expect(sent(bench)).toEqual([]);
  });

  test("survives a restart, and is lifted by a second person only", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    await bench.flow.freeze.freeze(asker(ADMIN), null, "");
    await bench.restart();
    expect((await bench.run(id)).frozen).toMatchObject({ channel: null });
    expect(await bench.flow.freeze.lift(asker(ADMIN), null, "")).toMatchObject({
      error: { type: "own-freeze" },
    });
    expect(await bench.flow.freeze.lift(asker(APPROVER), null, "")).toMatchObject({
      error: { type: "not-freezer" },
    });
    bench.policy = { ...bench.policy, freezers: { users: [OTHER_ADMIN], groups: [], channels: [] } };
    expect(await bench.flow.freeze.lift(asker(OTHER_ADMIN), null, "fixed")).toMatchObject({ ok: true });
    await bench.clock.pass(1_000);
    expect((await bench.run(id)).frozen).toBeUndefined();
    expect(await kinds(bench)).toEqual([
      "frozen",
      "refused freeze own-freeze",
      "refused freeze not-freezer",
      "freeze-lifted",
    ]);
  });

  test("of a channel is lifted apart from one that applies everywhere: without a word, neither of the two is", async () => {
    const bench = await createBench();
    bench.policy = { ...bench.policy, freezers: { users: [OTHER_ADMIN], groups: [], channels: [] } };
    const { freeze } = bench.flow;
    await freeze.freeze(asker(ADMIN), CHANNEL, "a loop");
    await freeze.freeze(asker(ADMIN), null, "an incident");
    const by = asker(OTHER_ADMIN);
    const [global, local] = [{ channel: null }, { channel: CHANNEL }];
    expect(await freeze.lift(by, null, "fixed")).toMatchObject({ error: { type: "several-freezes" } });
    expect(await freeze.look(by)).toMatchObject({ value: [global, local] });
    expect(await freeze.lift(by, "here", "fixed")).toMatchObject({ value: { ...local, still: global } });
    expect(await freeze.lift(by, "here", "fixed")).toMatchObject({ error: { type: "other-freeze" } });
    expect(await freeze.lift(by, "everywhere", "over")).toMatchObject({ value: { ...global, still: null } });
    expect(await freeze.look(by)).toMatchObject({ value: [] });
  });

  test("is lifted on fresh facts about the person, and made on cached facts", async () => {
    const bench = await createBench();
    const ages: number[] = [];
    bench.people.before = (maxAgeMs) => Promise.resolve(void ages.push(maxAgeMs));
    bench.policy = { ...bench.policy, freezers: { users: [], groups: [GroupId("S0FREEZE")], channels: [] } };
    bench.people.sets = new Set([GroupId("S0FREEZE")]);
    await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "");
    expect(Math.max(...ages.splice(0))).toBe(60_000);
    expect(await bench.flow.freeze.lift(asker(APPROVER), null, "")).toMatchObject({ ok: true });
    expect(ages.length).toBeGreaterThan(1);
    expect(Math.max(...ages)).toBeLessThanOrEqual(5_000);
  });

  test("of another channel changes nothing here", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    await bench.flow.freeze.freeze(asker(ADMIN), ChannelId("C0OTHER"), "");
    expect(await bench.flow.openForm.open(click, "approve")).toMatchObject({ ok: true });
  });

  test("notifies the admins and the frozen channel", async () => {
    const bench = await createBench();
    await bench.clock.pass(10_000);
    await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops");
    await bench.clock.pass(10_000);
    const notifications = bench.notificationSender.posted.filter(
      ({ notification }) => notification.kind === "freeze",
    );
    expect(notifications.map(({ notification }) => notification.to)).toEqual(
      expect.arrayContaining([ADMIN, CHANNEL]),
    );
  });
});
