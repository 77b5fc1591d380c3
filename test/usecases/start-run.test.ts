// Starting, adopting and unwatching runs, and who can see them.

import { describe, expect, test } from "vitest";
import type { Person } from "#src/domain/authorization.ts";
import { ChannelId, RunId, UserId } from "#src/domain/ids.ts";
import type { Asker } from "#src/usecases/access.ts";
import { LOOKS_BLANK } from "../domain/deceptive-text.ts";
import { loaded } from "../make/bench-store.ts";
import { clickOn, createBench, failure } from "../make/bot.ts";
import { APPROVER, aRunId, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";
import { aPolicy } from "../make/policy.ts";

const BY: Asker = { team: TEAM, user: REQUESTER, channel: CHANNEL };
const SECOND: Asker = { ...BY, user: UserId("U0SECOND") };
const task = (intention: string, input = "rotate") => ({ input, intention, answerUrl: null });

const REFUSED: readonly [string, Partial<Person>, string][] = [
  ["a guest", { kind: "guest" }, "guest"],
  ["a person of another organization", { kind: "outsider" }, "outsider"],
  ["a bot", { kind: "bot" }, "bot"],
  ["a deactivated person", { kind: "deactivated" }, "deactivated"],
  ["someone who cannot see the channel", { seesChannel: false }, "not-in-channel"],
];
const UNANSWERED: readonly [string, string][] = [
  ["timeout", "unverified"],
  ["channel_not_found", "hidden-channel"],
  ["missing_scope", "not-a-channel"],
];

describe("a run", () => {
  test("is stored when its start resolves, opens a thread, and is created once with the task as typed", async () => {
    const bench = await createBench();
    const input = "  rotate\n<@everyone> ";
    const started = await bench.flow.startRun.start(BY, task("a", input));
    if (!started.ok) throw new Error("refused");
    expect(await loaded(bench, started.value)).toMatchObject({
      input,
      requester: REQUESTER,
      channel: CHANNEL,
    });
    await bench.clock.pass(60_000);
    expect(bench.chat.posts.map(({ slot }) => slot)).toEqual(["opening"]);
    expect(bench.agents.created).toEqual([input]);
  });

  test("is started once by one intention, however often and however fast it arrives", async () => {
    const bench = await createBench();
    const answers = await Promise.all([1, 2, 3, 4].map(() => bench.flow.startRun.start(BY, task("a"))));
    await bench.restart();
    const again = await bench.flow.startRun.start(BY, task("a"));
    expect(new Set([...answers, again].map((each) => (each.ok ? each.value : "refused"))).size).toBe(1);
    await bench.flow.startRun.start(BY, task("b"));
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toHaveLength(2);
  });

  test("is not started by an intention that started another task, or this one in another channel", async () => {
    const bench = await createBench();
    const first = await bench.flow.startRun.start(BY, task("a"));
    if (!first.ok) throw new Error("refused");
    const used = { ok: false, error: { type: "form-used", run: { key: first.value } } };
    expect(await bench.flow.startRun.start(BY, task("a", "deploy"))).toMatchObject(used);
    const elsewhere = { ...BY, channel: ChannelId("C0OTHER") };
    expect(await bench.flow.startRun.start(elsewhere, task("a"))).toMatchObject(used);
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toEqual(["rotate"]);
  });

  test.for(LOOKS_BLANK)("is not started for %j", async (input) => {
    const bench = await createBench();
    const answer = await bench.flow.startRun.start(BY, task("a", input));
    expect(answer).toEqual({ ok: false, error: { type: "empty-task" } });
  });

  test.for(REFUSED)("is not started by %s", async ([, facts, because]) => {
    const bench = await createBench();
    bench.people.facts = facts;
    expect(await bench.flow.startRun.start(BY, task("a"))).toEqual({ ok: false, error: { type: because } });
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toEqual([]);
  });

  test.for(UNANSWERED)("is not started when Slack says %s: %s", async ([code, because]) => {
    const bench = await createBench();
    bench.people.before = () => Promise.reject(failure(code));
    expect(await bench.flow.startRun.start(BY, task("a"))).toEqual({ ok: false, error: { type: because } });
  });

  test("is not started in a direct message", async () => {
    const bench = await createBench();
    const answer = await bench.flow.startRun.start({ ...BY, channel: ChannelId("D0ME") }, task("a"));
    expect(answer).toEqual({ ok: false, error: { type: "not-a-channel" } });
  });

  test("is not created when its thread cannot be opened, and the requester is notified", async () => {
    const bench = await createBench();
    bench.chat.post = () => Promise.reject(failure("not_in_channel", { retry: "never" }));
    await bench.flow.startRun.start(BY, task("a"));
    await bench.clock.pass(60_000);
    expect(bench.agents.created).toEqual([]);
    expect(bench.chat.told).toMatchObject([{ to: REQUESTER, says: { type: "cannot-post" } }]);
  });
});

describe("a run that was started elsewhere", () => {
  test("belongs to the person who adopts it, and is watched from then on", async () => {
    const bench = await createBench();
    const id = aRunId();
    expect(await bench.flow.adoptRun.adopt(BY, id)).toMatchObject({
      ok: true,
      value: { requester: REQUESTER },
    });
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.clock.pass(10_000);
    const { click } = clickOn(await bench.run(id));
    const own = await bench.flow.openForm.open({ ...click, user: REQUESTER }, "approve");
    expect(own).toMatchObject({ error: { refusal: { type: "requester" } } });
  });

  test("adopted again keeps its requester and channel", async () => {
    const bench = await createBench();
    const id = aRunId();
    await bench.flow.adoptRun.adopt(BY, id);
    expect(await bench.flow.adoptRun.adopt(SECOND, id)).toMatchObject({
      error: { type: "already-watched" },
    });
    expect(await bench.run(id)).toMatchObject({ requester: REQUESTER, channel: CHANNEL });
  });

  test("adopted by two people at once belongs to one, and the other is told so", async () => {
    const bench = await createBench();
    const id = aRunId();
    const answers = await Promise.all([BY, SECOND].map((by) => bench.flow.adoptRun.adopt(by, id)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.find(({ ok }) => !ok)).toMatchObject({ error: { type: "already-watched" } });
  });

  test.for(REFUSED)("is not adopted by %s", async ([, facts, because]) => {
    const bench = await createBench();
    bench.people.facts = facts;
    expect(await bench.flow.adoptRun.adopt(BY, aRunId())).toEqual({ ok: false, error: { type: because } });
    expect(bench.agents.looks).toEqual([]);
  });

  test("is unknown when the service answers 404, and not adopted when it does not answer", async () => {
    const bench = await createBench();
    const id = aRunId();
    bench.agents.statuses.set(id, "missing");
    expect(await bench.flow.adoptRun.adopt(BY, id)).toEqual({ ok: false, error: { type: "unknown-run" } });
    bench.agents.beforeLook = () => Promise.reject(failure("http_503"));
    expect(await bench.flow.adoptRun.adopt(BY, id)).toEqual({
      ok: false,
      error: { type: "service-silent", words: "http_503" },
    });
    expect(await bench.store.byRunId(id)).toBeNull();
  });
});

describe("an unwatched run", () => {
  test("is no longer polled, and its card closes", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    expect(await bench.flow.adoptRun.unwatch(SECOND, id)).toMatchObject({ ok: true });
    bench.agents.looks.length = 0;
    await bench.clock.pass(60_000);
    expect(bench.agents.looks).toEqual([]);
    const card = (await bench.run(id)).posts["card apr_1"];
    expect(card?.type === "up" ? card.shows : null).toMatch(/^v1 closed unwatched audit \d+$/);
    expect(await bench.flow.adoptRun.unwatch(SECOND, id)).toMatchObject({
      error: { type: "not-watched" },
    });
  });

  test("is taken up again by the next person who watches it: the approval opens under a new version", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    await bench.flow.adoptRun.unwatch(BY, id);
    await bench.clock.pass(60_000);
    expect(await bench.flow.adoptRun.adopt(SECOND, id)).toMatchObject({
      ok: true,
      value: { requester: REQUESTER },
    });
    await bench.clock.pass(20_000);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ version: 2, state: { type: "pending" } });
    expect(clickOn(await bench.run(id)).click).toMatchObject({ ts: click.ts });
  });

  test("cannot be unwatched while a decision is under way", async () => {
    const bench = await createBench();
    const { id, click } = await bench.withCard();
    const opened = await bench.flow.openForm.open(click, "approve");
    bench.agents.answer = () => new Promise(() => undefined);
    if (opened.ok)
      await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "");
    expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({
      ok: false,
      error: { type: "deciding" },
    });
  });
});

describe("a run whose rule has an expiry", () => {
  const afterMs = 60_000;
  const under = async (outcome: "nothing" | "deny") => {
    const bench = await createBench();
    bench.policy = aPolicy({ expiry: { afterMs, outcome } });
    return { bench, ...(await bench.withCard()) };
  };

  test("can be unwatched and watched again, and its time keeps running", async () => {
    const { bench, id } = await under("nothing");
    const since = (await bench.run(id)).approvals[0]?.since;
    await bench.clock.pass(40_000);
    expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
    expect(await bench.flow.adoptRun.adopt(BY, id)).toMatchObject({ ok: true });
    await bench.clock.pass(15_000);
    expect((await bench.run(id)).approvals[0]).toMatchObject({ state: { type: "pending" }, since });
    await bench.clock.pass(5_000);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ type: "closed", cause: "expired" });
  });

  test("can be watched again after its time, and no one can decide it", async () => {
    const { bench, id } = await under("nothing");
    await bench.flow.adoptRun.unwatch(BY, id);
    await bench.clock.pass(2 * afterMs);
    await bench.flow.adoptRun.adopt(BY, id);
    await bench.clock.pass(20_000);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ type: "closed", cause: "expired" });
  });

  test("cannot be unwatched while the policy is to deny undecided requests", async () => {
    const { bench, id } = await under("deny");
    expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ error: { type: "denial-due" } });
    await bench.clock.pass(afterMs);
    expect(bench.agents.resolved).toMatchObject([{ verdict: "deny" }]);
    await bench.clock.pass(1_000);
    expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ ok: true });
  });

  test("cannot be unwatched because of the current rule, whatever the rule of its card", async () => {
    const { bench, id } = await under("nothing");
    bench.policy = { ...aPolicy({ expiry: { afterMs, outcome: "deny" } }), version: "ba9876543210" };
    expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ error: { type: "denial-due" } });
  });
});

test("a run cannot be unwatched while someone has approved and others must", async () => {
  const bench = await createBench();
  bench.policy = aPolicy({ needs: 2 });
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error("no modal");
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "");
  expect(await bench.flow.adoptRun.unwatch(BY, id)).toMatchObject({ error: { type: "voted" } });
});

const ASKER = { user: APPROVER, channel: CHANNEL };

describe("who can see a run", () => {
  const unheard = { ok: false, error: { type: "unknown-run" } };

  test("members of its channel see it, in status and list", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const { queries } = bench.flow;
    expect(await queries.status(APPROVER, id)).toMatchObject({ creation: { id } });
    for (const only of ["unfinished", "pending", "all"] as const)
      expect(await queries.list(ASKER, only, 9)).toHaveLength(1);
    expect(await queries.status(APPROVER, RunId("run_other"))).toBeNull();
  });

  test.for<[string, ChannelId[]]>([
    ["members of another channel", [ChannelId("C0OTHER")]],
    ["members of none", []],
  ])("%s see nothing: to them the run is unknown", async ([, channels]) => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.people.channels = new Set(channels);
    bench.people.facts = { seesChannel: false };
    const { queries } = bench.flow;
    expect(await queries.status(APPROVER, id)).toBeNull();
    for (const only of ["unfinished", "pending", "all"] as const)
      expect(await queries.list(ASKER, only, 9)).toEqual([]);
    expect(await bench.flow.adoptRun.unwatch(SECOND, id)).toEqual(unheard);
    bench.people.facts = {};
    const elsewhere = { ...SECOND, channel: ChannelId("C0OTHER") };
    expect(await bench.flow.adoptRun.adopt(elsewhere, id)).toEqual(unheard);
  });

  test("people who joined its channel since the last look-up see it", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    // Cached answers of up to a minute ago say that they are in no channel.
    const old = new Set<ChannelId>();
    const { people } = bench;
    bench.people.channelsOf = (_user, maxAgeMs) => Promise.resolve(maxAgeMs > 2_000 ? old : people.channels);
    expect(await bench.flow.queries.status(APPROVER, id)).toMatchObject({ creation: { id } });
    expect(await bench.flow.queries.list(ASKER, "all", 9)).toHaveLength(1);
    expect(await bench.flow.adoptRun.unwatch(SECOND, id)).toMatchObject({ ok: true });
  });

  test("people who joined it since can also start a run there", async () => {
    const bench = await createBench();
    const lookUp = bench.people.lookUp.bind(bench.people);
    bench.people.lookUp = async (...asked) => ({
      ...(await lookUp(...asked)),
      seesChannel: asked[3] <= 2_000,
    });
    const started = await bench.flow.startRun.start(BY, { input: "x", intention: "joined", answerUrl: null });
    expect(started.ok).toBe(true);
  });

  test("no one sees it while Slack does not say who is where", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    bench.people.before = () => Promise.reject(failure("timeout"));
    await expect(bench.flow.queries.status(APPROVER, id)).rejects.toThrow("timeout");
    await expect(bench.flow.queries.list(ASKER, "all", 9)).rejects.toThrow("timeout");
  });

  test("a list has at most the requested number of runs, newest first", async () => {
    const bench = await createBench();
    const ids = [aRunId(), aRunId(), aRunId()];
    for (const id of ids) {
      await bench.flow.adoptRun.adopt(BY, id);
      await bench.clock.pass(10);
    }
    const found = await bench.flow.queries.list(ASKER, "all", 2);
    expect(found.map(({ creation }) => creation)).toMatchObject([{ id: ids[2] }, { id: ids[1] }]);
  });
});
